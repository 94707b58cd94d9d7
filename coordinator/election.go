package coordinator

import (
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Leader mode: who leads. The incumbent, if it is in the round and present; else one of those that joined, chosen by a hash,
// so that every coordinator chooses the same.

// elect names the leader of the next generation among its members.
func (v *view) elect(r *round, members []*member, generation int64) *member {
	present := slices.DeleteFunc(v.electable(r), func(m *member) bool { return !slices.Contains(members, m) })
	if len(present) == 0 {
		present = members
	}
	if others := v.notPassedOver(present); len(others) > 0 {
		present = others
	}
	if i := slices.IndexFunc(present, v.leads); i >= 0 {
		return present[i]
	}
	return slices.MinFunc(present, func(a, b *member) int {
		x, y := v.lot(a, generation), v.lot(b, generation)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return a.index - b.index
	})
}

// lot is what a member draws in the election of a generation.
func (v *view) lot(m *member, generation int64) uint64 {
	h := fnv.New64a()
	// A hash takes everything.
	_, _ = h.Write([]byte(string(v.Group.UID) + "/" + strconv.FormatInt(generation, 10) + "/" + memberID(m.GroupMember)))
	return h.Sum64()
}

// leads: the member leads the present generation. A static one that has restarted leads on under its new memberID.
func (v *view) leads(m *member) bool {
	if v.plan != nil {
		return m.named && v.plan.Leader == m.Name
	}
	return m.named && v.status.Leader != "" && v.status.Leader == leaderName(m)
}

// leader of the present generation, nil when it is not in it any more.
func (v *view) leader() *member {
	if i := slices.IndexFunc(v.members, v.leads); i >= 0 {
		return v.members[i]
	}
	return nil
}

// leaderName is how status.leader calls a member: a dynamic one by its memberID.
func leaderName(m *member) string {
	if m.Spec.MemberName != "" {
		return m.Spec.MemberName
	}
	return memberID(m.GroupMember)
}

// notPassedOver leaves out who has been silent as a leader of the generation before.
func (v *view) notPassedOver(members []*member) []*member {
	open := v.status.Rebalance
	if open == nil || v.status.State != v1alpha1.GroupJoining {
		return members
	}
	return slices.DeleteFunc(slices.Clone(members), func(m *member) bool { return slices.Contains(open.PassedOver, leaderName(m)) })
}
