package coordinator

import (
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Leader mode's part of the group's status: protocol, leader, and the round, which stays until a good sync.

func (v *view) leaderRound(st *v1alpha1.ConsumerGroupStatus, r *round) {
	v.recordLeader(st)
	switch st.State {
	case v1alpha1.GroupJoining:
		st.Rebalance = v.joiningRound(r)
	case v1alpha1.GroupAwaitingSync:
		st.Rebalance = v.syncRound()
	default:
		st.Rebalance = nil
	}
}

// recordLeader says which protocol the plan chose, and who leads.
func (v *view) recordLeader(st *v1alpha1.ConsumerGroupStatus) {
	if st.State == v1alpha1.GroupDown {
		st.Protocol, st.Leader = "", ""
		return
	}
	if v.plan == nil {
		return
	}
	st.Protocol = v.plan.Protocol
	if m := v.leader(); m != nil {
		st.Leader = leaderName(m)
	} else if v.plan.Generation > v.status.Generation {
		st.Leader = v.plan.leaderName()
	}
}

// joiningRound is the open round: its members release and join.
func (v *view) joiningRound(r *round) *v1alpha1.RebalanceStatus {
	next := &v1alpha1.RebalanceStatus{
		Reason: describe(r.causes), StartTime: micro(r.start), Deadline: micro(r.deadline), Errors: v.syncErrors(),
	}
	old := v.status.Rebalance
	switch {
	case r.open:
		next.PassedOver = old.PassedOver
		if old.Deadline.Equal(&next.Deadline) && old.Reason != "" {
			next.Reason = old.Reason // Who joins an open round is in the members' status: the group is not written for each.
		}
	case v.syncAwaited():
		if m := v.leader(); m != nil && v.leaderSilent(m) {
			next.PassedOver = []string{leaderName(m)}
		}
	}
	return next
}

// syncRound is the round whose generation waits for its answer.
func (v *view) syncRound() *v1alpha1.RebalanceStatus {
	if v.plan == nil {
		return v.status.Rebalance // It was deleted by hand, and the group is paused.
	}
	return &v1alpha1.RebalanceStatus{
		Reason: describe(v.plan.Reasons), StartTime: micro(v.plan.StartTime), Deadline: micro(v.syncDeadline()), Errors: v.syncErrors(),
	}
}

// syncDeadline is when a silent leader has been so for the rebalance timeout, or when an error opens the next round.
func (v *view) syncDeadline() time.Time {
	old := v.status.Rebalance
	switch {
	case v.invalid():
		return v.errorDue()
	case old != nil && v.status.State == v1alpha1.GroupAwaitingSync && v.plan.Generation == v.status.Generation:
		return old.Deadline.Time
	}
	return v.Now.Add(v.longestRebalance(v.staying()))
}
