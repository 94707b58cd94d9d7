package explore

import (
	"slices"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// stepKind is a kind of step.
type stepKind string

// Kinds of steps. The second group are faults.
const (
	stepReads     stepKind = "reads"
	stepAcks      stepKind = "acknowledges"
	stepWithdraws stepKind = "withdraws"
	stepClaims    stepKind = "writes its incarnation"
	stepPodStops  stepKind = "pod stops"
	stepPublishes stepKind = "publish acknowledges"
	stepRecreates stepKind = "the workload controller creates members again"
	stepCollects  stepKind = "the members of a group that is gone are deleted"
	stepDecides   stepKind = "decides"
	stepSends     stepKind = "writes"
	stepSettles   stepKind = "reads live"
	stepArrives   stepKind = "late write arrives"
	stepTick      stepKind = "time passes"
	stepEvent     stepKind = "event"

	// A write without an answer may arrive at once, later or never: one kind of fault for all three. A coordinator that
	// crashes is one that freezes and whose writes never arrive; only one that is idle is said to crash.
	stepStale  stepKind = "decides on a stale read"
	stepDark   stepKind = "write is sent, and no answer comes"
	stepCrash  stepKind = "crashes"
	stepFreeze stepKind = "freezes with its batch in flight"
)

// step is one thing that can happen in a world.
type step struct {
	kind stepKind
	i    int // of a process, member, write or stale slot
	j    int // of a choice
	ev   event
}

func (s step) fault() bool {
	switch s.kind {
	case stepStale, stepDark, stepCrash, stepFreeze:
		return true
	}
	return false
}

// own: it is of the world's own course, neither event nor fault.
func (s step) own() bool { return s.kind != stepEvent && !s.fault() }

// steps are all that can be taken from here. Those of the world's own course come first, then events, then faults.
func (w *world) steps() []step {
	if w.coarse() && len(w.leader.queue) > 0 && !w.leader.begun {
		return w.leaderOnly()
	}
	steps := w.processSteps(nil)
	steps = w.objectSteps(steps)
	steps = w.leaderSteps(steps)
	for i, write := range w.flights {
		if !w.lands(write) {
			continue
		}
		steps = append(steps, step{kind: stepArrives, i: i})
	}
	if at := w.tick(); at != nil {
		steps = append(steps, *at)
	}
	steps = w.eventSteps(steps)
	if w.failed < w.faults {
		steps = w.faultSteps(steps)
	}
	if w.together && !w.idle() {
		steps = slices.DeleteFunc(steps, w.waits)
	}
	return steps
}

func (w *world) leaderOnly() []step {
	steps := w.leaderSteps(nil)
	if w.failed < w.faults {
		steps = w.faultSteps(steps)
	}
	return steps
}

func (w *world) processSteps(steps []step) []step {
	recreates := false
	for i := range w.procs {
		p := &w.procs[i]
		switch {
		case p.claims:
			steps = append(steps, step{kind: stepClaims, i: i})
			continue
		case w.withdraws(p):
			steps = append(steps, step{kind: stepWithdraws, i: i})
		}
		if w.reads(p) {
			steps = append(steps, step{kind: stepReads, i: i})
		}
		if w.mayAcknowledge(p) {
			steps = append(steps, step{kind: stepAcks, i: i})
		}
		if p.goes && !p.over {
			steps = append(steps, step{kind: stepPodStops, i: i})
		}
		if w.recreates(p) && !recreates {
			recreates = true
			steps = append(steps, step{kind: stepRecreates, i: i})
		}
	}
	return steps
}

// recreates: the workload controller makes a pod's member anew when somebody has deleted it.
func (w *world) recreates(p *process) bool {
	return p.kind != registered && !p.over && !p.goes && w.memberNow(p.object()) == nil &&
		w.group.there && w.group.now.DeletionTimestamp == nil
}

func (w *world) objectSteps(steps []step) []step {
	orphans := false
	for i := range w.members {
		m := w.members[i].now
		if !w.members[i].there {
			continue
		}
		if revision, _ := w.published(m); revision > 0 {
			steps = append(steps, step{kind: stepPublishes, i: i})
		}
		orphans = orphans || w.orphaned(m)
	}
	if orphans {
		steps = append(steps, step{kind: stepCollects})
	}
	return steps
}

// collect is one pass of the garbage collector.
func (w *world) collect() {
	for _, s := range slices.Clone(w.members) {
		if s.there && w.orphaned(s.now) {
			w.remove(s.now, true)
		}
	}
}

// orphaned: the garbage collector deletes it, since its owner is gone.
func (w *world) orphaned(m *v1alpha1.GroupMember) bool {
	return m.DeletionTimestamp == nil && len(m.OwnerReferences) > 0 && m.OwnerReferences[0].UID != w.groupUID()
}

func (w *world) leaderSteps(steps []step) []step {
	switch {
	case len(w.leader.queue) > 0:
		for i := range w.sendable() {
			steps = append(steps, step{kind: stepSends, i: i})
		}
	case len(w.leader.unknown) > 0:
		for i := range w.leader.unknown {
			steps = append(steps, step{kind: stepSettles, i: i})
		}
	default:
		for j, choice := range w.decisions() {
			if len(choice.Batches) > 0 {
				steps = append(steps, step{kind: stepDecides, i: noneStale, j: j})
			}
		}
	}
	return steps
}

// sendable is how many writes of the present batch may be sent next. Their order is free; with faults it need not be tried,
// since the writes of a frozen leader arrive in any order.
func (w *world) sendable() int {
	if w.faults > 0 && !w.fine {
		return 1
	}
	return len(w.leader.queue[0].Writes)
}

// decisions are what the idle leader would decide now.
func (w *world) decisions() []coordinator.Decision {
	if w.choices == nil {
		w.choices = w.decideOrKnow()
	}
	return w.choices
}

// quiet: the leader has nothing to do at this instant.
func (w *world) quiet() bool {
	return w.idle() && len(w.decisions()) == 1 && len(w.decisions()[0].Batches) == 0
}

func (w *world) tick() *step {
	if !w.quiet() || w.nextInstant(w.decisions()[0].WakeAt).IsZero() {
		return nil
	}
	return &step{kind: stepTick}
}

func (w *world) eventSteps(steps []step) []step {
	if w.happened >= w.events {
		return steps
	}
	if w.happened < len(w.script) {
		return append(steps, step{kind: stepEvent, ev: w.script[w.happened]})
	}
	for _, e := range w.vocabulary {
		steps = append(steps, step{kind: stepEvent, ev: e})
	}
	return steps
}

func (w *world) faultSteps(steps []step) []step {
	add := func(s step) {
		if w.only == nil || slices.Contains(w.only, s.kind) {
			steps = append(steps, s)
		}
	}
	if len(w.leader.queue) > 0 {
		if w.lands(w.leader.queue[0].Writes[0]) {
			add(step{kind: stepDark})
		}
		add(step{kind: stepFreeze})
		return steps
	}
	// What an idle coordinator takes along is only when it last saw a heartbeat.
	if len(w.leases) > 0 || len(w.leader.unknown) > 0 {
		add(step{kind: stepCrash})
	}
	if w.idle() {
		w.staleSteps(add)
	}
	return steps
}

// staleSteps: only a stale read that leads to writes makes a difference.
func (w *world) staleSteps(add func(step)) {
	for _, slot := range w.staleSlots() {
		for j, choice := range w.decide(slot) {
			if len(choice.Batches) > 0 {
				add(step{kind: stepStale, i: slot, j: j})
			}
		}
	}
}

// take gives the world that a step leads to; nil if it cannot be taken.
func (w *world) take(s step) *world {
	next := w.clone()
	switch {
	case s.kind == stepEvent:
		if !next.happens(s.ev) {
			return nil
		}
		next.happened++
	case s.fault():
		next.fault(s)
		next.failed++
	case s.kind == stepTick:
		next.pass(w.nextInstant(w.decisions()[0].WakeAt))
	default:
		next.ordinary(s, w)
	}
	next.tidy()
	if s.kind == stepReads && next.clock == w.clock && w.mutation == nil {
		next.choices = w.choices // Nothing has changed that a decision looks at.
	}
	return next
}

func (w *world) fault(s step) {
	switch s.kind {
	case stepStale:
		w.takeOn(w.decide(s.i)[s.j], s.i)
	case stepCrash:
		w.succeed()
	case stepFreeze:
		w.freeze()
	default:
		w.sendIntoTheDark(s.i)
	}
}

// ordinary steps are the world's own course.
func (w *world) ordinary(s step, from *world) {
	switch s.kind {
	case stepPublishes:
		w.publish(w.members[s.i].now)
	case stepCollects:
		w.collect()
	case stepDecides:
		w.takeOn(from.decisions()[s.j], noneStale)
		w.sendsAtOnce()
	case stepSends:
		w.sendWell(s.i)
	case stepSettles:
		w.settle(s.i)
		w.sendsAtOnce()
	case stepArrives:
		write := w.flights[s.i]
		w.flights = append(w.flights[:s.i], w.flights[s.i+1:]...)
		w.store(write, true)
	default:
		w.processStep(s.kind, &w.procs[s.i])
	}
}

// processStep is a step of a process, or of whoever looks after its pod.
func (w *world) processStep(kind stepKind, p *process) {
	switch kind {
	case stepReads:
		w.takeIn(p)
		if w.coarse() && w.mayAcknowledge(p) {
			w.acknowledge(p)
		}
	case stepAcks:
		w.acknowledge(p)
	case stepWithdraws:
		w.withdraw(p)
	case stepClaims:
		w.claim(p)
	case stepPodStops:
		w.podStops(p)
	case stepRecreates:
		for i := range w.procs {
			if p := &w.procs[i]; w.recreates(p) {
				w.createMember(p)
			}
		}
	}
}

// publish acknowledges for a pod that cannot.
func (w *world) publish(m *v1alpha1.GroupMember) {
	revision, _ := w.published(m)
	w.rewrite(m, func(spec *v1alpha1.GroupMemberSpec) {
		spec.Acknowledged = &v1alpha1.Acknowledged{MemberID: m.Status.MemberID, Revision: revision}
	})
}
