package coordinator

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// The group's status is small at any size and written seldom: counts of members and copies with the commit, with Stable
// and with Down, and when a wait for an old session begins or ends; availability when it is shown on members.

// writeGroup is the group's write of this decision, if there is one.
func (v *view) writeGroup(r *round) []Write {
	next := v.Group.DeepCopy()
	st := &next.Status
	st.ObservedGeneration = v.Group.Generation
	st.State = v.nextState(r)
	st.Generation = v.generation
	if v.leaderMode() {
		v.leaderRound(st, r)
	} else {
		v.openRound(st, r)
	}
	v.recordRebalance(st)
	if answer := v.answer(r); answer != nil {
		st.RebalanceRequest = answer
	}
	waiting := v.waitsForSession(r)
	if v.checkpoint(st, waiting) {
		v.countAll(st, r)
		v.setFullyAssigned(next, waiting)
	}
	v.setAvailableSince(st, r)
	v.setAvailability(st, r)
	v.setGroupConditions(next)
	return v.groupWrite(next)
}

// groupWrite is a write of the group's status where it differs in more than the texts of conditions.
func (v *view) groupWrite(next *v1alpha1.ConsumerGroup) []Write {
	next.Status.ObservedGeneration = v.Group.Generation
	x, y := v.Group.Status, next.Status
	if sameConditions(x.Conditions, y.Conditions) {
		x.Conditions, y.Conditions = nil, nil
		if equality.Semantic.DeepEqual(&x, &y) {
			return nil
		}
	}
	return []Write{{Verb: UpdateStatus, Old: v.Group, New: next, Events: v.groupEvents(next)}}
}

// nextState: Stable is left only by the opening of a round, or to Down; AwaitingSync becomes Stable when everybody has
// what the plan gives and nothing asks for a round.
func (v *view) nextState(r *round) v1alpha1.GroupState {
	switch {
	case v.waits(r):
		return v1alpha1.GroupJoining
	case len(r.staying) == 0:
		return v1alpha1.GroupDown
	case v.status.State == v1alpha1.GroupStable && v.generation == v.status.Generation:
		return v1alpha1.GroupStable
	case len(r.causes) == 0 && !r.soon && v.carriedOut(r):
		return v1alpha1.GroupStable
	}
	return v1alpha1.GroupAwaitingSync
}

// carriedOut: everybody has what the plan in force gives.
func (v *view) carriedOut(r *round) bool {
	if v.leaderMode() {
		return v.synced(r)
	}
	return v.handedOver(r)
}

// handedOver: have equals want for all whom the plan names. A copy counts as had that stands in its gainer's own
// revocation under a former memberID, or in any of its own while the gainer is Unavailable.
func (v *view) handedOver(r *round) bool {
	if v.plan == nil {
		return false
	}
	for _, m := range r.staying {
		assigned := v.countWanted(m, assignmentOf(m))
		if !inGeneration(m.Status.State) || assigned != countCopies(m.Status.Assignment) {
			return false
		}
		if assigned+v.countRevokedFromItself(m) < v.plan.shares[m.position] {
			return false
		}
	}
	return true
}

func (v *view) countRevokedFromItself(m *member) int32 {
	var n int32
	for i := range m.Status.Revoking {
		r := &m.Status.Revoking[i]
		if (r.MemberID != m.Status.MemberID || v.unavailable(m)) && v.end(m, r) == inForce {
			n += v.countWanted(m, r.TopicPartitions)
		}
	}
	return n
}

// openRound writes the open round, or that there is none.
func (v *view) openRound(st *v1alpha1.ConsumerGroupStatus, r *round) {
	if !v.waits(r) {
		st.Rebalance = nil
		return
	}
	next := &v1alpha1.RebalanceStatus{
		Reason: describe(r.causes), StartTime: micro(r.start), Deadline: micro(r.deadline),
	}
	// Names that join an open round are in the members' status, and in the plan; the group is not written for each.
	if old := st.Rebalance; old != nil && r.open && old.Deadline.Equal(&next.Deadline) && len(old.Reason) > 0 {
		next.Reason = old.Reason
	}
	st.Rebalance = next
}

// recordRebalance says what the plan in force did, and when it was completed.
func (v *view) recordRebalance(st *v1alpha1.ConsumerGroupStatus) {
	if v.plan == nil {
		return
	}
	if st.LastRebalance == nil || st.LastRebalance.Generation != v.plan.Generation {
		st.LastRebalance = &v1alpha1.LastRebalance{
			Generation: v.plan.Generation, Plan: string(v.Plans[0].Revision.UID), Reason: describe(v.plan.Reasons),
			StartTime: micro(v.plan.StartTime), Moved: v.plan.Moved,
		}
	}
	if st.State == v1alpha1.GroupStable && st.LastRebalance.CompletionTime == nil {
		st.LastRebalance.CompletionTime = microPtr(v.Now)
	}
}

