package coordinator

import (
	"slices"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Leader mode: the leader's sync. It answers one generation; an error in it, a leader that is silent or lost, makes that
// generation invalid.

// syncAwaited: the generation has no answer yet, or it is being handed out.
func (v *view) syncAwaited() bool {
	return v.leaderMode() && v.plan != nil &&
		(v.plan.Generation > v.status.Generation || v.status.State == v1alpha1.GroupAwaitingSync)
}

// seenSync is what the present leader has sent for the present generation. It is judged once a decision: it may be long,
// and every member is asked about it.
type seenSync struct {
	// sync is nil when there is none.
	sync *v1alpha1.Sync
	hash digest
	// trouble is what is wrong with it; empty when nothing is, or there is none.
	trouble string
}

func (v *view) seenSync() *seenSync {
	if v.leaderSync == nil {
		v.leaderSync = &seenSync{}
		if m := v.leader(); v.plan != nil && m != nil && v.answersFor(m, v.plan.Generation) {
			v.leaderSync.sync, v.leaderSync.hash = m.Spec.Sync, syncHash(m.Spec.Sync)
			v.leaderSync.trouble = v.troubleOf(v.leaderSync)
		}
	}
	return v.leaderSync
}

// currentSync is the sync of the present leader for the present generation; nil when there is none.
func (v *view) currentSync() *v1alpha1.Sync { return v.seenSync().sync }

// answersFor: the member's present incarnation has written a sync for that generation.
func (v *view) answersFor(m *member, generation int64) bool {
	s := m.Spec.Sync
	return s != nil && !restarted(m) && s.MemberID == m.Status.MemberID && s.Generation == generation
}

// syncHash tells one sync from another.
func syncHash(s *v1alpha1.Sync) digest {
	d := fnvOffset.number(s.Generation).text(s.MemberID).number(int64(len(s.Assignments)))
	for i := range s.Assignments {
		d = d.text(s.Assignments[i].MemberID).text(string(s.Assignments[i].State))
	}
	return d
}

// syncTrouble is what is wrong with the leader's sync; empty when nothing is, or there is none.
func (v *view) syncTrouble() string { return v.seenSync().trouble }

func (v *view) troubleOf(seen *seenSync) string {
	if v.status.State == v1alpha1.GroupStable && v.plan.Generation == v.status.Generation {
		return "" // All have been answered, with another one.
	}
	if seen.sync.Error != "" {
		return seen.sync.Error
	}
	if slices.ContainsFunc(v.members, func(m *member) bool {
		return v.answered(m) && !seen.hash.same(m.Status.Assignment.Sync)
	}) {
		return "the leader changed its sync while it was being handed out"
	}
	return ""
}

// invalid: an error has been seen in this generation; a better sync does not mend it.
func (v *view) invalid() bool { return v.errorCounted() || v.syncTrouble() != "" }

// errorCounted: the error of this generation stands in the group already. It counts once.
func (v *view) errorCounted() bool {
	open := v.status.Rebalance
	return v.plan != nil && open != nil && open.Errors != nil && open.Errors.Generation == v.plan.Generation
}

// syncErrors is the count of errors in a row, this generation's included.
func (v *view) syncErrors() *v1alpha1.SyncErrors {
	var before *v1alpha1.SyncErrors
	if open := v.status.Rebalance; open != nil {
		before = open.Errors
	}
	if v.errorCounted() || v.syncTrouble() == "" {
		return before
	}
	counted := v1alpha1.SyncErrors{Count: 1, Generation: v.plan.Generation}
	if before != nil {
		counted.Count = before.Count + 1
	}
	return &counted
}

// errorDue is when the error of this generation opens the next round: the first at once, the n-th in a row after
// 2^(n-2) seconds, at most the rebalance timeout.
func (v *view) errorDue() time.Time {
	if v.errorCounted() {
		return v.status.Rebalance.Deadline.Time
	}
	count := v.syncErrors().Count
	if count < 2 {
		return v.Now
	}
	const most = 30 // seconds as a power of two: beyond any rebalance timeout
	backOff := time.Second << min(count-2, most)
	return v.Now.Add(min(backOff, v.longestRebalance(v.staying())))
}

// leaderCauses are what asks for a round because of the leader. Only while the sync is awaited does it matter who leads.
func (v *view) leaderCauses(r *round) []Cause {
	if !v.syncAwaited() {
		return nil
	}
	name := []string{v.plan.leaderName()}
	if v.invalid() && v.passed(v.errorDue()) {
		return []Cause{{Reason: v1alpha1.RebalanceSyncError, Names: name}}
	}
	switch m := v.leader(); {
	case m == nil || !m.stays():
		if r.soon {
			return nil // It expired just now: its second of gathering first.
		}
		return []Cause{{Reason: v1alpha1.RebalanceLeaderLost, Names: name}}
	case v.leaderSilent(m):
		return []Cause{{Reason: v1alpha1.RebalanceLeaderTimeout, Names: name}}
	}
	return nil
}

// leaderSilent: the leader is present and has said nothing for the rebalance timeout since the generation began.
func (v *view) leaderSilent(m *member) bool {
	open := v.status.Rebalance
	if v.status.State != v1alpha1.GroupAwaitingSync || v.plan.Generation != v.status.Generation || open == nil || v.invalid() {
		return false
	}
	return v.currentSync() == nil && v.passed(open.Deadline.Time) && !v.unavailable(m)
}

// silentLeaderDies: a dynamic leader does not outlive its silence; a static one keeps its membership.
func (v *view) silentLeaderDies(m *member) bool {
	return v.syncAwaited() && !v.static(m) && m.stays() && v.leads(m) && !v.Group.Spec.Paused &&
		v.leaderSilent(m) && v.confirmed(m)
}
