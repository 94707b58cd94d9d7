package coordinator

import (
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// A round of Leader mode lasts, and always commits: members may have released already. What asked for it stands on the
// group, and goes into the plan with what asks at the commit.

// recordedCauses are those of the open round as the group tells them.
func (v *view) recordedCauses(r *round) []Cause {
	if !r.open {
		return nil
	}
	return parseCauses(v.status.Rebalance.Reason)
}

// parseCauses reads what describe has written. Names that were left out for length are lost.
func parseCauses(text string) []Cause {
	var causes []Cause
	for part := range strings.SplitSeq(text, "; ") {
		reason, names, _ := strings.Cut(part, " (")
		cause := Cause{Reason: v1alpha1.RebalanceReason(reason)}
		names, _, _ = strings.Cut(strings.TrimSuffix(names, ")"), " and ")
		if names != "" {
			cause.Names = strings.Split(names, ", ")
		}
		if reason != "" {
			causes = append(causes, cause)
		}
	}
	return causes
}

// mergeCauses adds causes to others, each name once.
func mergeCauses(causes, more []Cause) []Cause {
	for _, m := range more {
		i := slices.IndexFunc(causes, func(c Cause) bool { return c.Reason == m.Reason })
		if i < 0 {
			causes = append(causes, m)
			continue
		}
		names := slices.Concat(causes[i].Names, m.Names)
		slices.Sort(names)
		causes[i].Names = slices.Compact(names)
	}
	return causes
}
