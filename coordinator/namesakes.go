package coordinator

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Two objects want one static name: who was there first keeps it, the other is told and reported.

// Rival is a pod that bears the name of a member that registered itself, and so cannot become one.
type Rival struct {
	// Pod is its name, Node where it runs.
	Pod, Node string
}

// static: the member is known by its name.
func (v *view) static(m *member) bool { return m.Spec.MemberName != "" && !v.namesIgnored(m) }

// namesIgnored: the manager runs without static membership. The names of pods that have one already end with their pods, by
// the word of their controller.
func (v *view) namesIgnored(m *member) bool { return v.Config.NoStaticMembership && selfRegistered(m) }

// nameTaken: another object bore this static name before.
func (v *view) nameTaken(m *member) verdict {
	first := v.firstOf(m)
	if first == nil || first == m {
		return verdict{}
	}
	return verdict{v1alpha1.ReasonNameTaken, fmt.Sprintf(
		"GroupMember %s has the name %s already: give this member another, or delete that one", first.Name, m.Spec.MemberName)}
}

// firstOf is the oldest object of the member's static name that has not ended; nil for a dynamic member.
func (v *view) firstOf(m *member) *member {
	if !v.static(m) {
		return nil
	}
	if v.firstByName == nil {
		v.firstByName = make(map[string]*member, len(v.members))
		for _, other := range v.members {
			if before := v.firstByName[other.Spec.MemberName]; v.keepsName(other) && (before == nil || older(other, before)) {
				v.firstByName[other.Spec.MemberName] = other
			}
		}
	}
	return v.firstByName[m.Spec.MemberName]
}

// keepsName: to have left, or to be on the way out, gives the name up.
func (v *view) keepsName(m *member) bool {
	return v.static(m) && !leaving(m) && m.Status.State != v1alpha1.MemberDead
}

// older by creation; members are in the order of their objects' names.
func older(a, b *member) bool { return a.CreationTimestamp.Time.Before(b.CreationTimestamp.Time) }

// rivalUntold: the member's condition does not say, or no longer rightly, that a pod bears its name.
func (v *view) rivalUntold(m *member) bool {
	told := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.NamesUnique)
	_, rival := v.Rivals[m.Name]
	return told != nil && v.static(m) && rival != (told.Reason == v1alpha1.ReasonNameTaken)
}

// namesIgnoredUntold: the manager has begun, or ceased, to ignore names.
func (v *view) namesIgnoredUntold(m *member) bool {
	told := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.NamesUnique)
	return told != nil && v.namesIgnored(m) != (told.Reason == v1alpha1.ReasonStaticMembershipOff)
}

func namesOff() metav1.Condition {
	return condition(v1alpha1.NamesUnique, true, v1alpha1.ReasonStaticMembershipOff,
		"the manager runs with --static-membership=false: names are accepted and ignored, every member is dynamic")
}

// rivalry is what a member's condition says of the pod that bears its name.
func rivalry(r Rival) string {
	where := ""
	if r.Node != "" {
		where = " on " + r.Node
	}
	return fmt.Sprintf("pod %s%s bears this name too and is no member: rename one of the two, or delete this GroupMember", r.Pod, where)
}

// succeed: another incarnation has come. It takes its name's place over, where names count.
func (v *view) succeed(m *member) *draft {
	if v.namesIgnored(m) && inGeneration(m.Status.State) {
		return v.replaceNameless(m)
	}
	return v.takeOver(m)
}

// replaceNameless: with names ignored, a process that comes under the name of another is a new member. What the former holds
// ends as that of anyone who has left without a word.
func (v *view) replaceNameless(m *member) *draft {
	d := v.draft(m)
	d.gone(v, v1alpha1.MemberLeaving)
	v.revokeAll(d)
	d.status().State = v1alpha1.MemberPending
	v.adoptIncarnation(d)
	d.status().Takeover = nil
	d.asking(v)
	return d
}
