package explore

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// version gives the next resourceVersion.
func (w *world) version() string {
	w.clock++
	return strconv.FormatInt(w.clock, 10)
}

// lands says whether a write would be taken: nothing has changed its object since it was decided.
func (w *world) lands(write coordinator.Write) bool {
	if write.Verb == coordinator.Create {
		return w.find(write.New) == nil && w.group.there
	}
	now := w.find(write.Old)
	return now != nil && now.GetUID() == write.Old.GetUID() && now.GetResourceVersion() == write.Old.GetResourceVersion()
}

// mayLand: lands, or would once the plan that has its name is deleted by hand.
func (w *world) mayLand(write coordinator.Write) bool {
	_, plan := write.New.(*appsv1.ControllerRevision)
	return w.lands(write) || plan && write.Verb == coordinator.Create && w.group.there && w.happened < w.events
}

// find is the stored object of the same kind and name, or nil.
func (w *world) find(like coordinator.Object) coordinator.Object {
	switch o := like.(type) {
	case *v1alpha1.ConsumerGroup:
		if w.group.there {
			return w.group.now
		}
	case *v1alpha1.GroupMember:
		if m := w.memberNow(o.Name); m != nil {
			return m
		}
	case *appsv1.ControllerRevision:
		if i := w.planIndex(o.Name); i >= 0 && w.plans[i].there {
			return w.plans[i].now.Revision
		}
	}
	return nil
}

func (w *world) planIndex(name string) int {
	return slices.IndexFunc(w.plans, func(s slot[*coordinator.Plan]) bool { return s.name == name })
}

// store carries out a write that lands.
func (w *world) store(write coordinator.Write, foreign bool) {
	if write.Verb == coordinator.Delete {
		w.remove(write.Old, foreign)
		return
	}
	switch o := write.New.(type) {
	case *v1alpha1.ConsumerGroup:
		stored := *o
		w.putGroup(&stored, foreign)
	case *v1alpha1.GroupMember:
		stored := *o
		w.putMember(&stored, foreign)
	case *appsv1.ControllerRevision:
		w.putPlan(o, foreign)
	}
}

func (w *world) putGroup(g *v1alpha1.ConsumerGroup, foreign bool) {
	g.ResourceVersion = w.version()
	if g.DeletionTimestamp != nil && len(g.Finalizers) == 0 {
		w.group.drop(foreign)
		w.plans = nil // The garbage collector's, and of no account to a later life of the group.
		return
	}
	w.group.put(g, foreign)
}

func (w *world) putMember(m *v1alpha1.GroupMember, foreign bool) {
	m.ResourceVersion = w.version()
	s := w.memberSlot(m.Name)
	if m.DeletionTimestamp != nil && len(m.Finalizers) == 0 {
		s.drop(foreign)
		w.leases = slices.DeleteFunc(w.leases, func(l lease) bool { return l.name == m.Name })
		return
	}
	s.put(m, foreign)
}

// putPlan stores a plan whole, as the API server would give it back, and reads it as the coordinator does.
func (w *world) putPlan(o *appsv1.ControllerRevision, foreign bool) {
	stored := o.DeepCopy()
	stored.ResourceVersion = w.version()
	stored.UID = types.UID(fmt.Sprintf("plan-%s-%d", o.Name, w.born(o.Name)))
	stored.CreationTimestamp = metav1.NewTime(w.now)
	content := w.content(o)
	// A cache that still shows a deleted plan of that name has one place for both.
	i := w.planIndex(o.Name)
	if i < 0 {
		i = len(w.plans)
		w.plans = append(w.plans, slot[*coordinator.Plan]{name: o.Name})
	}
	w.plans[i].put(&coordinator.Plan{Revision: stored, Content: content}, foreign)
	slices.SortStableFunc(w.plans, func(a, b slot[*coordinator.Plan]) int { return int(planRank(b) - planRank(a)) })
}

// content of a plan that the coordinator wrote. It is the same for the same text.
func (w *world) content(o *appsv1.ControllerRevision) *coordinator.PlanContent {
	text := string(o.Data.Raw)
	if content := w.memo.plans[text]; content != nil {
		return content
	}
	content, err := coordinator.ParsePlan(o)
	if err != nil {
		panic(fmt.Sprintf("the coordinator wrote a plan that it cannot read: %v", err))
	}
	if len(w.memo.plans) >= maxMemo {
		clear(w.memo.plans)
	}
	w.memo.plans[text] = content
	return content
}

func planRank(s slot[*coordinator.Plan]) int64 {
	if s.there {
		return s.now.Generation()
	}
	if s.existed {
		return s.before.Generation()
	}
	return -1
}

// remove deletes an object, or marks it when it has finalizers.
func (w *world) remove(old coordinator.Object, foreign bool) {
	deleted := metav1.NewTime(w.now)
	switch o := old.(type) {
	case *v1alpha1.ConsumerGroup:
		marked := *o
		marked.DeletionTimestamp = &deleted
		w.putGroup(&marked, foreign)
	case *v1alpha1.GroupMember:
		marked := *o
		marked.DeletionTimestamp = &deleted
		w.putMember(&marked, foreign)
	case *appsv1.ControllerRevision:
		if i := w.planIndex(o.Name); i >= 0 {
			w.plans[i].drop(foreign)
			if !w.plans[i].stale {
				w.plans = slices.Delete(w.plans, i, i+1)
			}
		}
	}
}

// tidy drops what can make no difference any more: late writes whose object has changed, slots that no cache shows.
func (w *world) tidy() {
	w.flights = slices.DeleteFunc(w.flights, func(f coordinator.Write) bool { return !w.mayLand(f) })
	w.plans = slices.DeleteFunc(w.plans, func(s slot[*coordinator.Plan]) bool { return !s.there && !s.stale })
	w.members = slices.DeleteFunc(w.members, func(s slot[*v1alpha1.GroupMember]) bool { return !s.there && !s.stale })
	w.procs = slices.DeleteFunc(w.procs, func(p process) bool { return p.over })
	for i := range w.procs {
		if p := &w.procs[i]; w.reads(p) && w.onlyGains(p) {
			w.takeIn(p)
		}
	}
	if w.groupGoing() {
		w.followTheGroup()
	}
	if w.failed >= w.faults {
		w.caughtUp() // Nobody will read it any more.
	}
}

// followTheGroup: nothing is granted any more while the group goes. There all processes but the first hear of it at once;
// one that lags behind shows what any number of them could.
func (w *world) followTheGroup() {
	for i := 1; i < len(w.procs); i++ {
		p := &w.procs[i]
		if w.reads(p) {
			w.takeIn(p)
		}
		if w.mayAcknowledge(p) {
			w.acknowledge(p)
		}
	}
}

// caughtUp: the leader's cache shows everything.
func (w *world) caughtUp() {
	w.group.fresh()
	for i := range w.plans {
		w.plans[i].fresh()
	}
	for i := range w.members {
		w.members[i].fresh()
	}
}
