package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// send takes the i-th write of the leader's present batch out of the queue.
func (w *world) send(i int) (write coordinator.Write, phase coordinator.Phase) {
	w.leader.begun = true
	batch := w.leader.queue[0]
	write = batch.Writes[i]
	rest := slices.Delete(slices.Clone(batch.Writes), i, i+1)
	w.leader.queue = slices.Clone(w.leader.queue)
	if len(rest) == 0 {
		w.leader.queue = w.leader.queue[1:]
	} else {
		w.leader.queue[0].Writes = rest
	}
	return write, batch.Phase
}

// stopAfterBatch: a failure ends the list. What is in flight together with the write that failed is not called back.
func (w *world) stopAfterBatch(remaining int) {
	if remaining == 0 {
		w.leader.queue = nil
		return
	}
	w.leader.queue = w.leader.queue[:1]
}

// sendWell: the write arrives and the leader hears of it. What is refused stops the list, and is looked at again.
func (w *world) sendWell(i int) {
	remaining := len(w.leader.queue[0].Writes) - 1
	write, phase := w.send(i)
	if !w.lands(write) {
		w.stopAfterBatch(remaining)
		w.refresh(subject(write))
		return
	}
	w.store(write, false)
	if phase == phaseSettle {
		w.leader.unknown = slices.DeleteFunc(w.leader.unknown, func(name string) bool { return name == nameOf(write.New) })
	}
}

// sendIntoTheDark: the leader hears nothing of a write and stops its list. The write may arrive at once, later or never.
func (w *world) sendIntoTheDark(i int) {
	remaining := len(w.leader.queue[0].Writes) - 1
	write, _ := w.send(i)
	w.flights = append(w.flights, write)
	w.stopAfterBatch(remaining)
	if w.mutation != nil && w.mutation.forgetsUnknown {
		return
	}
	if name := nameOf(subject(write)); !slices.Contains(w.leader.unknown, name) {
		w.leader.unknown = append(w.leader.unknown, name)
	}
}

func subject(write coordinator.Write) coordinator.Object {
	if write.New != nil {
		return write.New
	}
	return write.Old
}

func nameOf(o coordinator.Object) string {
	switch o.(type) {
	case *v1alpha1.ConsumerGroup:
		return "group/" + o.GetName()
	case *v1alpha1.GroupMember:
		return "member/" + o.GetName()
	}
	return "plan/" + o.GetName()
}

// refresh: the leader has read an object live.
func (w *world) refresh(o coordinator.Object) {
	switch o := o.(type) {
	case *v1alpha1.ConsumerGroup:
		w.group.fresh()
	case *v1alpha1.GroupMember:
		if s := w.member(o.Name); s != nil {
			s.fresh()
		}
	case *appsv1.ControllerRevision:
		if i := w.planIndex(o.Name); i >= 0 {
			w.plans[i].fresh()
		}
	}
}

// settle reads the i-th object of unknown outcome live; a member or group that is there is then touched, so that the
// write, should it still be on its way, cannot land any more.
func (w *world) settle(i int) {
	name := w.leader.unknown[i]
	var live, touched coordinator.Object
	switch kind, object, _ := strings.Cut(name, "/"); kind {
	case "group":
		if w.group.there {
			w.group.fresh()
			copied := *w.group.now
			live, touched = w.group.now, &copied
		}
	case "member":
		if m := w.memberNow(object); m != nil {
			w.refresh(m)
			copied := *m
			live, touched = m, &copied
		}
	default:
		if i := w.planIndex(object); i >= 0 {
			w.plans[i].fresh()
		}
	}
	if live == nil {
		w.leader.unknown = slices.Delete(w.leader.unknown, i, i+1)
		return
	}
	w.leader.counter++
	annotate(touched, v1alpha1.TouchedAnnotation, coordinator.TouchValue(
		coordinator.Term{ID: w.leader.term, Counter: w.leader.counter}, w.generation()))
	write := coordinator.Write{Verb: coordinator.Update, Old: live, New: touched}
	w.leader.queue = []coordinator.Batch{{Phase: phaseSettle, Writes: []coordinator.Write{write}}}
}

func annotate(o coordinator.Object, key, value string) {
	annotations := map[string]string{}
	for k, v := range o.GetAnnotations() {
		annotations[k] = v
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

// generation is the greater of the group's and the newest plan's.
func (w *world) generation() int64 {
	var generation int64
	if w.group.there {
		generation = w.group.now.Status.Generation
	}
	for i := range w.plans {
		if w.plans[i].there {
			generation = max(generation, w.plans[i].now.Generation())
		}
	}
	return generation
}

// succeed gives the leadership to a fresh process that has read everything and knows no heartbeat yet.
func (w *world) succeed() {
	w.terms++
	w.leader = leader{term: fmt.Sprintf("term%d", w.terms)}
	w.caughtUp()
	for i := range w.leases {
		w.leases[i].seen, w.leases[i].former = w.now, time.Time{}
	}
}

// freeze leaves the writes of the present batch on their way, and a successor takes over.
func (w *world) freeze() {
	for _, write := range w.leader.queue[0].Writes {
		if w.lands(write) {
			w.flights = append(w.flights, write)
		}
	}
	w.succeed()
}
