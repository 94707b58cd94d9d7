package coordinator

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// verdict says whether a member may be in the generation; an empty reason means accepted.
type verdict struct {
	reason, message string
}

func (d verdict) accepted() bool { return d.reason == "" }

// Whether a member is accepted is a pure function of the group's spec, the members that stay in the generation and those
// who asked before it. It is asked anew at every decision, so a place freed by a leaver is used in the leaver's own round.

// judge gives the verdict on every outsider that asks to join.
func (v *view) judge() map[*member]verdict {
	outsiders := v.outsiders()
	if len(outsiders) == 0 {
		return nil
	}
	staying := v.staying()
	return v.judgeInOrder(outsiders, staying, staying)
}

// judgeAll gives the verdict on everybody for a commit: those in the generation first, oldest first, then who asks.
func (v *view) judgeAll() map[*member]verdict {
	staying := v.staying()
	return v.judgeInOrder(append(oldestFirst(staying), v.outsiders()...), nil, staying)
}

func oldestFirst(members []*member) []*member {
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b *member) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return sorted
}

// judgeInOrder gives the verdict on candidates beside those who are in for certain; those who stay have agreed on protocols
// before anybody else is asked.
func (v *view) judgeInOrder(candidates, in, staying []*member) map[*member]verdict {
	verdicts := make(map[*member]verdict, len(candidates))
	size := v.planSize(in)
	places := len(in)
	protocols, misfits := v.agreementOf(staying)
	for _, m := range candidates {
		d := v.fits(m)
		if d.accepted() {
			d = protocols.judge(m, misfits)
		}
		if limit := v.Group.Spec.MaxMembers; d.accepted() && limit > 0 && places >= int(limit) {
			d = verdict{v1alpha1.ReasonGroupMaxSizeReached, fmt.Sprintf(
				"the group has its maxMembers of %d: raise it, or wait for a member to leave", limit)}
		}
		if d.accepted() && !m.stays() && size+planBytes(m) > maxPlanBytes {
			d = verdict{
				v1alpha1.ReasonGroupTooLarge,
				"the plan would not fit into one object: use fewer or shorter member names, or fewer copies",
			}
		}
		if d.accepted() {
			places++
			protocols.narrow(m)
			size += planBytes(m)
		}
		verdicts[m] = d
	}
	return verdicts
}

// fits judges a member by itself.
func (v *view) fits(m *member) verdict {
	if v.unserved(m) {
		return verdict{v1alpha1.ReasonNotServed, "this manager does not serve members that registered themselves: " +
			"annotate a StatefulSet or Deployment with " + v1alpha1.GroupAnnotation + " instead"}
	}
	if taken := v.nameTaken(m); !taken.accepted() {
		return taken
	}
	if v.leaderMode() && v.cannotAcknowledge(m) {
		return verdict{v1alpha1.ReasonCannotJoin, "its pod cannot release and join: the pod template needs an agent, or " +
			v1alpha1.AcknowledgesAnnotation + ": \"true\" and a process that takes part itself"}
	}
	if own := m.Spec.SessionTimeout; own != nil && !v.withinSessionBounds(own.Duration) {
		return verdict{v1alpha1.ReasonInvalidSessionTimeout, fmt.Sprintf(
			"sessionTimeout %s is outside the manager's bounds: choose one from %s to %s",
			own.Duration, v.Config.SessionMin, v.Config.SessionMax)}
	}
	if own := m.Spec.RebalanceTimeout; own != nil && (own.Duration < minRebalanceTimeout || own.Duration > maxRebalanceTimeout) {
		return verdict{v1alpha1.ReasonInvalidRebalanceTimeout, fmt.Sprintf(
			"rebalanceTimeout %s is out of bounds: choose one from %s to %s",
			own.Duration, minRebalanceTimeout, maxRebalanceTimeout)}
	}
	return verdict{}
}

func (v *view) unserved(m *member) bool { return selfRegistered(m) && !v.Config.ServeSelfRegistered }

// outsiders are the members outside the generation that ask to join, in the order in which they asked.
func (v *view) outsiders() []*member {
	var list []*member
	for _, m := range v.members {
		if v.asks(m) {
			list = append(list, m)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return v.askedBefore(list[i], list[j]) })
	return list
}

func (v *view) askedBefore(a, b *member) bool {
	return v.askedAt(a).Before(v.askedAt(b))
}

func (v *view) askedAt(m *member) time.Time {
	if m.Status.AskingSince == nil {
		return v.Now
	}
	return m.Status.AskingSince.Time
}

// asks: the member is present, is not in the generation and wants to be. A self-registered one that is Dead asks again
// only as a new incarnation. One that the last commit left out asks again whether present or not.
func (v *view) asks(m *member) bool {
	if m.stays() || leaving(m) {
		return false
	}
	if v.unserved(m) || inGeneration(m.Status.State) && !m.named {
		return true
	}
	if selfRegistered(m) && m.Status.State == v1alpha1.MemberDead && !restarted(m) {
		return false
	}
	return v.available(m)
}

// A plan is one object and must stay below etcd's limit. Bounds: 8 bytes a copy, 120 and its name for a member.
const maxPlanBytes = 5 << 18

func (v *view) planSize(members []*member) int {
	size := 0
	if !v.leaderMode() {
		size = 8 * int(v.copiesWanted())
	}
	for _, m := range members {
		size += planBytes(m)
	}
	return size
}

func planBytes(m *member) int { return 120 + len(m.Name) + len(m.Spec.MemberName) }

// copiesWanted is the sum of partitions x replicas.
func (v *view) copiesWanted() int32 {
	var n int32
	for i := range v.Group.Spec.Topics {
		t := &v.Group.Spec.Topics[i]
		n += t.Partitions * replicas(t)
	}
	return n
}
