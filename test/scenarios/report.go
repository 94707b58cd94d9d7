package scenarios

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func writeGroup(text *strings.Builder, group *v1alpha1.ConsumerGroup) {
	status := &group.Status
	fmt.Fprintf(text, "  group %s: %s generation=%d members=%s partitions=%s",
		group.Name, stateOf(group), status.Generation, status.MemberSummary, status.PartitionSummary)
	if open := status.Rebalance; open != nil {
		fmt.Fprintf(text, " rebalance=%q until %s", open.Reason, open.Deadline.UTC().Format("15:04:05.000"))
	}
	if last := status.LastRebalance; last != nil {
		fmt.Fprintf(text, " last=%q moved=%d", last.Reason, last.Moved)
	}
	if request := status.RebalanceRequest; request != nil {
		fmt.Fprintf(text, " request=%s:%s", request.Outcome, request.Reason)
	}
	fmt.Fprintln(text, showConditions(status.Conditions))
}

func writeMember(text *strings.Builder, view *View, member *v1alpha1.GroupMember) {
	status := &member.Status
	fmt.Fprintf(text, "  member %s (%s): %s generation=%d revision=%d", view.nameOf(member), status.MemberID, status.State, status.Generation, status.Revision)
	if presence := member.Spec.Presence; presence != nil {
		fmt.Fprintf(text, " presence=%s/%s since %s", presence.State, presence.Reason, presence.Since.UTC().Format("15:04:05.000"))
		if presence.Stopped {
			fmt.Fprint(text, " stopped")
		}
	}
	if member.DeletionTimestamp != nil {
		fmt.Fprint(text, " being deleted")
	}
	fmt.Fprintf(text, " assigned=%s", showPartitions(partitionsOf(assignmentOf(member))))
	if len(status.Pending) > 0 {
		fmt.Fprintf(text, " pending=%s", showPartitions(partitionsOf(status.Pending)))
	}
	for _, revoked := range status.Revoking {
		fmt.Fprintf(text, " revoking=%s (of %s, revision %d)", showPartitions(partitionsOf(revoked.TopicPartitions)), revoked.MemberID, revoked.Revision)
	}
	if word := member.Spec.Acknowledged; word != nil {
		fmt.Fprintf(text, " acknowledged=%d", word.Revision)
		if word.Final {
			fmt.Fprint(text, " final")
		}
	}
	fmt.Fprintln(text, showConditions(status.Conditions))
}

func writeWorker(text *strings.Builder, worker *Worker, group string) {
	works := showPartitions(worker.Works[group])
	switch {
	case worker.Pod:
		fmt.Fprintf(text, "  pod %s works on %s\n", worker.Handle, orNothing(works))
	case worker.Group == group:
		fmt.Fprintf(text, "  process %s (%s): error=%s works on %s\n", worker.Handle, worker.Object, worker.Error, orNothing(works))
	}
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

func showConditions(conditions []metav1.Condition) string {
	var parts []string
	for _, condition := range conditions {
		parts = append(parts, fmt.Sprintf("%s=%s/%s", condition.Type, condition.Status, condition.Reason))
	}
	if len(parts) == 0 {
		return ""
	}
	return " [" + strings.Join(parts, " ") + "]"
}

// stateOf a group; no state yet reads as Initialize.
func stateOf(group *v1alpha1.ConsumerGroup) string {
	if group.Status.State == "" {
		return string(v1alpha1.GroupInitialize)
	}
	return string(group.Status.State)
}
