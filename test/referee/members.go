package referee

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// checkMembers compares each member's object with how it was.
func (r *Referee) checkMembers(v View, verdict *verdict) {
	for _, m := range v.Members {
		before := r.lastMember(m.UID)
		if before == m {
			continue
		}
		r.checkIncarnation(m, verdict)
		if before != nil {
			checkRevision(before, m, verdict)
		}
	}
}

// checkIncarnation: the latest incarnation has the name. Also notes that a member has left.
func (r *Referee) checkIncarnation(m *v1alpha1.GroupMember, verdict *verdict) {
	known := r.members.get(m.UID)
	rec := known
	if rec.incarnation != m.Spec.Incarnation {
		if slices.Contains(rec.former, m.Spec.Incarnation) {
			verdict.broken(8, "former incarnation %s of %s is back", m.Spec.Incarnation, m.Name)
		}
		if rec.incarnation != "" {
			rec.former = append(slices.Clone(rec.former), rec.incarnation)
		}
		rec.incarnation = m.Spec.Incarnation
	}
	if m.Status.Left != nil {
		rec.left = max(rec.left, m.Status.Left.Generation)
	}
	if rec.incarnation != known.incarnation || rec.left != known.left {
		r.members.set(m.UID, rec)
	}
}

// checkRevision: a process acknowledges a revision, so two answers must never bear the same one.
func checkRevision(before, now *v1alpha1.GroupMember, verdict *verdict) {
	was, is := &before.Status, &now.Status
	if is.Revision < was.Revision {
		verdict.broken(8, "%s went from revision %d back to %d", now.Name, was.Revision, is.Revision)
	}
	if is.Revision == was.Revision && !sameAnswer(was, is) {
		verdict.broken(8, "%s got another answer under the same revision %d", now.Name, is.Revision)
	}
	if is.LastToken < was.LastToken {
		verdict.broken(3, "%s forgot lastToken %d: it is %d", now.Name, was.LastToken, is.LastToken)
	}
	if is.Generation < was.Generation {
		verdict.broken(2, "%s went from generation %d back to %d", now.Name, was.Generation, is.Generation)
	}
}

func sameAnswer(a, b *v1alpha1.GroupMemberStatus) bool {
	return equality.Semantic.DeepEqual(a.Assignment, b.Assignment) &&
		equality.Semantic.DeepEqual(a.Pending, b.Pending) &&
		equality.Semantic.DeepEqual(a.Revoking, b.Revoking)
}

// rebalanceTimeout of a member: its own, else the group's, else the API's default.
func rebalanceTimeout(group *v1alpha1.ConsumerGroup, m *v1alpha1.GroupMember) time.Duration {
	if m.Spec.RebalanceTimeout != nil {
		return m.Spec.RebalanceTimeout.Duration
	}
	if group.Spec.RebalanceTimeout != nil {
		return group.Spec.RebalanceTimeout.Duration
	}
	return time.Minute
}
