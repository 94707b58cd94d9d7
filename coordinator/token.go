package coordinator

import (
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Fencing tokens. A grant's token is above every token under which its copy was held before, across plans, takeovers,
// and the deletion and re-creation of members and groups; a store refuses what is smaller than the last it has seen.

// generationShift leaves room for 2^15 takeovers within one generation.
const generationShift = 15

var tokenEpoch = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// tokenBaseAt is the base of a group first seen at that instant: hundredths of a second since 2020.
func tokenBaseAt(now time.Time) int64 { return int64(now.Sub(tokenEpoch) / (10 * time.Millisecond)) }

// generationToken is the least token of a grant of that generation.
func (v *view) generationToken(generation int64) int64 {
	return (v.status.TokenBase + generation) << generationShift
}

// grantToken is the token of a grant to a member, given its lastToken as the same write leaves it.
func (v *view) grantToken(lastToken int64) int64 {
	return max(v.generationToken(v.plan.Generation), lastToken+1)
}

func greatestToken(list []v1alpha1.TopicPartitions) int64 {
	var greatest int64
	for i := range list {
		greatest = max(greatest, list[i].Token)
	}
	return greatest
}

// tokenOf is the greatest token that stands in a member's object.
func tokenOf(st *v1alpha1.GroupMemberStatus) int64 {
	greatest := st.LastToken
	if st.Assignment != nil {
		greatest = max(greatest, greatestToken(st.Assignment.TopicPartitions), st.Assignment.Token)
	}
	for i := range st.Revoking {
		greatest = max(greatest, greatestToken(st.Revoking[i].TopicPartitions))
	}
	return greatest
}

// baseAbove is the token base from which the next generation's token is above the given one.
func (v *view) baseAbove(token int64) int64 {
	next := v.nextGeneration()
	return max(v.status.TokenBase, token>>generationShift+1-next)
}

// baseForPlan is the token base that the next plan needs.
func (v *view) baseForPlan() int64 {
	base := v.status.TokenBase
	for _, m := range v.members {
		base = max(base, v.baseAbove(tokenOf(&m.Status)))
	}
	return base
}

// nextGeneration is one more than the greatest that anything bears.
func (v *view) nextGeneration() int64 {
	greatest := v.generation
	for _, p := range v.Plans {
		greatest = max(greatest, p.Generation())
	}
	for _, m := range v.members {
		if m.Status.Left != nil {
			greatest = max(greatest, m.Status.Left.Generation)
		}
	}
	return greatest + 1
}
