package coordinator

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Leader mode: the barrier. A round is over when every member that it waits for has released what it held and says so
// (spec.joined); nobody is handed anything before. It replaces the hand-over of Coordinator mode.

// barrierOver: the round completes now.
func (v *view) barrierOver(r *round) bool {
	if len(r.causes) == 0 || v.Group.Spec.Paused {
		return false
	}
	due := v.passed(r.deadline)
	if len(v.electable(r)) == 0 {
		return false // Nobody who is present could lead.
	}
	if v.planLost {
		return true // All count as joined under their standing spec.
	}
	return due || len(r.staying) > 0 && v.everybodyJoined(r)
}

// everybodyJoined: all members of the generation that are not Unavailable have, and who asks and still holds something.
func (v *view) everybodyJoined(r *round) bool {
	waitsFor := func(m *member) bool { return !v.unavailable(m) && !v.joinedRound(m) }
	return !slices.ContainsFunc(r.staying, waitsFor) && !slices.ContainsFunc(r.joiners, func(m *member) bool {
		return m.Status.Assignment != nil && waitsFor(m)
	})
}

// joinedRound: the member's present incarnation has released all and joins the open round.
func (v *view) joinedRound(m *member) bool { return joinedAfter(m, v.generation) }

func joinedAfter(m *member, generation int64) bool {
	j := m.Spec.Joined
	return j != nil && !restarted(m) && j.MemberID == m.Status.MemberID && j.Generation > generation
}

// electable are those that are present and have joined: a new member by its creation, one that holds something by its word.
func (v *view) electable(r *round) []*member {
	var list []*member
	for _, m := range r.staying {
		if !v.unavailable(m) && (v.joinedRound(m) || v.planLost) {
			list = append(list, m)
		}
	}
	for _, m := range r.joiners {
		if m.Status.Assignment == nil || v.joinedRound(m) {
			list = append(list, m)
		}
	}
	return list
}

// barrierDeadline of a round: fixed when it opens. It is set again if it comes and nobody who is present has joined.
func (v *view) barrierDeadline(r *round) time.Time {
	if len(r.staying) == 0 {
		return v.initialDeadline(r)
	}
	again := v.Now.Add(v.longestRebalance(append(slices.Clone(r.staying), r.joiners...)))
	if !r.open {
		return again
	}
	deadline := v.status.Rebalance.Deadline.Time
	if v.passed(deadline) && len(v.electable(r)) == 0 {
		return again
	}
	return deadline
}

func (v *view) longestRebalance(members []*member) time.Duration {
	var longest time.Duration
	for _, m := range members {
		longest = max(longest, v.rebalanceTimeout(m))
	}
	return longest
}

// missesBarrier: a dynamic member has not joined the round by its deadline, though others have. A static one stays.
func (v *view) missesBarrier(m *member) bool {
	return v.leaderMode() && !v.static(m) && m.stays() && !v.joinedRound(m) && v.someJoinedInTime() && v.confirmed(m)
}

// someJoinedInTime: the deadline of the open round has come, and somebody who is present has joined.
func (v *view) someJoinedInTime() bool {
	if v.inTime == nil {
		r := v.readRound()
		some := r.open && !v.Group.Spec.Paused && len(r.staying) > 0 && v.passed(v.status.Rebalance.Deadline.Time)
		if some {
			v.findJoiners(r)
			some = len(v.electable(r)) > 0
		}
		v.inTime = &some
	}
	return *v.inTime
}

// dieOfTimeout ends a member that lives but does not take part.
func (v *view) dieOfTimeout(m *member) *draft {
	d := v.draft(m)
	d.gone(v, v1alpha1.MemberDead)
	d.timedOut = "did not join the round by its deadline"
	if v.leads(m) && v.syncAwaited() {
		d.timedOut = "led the generation and sent no sync for its rebalance timeout"
	}
	d.event(true, v1alpha1.ReasonRebalanceTimeout, d.timedOut)
	return d
}

// diedOfTimeout: the member is Dead for not having taken part, not for its session. Its round does not wait for others.
func diedOfTimeout(m *member) bool {
	c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.MemberJoinedCondition)
	return m.Status.State == v1alpha1.MemberDead && c != nil && c.Reason == v1alpha1.ReasonRebalanceTimeout
}
