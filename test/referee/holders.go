package referee

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// hold says in which object a copy stands.
type hold struct {
	member *v1alpha1.GroupMember
	how    string
}

func (h hold) String() string { return h.member.Name + " (" + h.how + ")" }

// share is a partition in one object, whatever the copy index.
type share struct {
	uid       types.UID
	topic     string
	partition int32
}

// checkHolders: a copy has one holder at most, and a holder has one copy of a partition at most. What has ended otherwise
// than by acknowledgement must be written out before it is granted anew, so here only an acknowledgement ends a revocation.
func (r *Referee) checkHolders(v View, verdict *verdict) {
	holders := map[Copy]hold{}
	shares := map[share]Copy{}
	for _, m := range v.Members {
		if v.Group == nil || !ownedBy(m, v.Group) {
			continue // Of a former life of the group, whose holders no longer count.
		}
		eachHold(m, func(c Copy, how string) {
			now := hold{member: m, how: how}
			if before, taken := holders[c]; taken {
				verdict.broken(1, "copy %s has two holders: %s and %s", c, before, now)
			}
			holders[c] = now
			s := share{uid: m.UID, topic: c.Topic, partition: c.Partition}
			if before, has := shares[s]; has && before != c {
				verdict.broken(1, "%s holds two copies of one partition: %s and %s", m.Name, before, c)
			}
			shares[s] = c
		})
	}
}

// eachHold visits the copies in a member's assignment and in its revocations that it has not acknowledged.
func eachHold(m *v1alpha1.GroupMember, visit func(c Copy, how string)) {
	eachCopy(assigned(m), func(c Copy, _ int64) { visit(c, "assignment") })
	for i := range m.Status.Revoking {
		entry := &m.Status.Revoking[i]
		if acknowledged(m, entry) {
			continue
		}
		eachCopy(entry.TopicPartitions, func(c Copy, _ int64) { visit(c, "revoking of "+entry.MemberID) })
	}
}

// checkReleased: what an object held and does not hold any more has become free by rule. Of self-registered members
// the objects do not show whether a session has ended; there the processes tell.
func (r *Referee) checkReleased(v View, verdict *verdict) {
	if v.Group == nil || r.last.Group == nil || v.Group.UID != r.last.Group.UID || v.Group.DeletionTimestamp != nil {
		return
	}
	for _, before := range r.last.Members {
		if before.Spec.Workload == nil || !ownedBy(before, v.Group) {
			continue
		}
		now := memberByUID(v.Members, before.UID)
		if now == before {
			continue
		}
		kept := holdsOf(now)
		eachHeldBy(before, func(c Copy, memberID string, entry *v1alpha1.Revocation) {
			if !kept[c] && !r.mayEnd(v, before, now, memberID, entry) {
				verdict.broken(1, "copy %s left %s, although %s had neither acknowledged nor stopped", c, before.Name, memberID)
			}
		})
	}
}

// mayEnd says whether what memberID held could end by rule. Entry is nil for what stood in the assignment.
func (r *Referee) mayEnd(v View, before, now *v1alpha1.GroupMember, memberID string, entry *v1alpha1.Revocation) bool {
	for _, m := range []*v1alpha1.GroupMember{before, now} {
		if m != nil && (said(m, memberID, entry) || podStopped(m, memberID) || !r.exclusive && mayExpire(m.Spec.Presence)) {
			return true
		}
	}
	return !r.exclusive && entry != nil && before.Spec.Acknowledgement != v1alpha1.AcknowledgeNone &&
		!v.Now.Before(entry.Since.Add(rebalanceTimeout(v.Group, before)))
}

// mayExpire: under Available time ends it, that of the session or of a lost node.
func mayExpire(p *v1alpha1.Presence) bool {
	return p.State == v1alpha1.Away || p.State == v1alpha1.Leaving && p.Reason == v1alpha1.PresenceNodeLost
}

// said: the process has acknowledged the revocation, or finally everything.
func said(m *v1alpha1.GroupMember, memberID string, entry *v1alpha1.Revocation) bool {
	word := m.Spec.Acknowledged
	final := word != nil && word.Final && word.MemberID == memberID
	return final || entry != nil && acknowledged(m, entry)
}

// podStopped: the memberID's pod has stopped, or another pod has its name.
func podStopped(m *v1alpha1.GroupMember, memberID string) bool {
	return m.Spec.Presence == nil || m.Spec.Presence.Stopped || !strings.HasSuffix(memberID, m.Spec.Incarnation)
}

// holdsOf is everything that an object still mentions as held, ended or not.
func holdsOf(m *v1alpha1.GroupMember) map[Copy]bool {
	holds := map[Copy]bool{}
	if m == nil {
		return holds
	}
	eachCopy(assigned(m), func(c Copy, _ int64) { holds[c] = true })
	for i := range m.Status.Revoking {
		eachCopy(m.Status.Revoking[i].TopicPartitions, func(c Copy, _ int64) { holds[c] = true })
	}
	return holds
}

// eachHeldBy visits what a member holds with the memberID that holds it.
func eachHeldBy(m *v1alpha1.GroupMember, visit func(Copy, string, *v1alpha1.Revocation)) {
	eachCopy(assigned(m), func(c Copy, _ int64) { visit(c, m.Status.MemberID, nil) })
	for i := range m.Status.Revoking {
		entry := &m.Status.Revoking[i]
		if !acknowledged(m, entry) {
			eachCopy(entry.TopicPartitions, func(c Copy, _ int64) { visit(c, entry.MemberID, entry) })
		}
	}
}

func memberByUID(members []*v1alpha1.GroupMember, uid types.UID) *v1alpha1.GroupMember {
	for _, m := range members {
		if m.UID == uid {
			return m
		}
	}
	return nil
}

// ownedBy: a member of another life of the group, or of another owner, is not the group's business.
func ownedBy(m *v1alpha1.GroupMember, group *v1alpha1.ConsumerGroup) bool {
	for i := range m.OwnerReferences {
		if owner := &m.OwnerReferences[i]; owner.Controller != nil && *owner.Controller {
			return owner.UID == group.UID
		}
	}
	return true
}
