package explore

import "slices"

// While the leader is busy, a step that concerns another object than the one that it turns to next shows nothing that it
// would not show later: it waits. docs/exploration.md gives the argument, and a test compares both ways.

// waits says whether a step may wait until the leader is idle, or turns to the object that the step is about.
func (w *world) waits(s step) bool {
	if w.turnsTo("group/"+groupName) || w.groupGoing() {
		return false // Of a group that goes only one process lags behind, and which one depends on who has ended.
	}
	switch s.kind {
	case stepReads, stepAcks, stepWithdraws, stepClaims, stepPodStops:
		return !w.turnsTo("member/" + w.procs[s.i].object())
	case stepPublishes:
		return !w.turnsTo("member/" + w.members[s.i].name)
	case stepEvent:
		return w.eventWaits(s.ev)
	}
	return false
}

// eventWaits: what happens to a group as a whole, or to its plans, is never put off. Nor are events of Leases which a
// successor would see otherwise than its predecessor.
func (w *world) eventWaits(e event) bool {
	switch e.what {
	case groupGoes, groupComes, planGoes:
		return false
	case forced, grows, shrinks:
		return true
	}
	last := w.happened+1 == w.events && e.what != restarts && e.what != backAgain
	if w.kinds[e.who] == registered && w.failed < w.faults && !last {
		return false
	}
	return !w.turnsTo("member/" + objectName(e.who))
}

// turnsTo says whether the busy leader's next step is about that object.
func (w *world) turnsTo(name string) bool {
	if len(w.leader.queue) == 0 {
		return slices.Contains(w.leader.unknown, name)
	}
	for _, write := range w.leader.queue[0].Writes[:w.sendable()] {
		if nameOf(subject(write)) == name {
			return true
		}
	}
	return false
}

// hasNoChoice: nothing can come between a decision and its first write, so they are one step.
func (w *world) hasNoChoice() bool { return w.together && w.coarse() && w.failed >= w.faults }

func (w *world) sendsAtOnce() {
	if w.hasNoChoice() && len(w.leader.queue) > 0 {
		w.sendWell(0)
	}
}

// only is the step that follows if it is the leader's next write, and nothing else can be done.
func (w *world) onlyWrites() (step, bool) {
	if !w.together || len(w.leader.queue) == 0 {
		return step{}, false
	}
	if steps := w.steps(); len(steps) == 1 && steps[0].kind == stepSends {
		return steps[0], true
	}
	return step{}, false
}
