package referee

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Settled judges a group for which a coordinator that has seen everything has nothing to do at this instant: what Stable
// claims must be so. A group that waits for something is left alone.
func (r *Referee) Settled(v View, step string) error {
	verdict := &verdict{}
	if v.Group != nil && v.Group.DeletionTimestamp == nil && v.Group.Status.State == v1alpha1.GroupStable && !justExpired(v) {
		r.checkStable(v, verdict)
	}
	return verdict.err(step)
}

// expiryGathering is how long a group may stay Stable after a session has expired: so long it waits for others that died
// with that one.
const expiryGathering = time.Second

func justExpired(v View) bool {
	return slices.ContainsFunc(v.Members, func(m *v1alpha1.GroupMember) bool {
		left := m.Status.Left
		return m.Status.State == v1alpha1.MemberDead && left != nil && v.Now.Before(left.Time.Add(expiryGathering))
	})
}

// Rest judges a group for which nothing will ever be due again: it must be Stable or Down (or paused, or gone), unless it
// waits for a person: under Exclusive only the end of its pod frees what a member has that cannot say that it has stopped.
func (r *Referee) Rest(v View, step string) error {
	verdict := &verdict{}
	if v.Group != nil && !v.Group.Spec.Paused {
		switch v.Group.Status.State {
		case v1alpha1.GroupStable:
			r.checkStable(v, verdict)
		case v1alpha1.GroupDown, "":
		default:
			if waitsForPod(v) {
				break
			}
			verdict.broken(7, "the group is at rest in state %s", v.Group.Status.State)
		}
		if v.Group.DeletionTimestamp != nil {
			verdict.broken(7, "the group is at rest, although it is to go")
		}
	}
	return verdict.err(step)
}

// waitsForPod: a pod still has what was taken from it, and cannot say that it has stopped or is no longer asked.
func waitsForPod(v View) bool {
	return v.Group.Spec.Handover.Policy == v1alpha1.HandoverExclusive && slices.ContainsFunc(v.Members, func(m *v1alpha1.GroupMember) bool {
		gone := m.DeletionTimestamp != nil || m.Status.State == v1alpha1.MemberDead || m.Status.State == v1alpha1.MemberLeaving
		holds, revoked := false, false
		eachHold(m, func(_ Copy, how string) {
			holds, revoked = true, revoked || how != "assignment"
		})
		mute := m.Spec.Acknowledgement == v1alpha1.AcknowledgeNone
		return (gone && holds || mute && revoked) && m.Spec.Presence != nil && !m.Spec.Presence.Stopped
	})
}

func (r *Referee) checkStable(v View, verdict *verdict) {
	status := &v.Group.Status
	for _, p := range v.Plans {
		if planOf(p, v.Group) && p.Generation() > status.Generation {
			verdict.broken(5, "Stable at generation %d, but there is plan %s", status.Generation, p.Revision.Name)
		}
	}
	if v.Group.Spec.AssignedBy == v1alpha1.AssignedByLeader {
		return
	}
	checkFullyAssigned(meta.FindStatusCondition(status.Conditions, v1alpha1.GroupFullyAssigned), missingCopies(v), verdict)
}

// checkFullyAssigned: the condition says what is so.
func checkFullyAssigned(condition *metav1.Condition, missing []Copy, verdict *verdict) {
	switch {
	case condition == nil:
		verdict.broken(5, "Stable without a condition %s", v1alpha1.GroupFullyAssigned)
	case len(missing) > 0 && condition.Status == metav1.ConditionTrue:
		verdict.broken(5, "Stable and fully assigned, but nobody who may holds %v", missing)
	case len(missing) > 0 && (condition.Reason == "" || condition.Message == ""):
		verdict.broken(5, "Stable, nobody holds %v, and %s does not say why", missing, v1alpha1.GroupFullyAssigned)
	case len(missing) == 0 && condition.Status != metav1.ConditionTrue:
		verdict.broken(5, "Stable, every copy is held, and %s is %s: %s", v1alpha1.GroupFullyAssigned, condition.Status, condition.Message)
	}
}

// missingCopies are those that no member of the generation that may hold them has in its assignment.
func missingCopies(v View) []Copy {
	held := map[Copy]bool{}
	for _, m := range v.Members {
		if m.Status.State != v1alpha1.MemberActive && m.Status.State != v1alpha1.MemberUnavailable {
			continue
		}
		eachCopy(assigned(m), func(c Copy, _ int64) {
			if mayHold(v, m, c.Topic) {
				held[c] = true
			}
		})
	}
	var missing []Copy
	for i := range v.Group.Spec.Topics {
		topic := &v.Group.Spec.Topics[i]
		for index := range max(topic.Replicas, 1) {
			for partition := range topic.Partitions {
				if c := (Copy{Topic: topic.Name, Index: index, Partition: partition}); !held[c] {
					missing = append(missing, c)
				}
			}
		}
	}
	return missing
}

// mayHold: it subscribes, or is pinned: under Exclusive a member that cannot acknowledge keeps what it has.
func mayHold(v View, m *v1alpha1.GroupMember, topic string) bool {
	pinned := v.Group.Spec.Handover.Policy == v1alpha1.HandoverExclusive && m.Spec.Acknowledgement == v1alpha1.AcknowledgeNone
	return pinned || len(m.Spec.Topics) == 0 || slices.Contains(m.Spec.Topics, topic)
}
