package sim

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// judgeWrite is called after every single write.
func (w *World) judgeWrite(written Record) {
	if m := w.manager; m != nil && m.alive {
		if written.After == nil {
			m.memory.SawGone(written.Before)
		} else {
			m.memory.Saw(written.After)
		}
	}
	switch object := newestForm(written).(type) {
	case *v1alpha1.ConsumerGroup:
		w.judge(object.Name, written.String)
	case *v1alpha1.GroupMember:
		w.judge(object.Spec.Group, written.String)
	case *appsv1.ControllerRevision:
		w.judge(object.Labels[v1alpha1.GroupLabel], written.String)
	}
}

func newestForm(written Record) Object {
	if written.After != nil {
		return written.After
	}
	return written.Before
}

// judgeStep is called when a process has changed what it works on.
func (w *World) judgeStep(step string) {
	for group := range w.referees {
		w.judge(group, func() string { return step })
	}
}

func (w *World) judge(group string, step func() string) {
	if group == "" {
		return
	}
	judging := w.referees[group]
	if judging == nil {
		judging = referee.New()
		w.referees[group] = judging
	}
	if err := judging.Check(w.refereeView(group), "that write"); err != nil {
		w.fail(fmt.Errorf("%s: %w", step(), err))
	}
}

// judgeSettled: nobody has anything to do at this instant.
func (w *World) judgeSettled() {
	if !w.manager.alive || w.isDark() {
		return
	}
	for group, judging := range w.referees {
		stored := Get[*v1alpha1.ConsumerGroup](w.Store, group)
		if stored == nil || stored.Spec.Paused {
			continue // A paused group opens no round, whatever asks for one.
		}
		if s := w.manager.queue[item{Coordinator, group}]; s != nil && s.retry.IsZero() {
			w.fail(judging.Settled(w.refereeView(group), "settling"))
		}
	}
}

// judgeRest: nothing will ever be due again. Under Exclusive a group may wait for good: for a word, or for a person.
func (w *World) judgeRest() {
	if !w.manager.alive || w.isDark() || w.publishOff {
		return
	}
	for group, judging := range w.referees {
		stored := Get[*v1alpha1.ConsumerGroup](w.Store, group)
		if stored != nil && stored.Spec.Handover.Policy == v1alpha1.HandoverExclusive {
			continue
		}
		w.fail(judging.Rest(w.refereeView(group), "everything that was due"))
	}
}

func (w *World) refereeView(group string) referee.View {
	view := referee.View{
		Group: Get[*v1alpha1.ConsumerGroup](w.Store, group), Members: membersOf(w.Store.Now(), group), Now: w.Now(),
	}
	for _, revision := range ownPlans(view.Group, plansOf(w.Store.Now(), group)) {
		if plan := w.plans.whole(revision); plan.Content != nil {
			view.Plans = append(view.Plans, plan)
		}
	}
	for _, process := range w.processes {
		if process.group == group {
			view.Processes = append(view.Processes, worker(process.Handle+"/"+process.incarnation, process.groupUID, process.Working()))
		}
	}
	for _, pod := range w.Pods() {
		view.Processes = append(view.Processes, worker(pod.Name+"/"+string(pod.UID), pod.groups[group], pod.works[group]))
	}
	return view
}

func worker(name string, group types.UID, works map[referee.Copy]int64) referee.Process {
	process := referee.Process{Name: name, Group: group}
	for held, token := range works {
		process.Works = append(process.Works, referee.Work{Copy: held, Token: token})
	}
	return process
}
