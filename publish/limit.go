package publish

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// MaxDocuments is how many bytes all documents of a pod may have together. Kubernetes allows 256 KiB for all annotations of
// an object, keys included; the rest is left to others.
const MaxDocuments = 200 << 10

const reasonTruncated = "AssignmentTruncated"

// limit truncates the longest documents until all fit: they keep who is meant and at which revision, and lose their lists.
func (d *desk) limit(told []*teller) {
	size := map[*teller]int{}
	total := 0
	for _, t := range told {
		if t.annotated {
			size[t] = len(marshal(&t.document))
			total += size[t]
		}
	}
	longest := slices.SortedStableFunc(slices.Values(told), func(a, b *teller) int { return cmp.Compare(size[b], size[a]) })
	for _, t := range longest {
		if total <= MaxDocuments || !t.annotated {
			break
		}
		truncate(&t.document)
		total += len(marshal(&t.document)) - size[t]
		d.reportTruncated(t)
	}
	slices.Sort(d.Truncated)
}

func truncate(document *v1alpha1.AssignmentDocument) {
	document.TopicPartitions = []v1alpha1.DocumentPartitions{}
	document.Pending = []v1alpha1.DocumentPartitions{}
	document.Revoking = []v1alpha1.DocumentPartitions{}
	document.State = nil
	document.Truncated = true
}

func (d *desk) reportTruncated(t *teller) {
	d.Truncated = append(d.Truncated, t.group.Name)
	d.Events = append(d.Events, Event{
		Key:     reasonTruncated + "/" + string(d.Pod.UID) + "/" + t.group.Name,
		About:   d.Pod,
		Warning: true,
		Reason:  reasonTruncated,
		Message: fmt.Sprintf("the assignment in ConsumerGroup %s is too long for the pod's annotations (%d KiB for all groups): read "+
			"status.assignment of GroupMember %s, or run the agent", t.group.Name, MaxDocuments>>10, t.member.Name),
	})
}
