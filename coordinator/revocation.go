package coordinator

import (
	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// When a revocation ends. Until then the copies in it are in force: nobody else may hold them.

// ending says whether and how a revocation has ended.
type ending int

const (
	inForce ending = iota
	// acknowledged: by the member's own word, which cannot be taken back. The entry leaves with the member's next write.
	acknowledged
	// over by other means: the entry is written out before one of its copies is granted.
	over
)

// end judges one revocation of a member.
func (v *view) end(m *member, r *v1alpha1.Revocation) ending {
	if a := m.Spec.Acknowledged; a != nil && a.MemberID == r.MemberID && (a.Final || a.Revision >= r.Revision) {
		return acknowledged
	}
	if v.stopped(m, r.MemberID) || v.sessionOver(m, r) || v.timedOut(m, r) {
		return over
	}
	return inForce
}

// stopped: the memberID's pod has stopped, or a new pod has its name.
func (v *view) stopped(m *member, id string) bool {
	if selfRegistered(m) {
		return false
	}
	if id != m.Status.MemberID || restarted(m) {
		return true
	}
	return m.Spec.Presence != nil && m.Spec.Presence.Stopped
}

// sessionOver: the session of the memberID has ended. Under Exclusive only a self-registered member's counts, and only
// when its Lease was read live after the entry was written: a renewal may not have reached the cache.
func (v *view) sessionOver(m *member, r *v1alpha1.Revocation) bool {
	if !selfRegistered(m) {
		return !v.exclusive() && v.expired(m)
	}
	expired := false
	if r.MemberID == m.Status.MemberID {
		expired = v.holderExpired(m)
	} else if r.Until != nil {
		expired = v.passed(r.Until.Time)
	}
	return expired && (!v.exclusive() || v.confirmed(m))
}

// timedOut: under Available a member that could have acknowledged has not done so for its rebalance timeout.
func (v *view) timedOut(m *member, r *v1alpha1.Revocation) bool {
	return !v.exclusive() && !v.cannotAcknowledge(m) &&
		v.passed(r.Since.Add(v.rebalanceTimeout(m)))
}

// released: what the memberID in status holds needs no revocation, it is known to have stopped working on it.
func (v *view) released(m *member) bool {
	if a := m.Spec.Acknowledged; a != nil && a.Final && a.MemberID == m.Status.MemberID {
		return true
	}
	return v.stopped(m, m.Status.MemberID) || !v.exclusive() && v.holderExpired(m)
}

// worksToEnd: a leaving member that cannot acknowledge is not revoked from until its pod has stopped. A pod on its way
// out works to its end; under Exclusive nothing else ends it either way.
func (v *view) worksToEnd(m *member) bool {
	if m.Status.State != v1alpha1.MemberLeaving || !v.cannotAcknowledge(m) {
		return false
	}
	return v.exclusive() || m.Spec.Presence == nil || m.Spec.Presence.Reason != v1alpha1.PresenceWithdrawn &&
		m.Spec.Presence.State == v1alpha1.Leaving
}

func (v *view) cannotAcknowledge(m *member) bool {
	return !selfRegistered(m) && m.Spec.Acknowledgement == v1alpha1.AcknowledgeNone
}

// pinned: under Exclusive a running member that cannot acknowledge keeps all it holds.
func (v *view) pinned(m *member) bool {
	return v.exclusive() && v.cannotAcknowledge(m) && !v.stopped(m, m.Status.MemberID)
}

// dropEnded takes revocations that have ended out of a draft.
func (v *view) dropEnded(d *draft) {
	st := d.status()
	var kept []v1alpha1.Revocation
	for i := range st.Revoking {
		r := &st.Revoking[i]
		switch v.end(d.m, r) {
		case inForce:
			kept = append(kept, *r)
			continue
		case over:
			d.unacknowledged = d.unacknowledged || !v.stopped(d.m, r.MemberID) && v.timedOut(d.m, r)
		case acknowledged:
		}
		st.LastToken = max(st.LastToken, greatestToken(r.TopicPartitions))
	}
	st.Revoking = kept
}

// revoke takes copies out of the assignment of a draft: into a revocation, or out of the object when the member is known
// to have stopped.
func (v *view) revoke(d *draft, taken []holding, kept []holding) {
	if len(taken) == 0 {
		return
	}
	st := d.status()
	setAssignment(st, kept)
	list := compress(taken)
	if v.released(d.m) {
		st.LastToken = max(st.LastToken, greatestToken(list))
		return
	}
	st.Revoking = append(st.Revoking, v1alpha1.Revocation{
		MemberID: st.MemberID, Revision: d.m.Status.Revision + 1, Since: micro(v.Now), TopicPartitions: list,
	})
}

// revokeAll takes everything. In Leader mode nothing is revoked: the barrier of the next round is the hand-over.
func (v *view) revokeAll(d *draft) {
	if v.leaderMode() {
		return
	}
	if st := d.status(); st.Assignment != nil {
		v.revoke(d, expand(st.Assignment.TopicPartitions), nil)
	}
}

func setAssignment(st *v1alpha1.GroupMemberStatus, holdings []holding) {
	if len(holdings) == 0 {
		st.Assignment = nil
		return
	}
	st.Assignment = &v1alpha1.MemberAssignment{TopicPartitions: compress(holdings)}
}
