package scenarios

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// livePatience is how long an expectation may take to come true in the world live.
const livePatience = 5 * time.Second

// liveWorld is a namespace of a live cluster, in real time.
type liveWorld struct {
	*Live
	ctx       context.Context
	namespace string
	// group is the last that was named.
	group string
	// replacementGiven: the file has set the replacement timeout of that group.
	replacementGiven map[string]bool
	// failed is why the world could not be looked at.
	failed error
}

// liveCommands carry out the commands that are done live, by verb. What is missing makes a file be skipped, saying so.
var liveCommands = map[string]func(*liveWorld, *Command) error{
	"group": (*liveWorld).setGroup, "delete": (*liveWorld).remove, "rebalance": (*liveWorld).forceRebalance,
	"remove": (*liveWorld).removeMember, "workload": (*liveWorld).setWorkload, "annotate": (*liveWorld).annotate,
	"advance": (*liveWorld).advance,
}

// liveSkipReason says which of a script's commands cannot be done live; empty when all can.
func liveSkipReason(script *Script) string {
	for i := range script.Commands {
		command := &script.Commands[i]
		_, done := liveCommands[command.Verb]
		acks, _ := command.boolean("acks")
		switch {
		case command.Verb == "mark":
		case command.Verb == "expect" && slices.Contains([]string{"handle", "working"}, command.Args[0]):
			return fmt.Sprintf("`expect %s` is not live: nothing runs in simulated pods", command.Args[0])
		case command.Verb == "expect":
		case !done:
			return fmt.Sprintf("`%s` is not live", command.Verb)
		case acks:
			return "`acks=true` is not live: nothing runs in simulated pods"
		case command.User != "":
			return "`as USER` is not live"
		}
	}
	return ""
}

// Duration is how long a script's commands let time pass.
func (s *Script) Duration() time.Duration {
	var sum time.Duration
	for _, command := range s.Commands {
		if command.Verb == "advance" {
			d, _ := time.ParseDuration(command.Args[0]) // Checked when the file was parsed.
			sum += d
		}
	}
	return sum
}

// Play plays a script in a namespace of its own, which is deleted afterwards.
func (l *Live) Play(ctx context.Context, script *Script) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "scenario-"}}
	if err := l.client.Create(ctx, namespace); err != nil {
		return fmt.Errorf("make a namespace: %w", err)
	}
	err := Play(script, &liveWorld{Live: l, ctx: ctx, namespace: namespace.Name, replacementGiven: map[string]bool{}}, CheckAll)
	if gone := l.client.Delete(ctx, namespace); err == nil && gone != nil {
		return fmt.Errorf("delete namespace %s: %w", namespace.Name, gone)
	}
	return err
}

// Do carries out one command.
func (w *liveWorld) Do(command Command) error {
	err := liveCommands[command.Verb](w, &command)
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		return &Refusal{err}
	}
	return err
}

// Err is the manager's end, or why the world could not be looked at.
func (w *liveWorld) Err() error {
	if err := w.err(); err != nil {
		return err
	}
	return w.failed
}

// Patience is how long an expectation may take to come true.
func (w *liveWorld) Patience() time.Duration { return livePatience }

// View lists what the namespace holds.
func (w *liveWorld) View() View {
	view := View{Now: time.Now(), LastWrites: func() []string { return nil }}
	groups, members, plans := &v1alpha1.ConsumerGroupList{}, &v1alpha1.GroupMemberList{}, &appsv1.ControllerRevisionList{}
	pods, events := &corev1.PodList{}, &eventsv1.EventList{}
	for _, list := range []client.ObjectList{groups, members, plans, pods, events} {
		if err := w.client.List(w.ctx, list, client.InNamespace(w.namespace)); err != nil {
			w.failed = fmt.Errorf("look at namespace %s: %w", w.namespace, err)
			return view
		}
	}
	view.Groups, view.Members, view.Plans = pointers(groups.Items), pointers(members.Items), pointers(plans.Items)
	slices.SortStableFunc(events.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	for i := range events.Items {
		if event := &events.Items[i]; event.Regarding.APIVersion == v1alpha1.GroupVersion.String() {
			view.Events = append(view.Events, Event{About: event.Regarding.Name, Reason: event.Reason})
		}
	}
	for i := range pods.Items {
		view.Workers = append(view.Workers, Worker{Handle: pods.Items[i].Name, Pod: true, PodUID: string(pods.Items[i].UID)})
	}
	w.countWrites(&view)
	return view
}

// countWrites takes the manager's from the audit log.
func (w *liveWorld) countWrites(view *View) {
	all, err := w.cluster.Writes(w.ctx, 0)
	if err != nil {
		w.failed = err
		return
	}
	here := all.Where(func(one audit.Write) bool { return one.Namespace == w.namespace })
	ours := here.Where(audit.By(w.user))
	view.Writes, view.GroupWrites = len(ours), len(ours.Where(audit.To("consumergroups.rollcall.dev")))
	view.LastWrites = func() []string {
		var lines []string
		for _, one := range here[max(0, len(here)-lastWrites):] {
			lines = append(lines, one.Time.Format("15:04:05.000")+" "+one.User+": "+audit.PerKind(one)+" "+one.Name)
		}
		return lines
	}
}

func pointers[T any](items []T) []*T {
	var all []*T
	for i := range items {
		all = append(all, &items[i])
	}
	return all
}
