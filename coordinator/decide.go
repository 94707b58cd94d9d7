package coordinator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Decide says what is to be done for one group. It looks only at the snapshot, never at what happened before, so it can
// be called at any time, any number of times, after any crash. The same snapshot in another order of members gives the
// same decision.
func Decide(s Snapshot) Decision {
	if s.Group == nil {
		return decideWithoutGroup(&s)
	}
	v := newView(&s)
	batches := v.decide()
	if !v.need.Empty() {
		return Decision{Need: v.need}
	}
	return Decision{Batches: batches, WakeAt: v.wakeAt}
}

// decideWithoutGroup: with its group gone a member's finalizer goes at once.
func decideWithoutGroup(s *Snapshot) Decision {
	var writes []Write
	for _, m := range s.Members {
		writes = append(writes, dropFinalizer(&member{GroupMember: m})...)
	}
	return Decision{Batches: batch(PhaseFinish, writes...)}
}

func (v *view) decide() []Batch {
	if v.Group.DeletionTimestamp != nil {
		return v.decideDeletion()
	}
	if v.leaderMode() && !v.Config.ServeSelfRegistered {
		return v.notServed()
	}
	if v.status.State == "" {
		return batch(PhaseFacts, v.firstSight()...)
	}
	if b := v.raiseBaseForLeavers(); b != nil {
		return b
	}
	if facts := v.facts(); len(facts) > 0 {
		return batch(PhaseFacts, facts...)
	}
	r := v.findRound()
	if v.commits(r) {
		return v.commit(r)
	}
	return v.execute(r)
}

// execute carries out the plan in force, and shows the open round.
func (v *view) execute(r *round) []Batch {
	if v.leaderMode() {
		return v.executeSync(r)
	}
	t := v.runHandover(r)
	if t.granting {
		if touches := v.touches(); len(touches) > 0 {
			return batch(PhaseTouches, touches...)
		}
	}
	members := append(t.members, v.showAsking(r)...)
	written := map[string]bool{}
	for _, list := range [][]Write{members, t.grants} {
		for i := range list {
			written[list[i].Old.GetName()] = true
		}
	}
	var batches []Batch
	batches = append(batches, batch(PhaseGroup, v.writeGroup(r)...)...)
	batches = append(batches, batch(PhaseMembers, members...)...)
	batches = append(batches, batch(PhaseGrants, t.grants...)...)
	return append(batches, batch(PhaseFinish, v.cleanup(written)...)...)
}

// executeSync hands out what the leader has said, and shows the open round.
func (v *view) executeSync(r *round) []Batch {
	members := append(v.runSync(r), v.showAsking(r)...)
	written := map[string]bool{}
	for i := range members {
		written[members[i].Old.GetName()] = true
	}
	var batches []Batch
	batches = append(batches, batch(PhaseGroup, v.writeGroup(r)...)...)
	batches = append(batches, batch(PhaseMembers, members...)...)
	return append(batches, batch(PhaseFinish, v.cleanup(written)...)...)
}

// showAsking writes Pending of those whose wait for a round lasts.
func (v *view) showAsking(r *round) []Write {
	var writes []Write
	for _, m := range r.joiners {
		if m.Status.State != "" {
			continue
		}
		if w, ok := v.write(v.showsAsking(m)); ok {
			writes = append(writes, w)
		}
	}
	return writes
}

func (v *view) showsAsking(m *member) *draft {
	d := v.draft(m)
	d.status().State = v1alpha1.MemberPending
	v.adoptIncarnation(d)
	d.asking(v)
	return d
}

// firstSight gives a new group its token base and its first status.
func (v *view) firstSight() []Write {
	next := v.Group.DeepCopy()
	st := &next.Status
	st.State = v1alpha1.GroupDown
	if st.TokenBase == 0 {
		st.TokenBase = tokenBaseAt(v.Now)
	}
	r := &round{}
	v.countAll(st, r)
	v.setAvailability(st, r)
	v.setFullyAssigned(next, false)
	v.setGroupConditions(next)
	return v.groupWrite(next)
}

// notServed says of a group in Leader mode that this coordinator sees no heartbeats of those who could lead. Nothing is held
// in it, so its members end at once.
func (v *view) notServed() []Batch {
	next := v.Group.DeepCopy()
	setCondition(&next.Status.Conditions, v.Now, v.Group.Generation, metav1.Condition{
		Type: v1alpha1.GroupReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNotServed,
		Message: "this manager sees no heartbeats of members, so it cannot serve assignedBy Leader: create a group with assignedBy Coordinator",
	})
	var ends []Write
	for _, m := range v.members {
		ends = append(ends, dropFinalizer(m)...)
		if !selfRegistered(m) && leaving(m) && m.DeletionTimestamp == nil {
			ends = append(ends, Write{Verb: Delete, Old: m.GroupMember})
		}
	}
	return append(batch(PhaseGroup, v.groupWrite(next)...), batch(PhaseFinish, ends...)...)
}