// waitsForSession: a member waits for the session of its own former incarnation, or is granted only now what that held:
// until then the copy is in nobody's assignment, and the write that counts it follows the grant.
func (v *view) waitsForSession(r *round) bool {
	if v.plan == nil || !v.exclusive() {
		return false
	}
	for _, m := range r.staying {
		for i := range m.Status.Revoking {
			old := &m.Status.Revoking[i]
			if old.MemberID != m.Status.MemberID && v.countWanted(m, old.TopicPartitions) > 0 &&
				(v.available(m) || v.end(m, old) == inForce) {
				return true
			}
		}
	}
	return false
}

// checkpoint: the counts are written now. A Stable group is counted again when it has got what it lacked.
func (v *view) checkpoint(st *v1alpha1.ConsumerGroupStatus, waiting bool) bool {
	full := v.condition(v1alpha1.GroupFullyAssigned)
	wasWaiting := full != nil && full.Reason == v1alpha1.ReasonWaitingForSession
	return full == nil || waiting != wasWaiting || st.State != v.status.State || st.Generation != v.status.Generation ||
		st.State == v1alpha1.GroupStable && full.Status != metav1.ConditionTrue && v.countAssigned() > st.AssignedPartitions
}

func (v *view) countAll(st *v1alpha1.ConsumerGroupStatus, r *round) {
	st.Members = int32(len(r.staying))
	if v.leaderMode() && !v.decodes() { // The states are the leader's business alone.
		st.Partitions, st.AssignedPartitions, st.PartitionSummary = 0, 0, ""
		return
	}
	st.Partitions = v.copiesWanted()
	st.AssignedPartitions = v.countAssigned()
	st.PartitionSummary = fmt.Sprintf("%d/%d", st.AssignedPartitions, st.Partitions)
}

func (v *view) countAssigned() int32 {
	if v.leaderMode() {
		return v.countCovered()
	}
	available := v.availableGainers()
	var n int32
	for _, m := range v.members {
		if m.named {
			n += v.countStaying(m, available)
		}
	}
	return n
}

// countStaying counts the assigned copies that the group's topics still have, less those that the plan takes for a member
// who is available: they are revoked at once.
func (v *view) countStaying(m *member, available []bool) int32 {
	var n int32
	for _, tp := range assignmentOf(m) {
		s := v.topic(tp.Topic)
		if s == nil || tp.Copy >= replicas(s) {
			continue
		}
		for _, p := range tp.Partitions {
			if p < s.Partitions && !v.goesFrom(m, tp.Topic, tp.Copy, p, available) {
				n++
			}
		}
	}
	return n
}

// goesFrom: the plan gives the copy to another, who is available.
func (v *view) goesFrom(m *member, topic string, copy, partition int32, available []bool) bool {
	if v.plan == nil || v.pinned(m) {
		return false
	}
	gainer := v.plan.at(topic, copy, partition)
	return gainer != nobody && gainer != m.position && available[gainer]
}

// availableGainers tells, by position in the plan, who can be granted something now.
func (v *view) availableGainers() []bool {
	if v.plan == nil {
		return nil
	}
	available := make([]bool, len(v.plan.Members))
	for _, m := range v.members {
		if m.named {
			available[m.position] = v.available(m)
		}
	}
	return available
}

func (v *view) topic(name string) *v1alpha1.TopicSpec {
	for i := range v.Group.Spec.Topics {
		if v.Group.Spec.Topics[i].Name == name {
			return &v.Group.Spec.Topics[i]
		}
	}
	return nil
}

// setAvailability: a quick restart costs the group no write. The count stands as long as it lies between those that are
// available now and those whose absence is not shown yet.
func (v *view) setAvailability(st *v1alpha1.ConsumerGroupStatus, r *round) {
	now, shown := v.countAvailable(r)
	if groupWriteDue := !equality.Semantic.DeepEqual(st, v.status); groupWriteDue ||
		st.AvailableMembers < now || st.AvailableMembers > shown {
		st.AvailableMembers = now
	}
	st.MemberSummary = fmt.Sprintf("%d/%d", st.AvailableMembers, st.Members)
}

// countAvailable counts the generation's members that are available now, and those not shown as Unavailable.
func (v *view) countAvailable(r *round) (now, shown int32) {
	for _, m := range r.staying {
		if v.available(m) {
			now++
		}
		if !v.unavailable(m) {
			shown++
		}
	}
	return now, shown
}

// setAvailableSince is emptied when nobody has been available for a while, and set at the first return.
func (v *view) setAvailableSince(st *v1alpha1.ConsumerGroupStatus, r *round) {
	if len(r.staying) == 0 {
		return
	}
	now, shown := v.countAvailable(r)
	switch {
	case now > 0 && st.AvailableSince == nil:
		st.AvailableSince = microPtr(v.Now)
	case shown == 0:
		st.AvailableSince = nil
	}
}
