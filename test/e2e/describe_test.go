package e2e_test

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func describeGroup(group *v1alpha1.ConsumerGroup) string {
	status := &group.Status
	text := fmt.Sprintf("group %s: %s generation %d members %s partitions %s %s", group.Name, status.State, status.Generation,
		status.MemberSummary, status.PartitionSummary, describeConditions(status.Conditions))
	if round := status.Rebalance; round != nil {
		text += fmt.Sprintf(" round: %s until %s", round.Reason, round.Deadline.Format("15:04:05.000"))
	}
	if last := status.LastRebalance; last != nil {
		text += fmt.Sprintf(" last: %s moved %d", last.Reason, last.Moved)
	}
	if group.DeletionTimestamp != nil {
		text += " being deleted"
	}
	return text
}

func describeMember(member *v1alpha1.GroupMember) string {
	status := &member.Status
	text := fmt.Sprintf("member %s: %s %s generation %d revision %d holds %v", member.Name, status.State, status.MemberID,
		status.Generation, status.Revision, held(member))
	if len(status.Pending) > 0 {
		text += fmt.Sprintf(" pending %v", status.Pending)
	}
	if len(status.Revoking) > 0 {
		text += fmt.Sprintf(" revoking %v", status.Revoking)
	}
	if p := member.Spec.Presence; p != nil {
		text += fmt.Sprintf(" presence %s %s since %s stopped %t %s", p.State, p.Reason, p.Since.Format("15:04:05.000"), p.Stopped, p.Message)
	}
	if member.DeletionTimestamp != nil {
		text += " being deleted"
	}
	return text + " " + describeConditions(status.Conditions)
}

func describePod(pod *corev1.Pod) string {
	text := fmt.Sprintf("pod %s: %s on %s, UID %s, ready %t", pod.Name, pod.Status.Phase, pod.Spec.NodeName, pod.UID, podReady(pod))
	if pod.DeletionTimestamp != nil {
		text += " being deleted"
	}
	return text
}

func describeConditions(conditions []metav1.Condition) string {
	var all []string
	for _, c := range conditions {
		all = append(all, fmt.Sprintf("%s=%s(%s)", c.Type, c.Status, c.Reason))
	}
	return strings.Join(all, " ")
}

// summary is what matters of a version in a list of many.
func summary(object client.Object) string {
	switch o := object.(type) {
	case *v1alpha1.ConsumerGroup:
		return fmt.Sprintf(": %s generation %d", o.Status.State, o.Status.Generation)
	case *v1alpha1.GroupMember:
		presence := ""
		if p := o.Spec.Presence; p != nil {
			presence = string(p.State) + " " + p.Reason
		}
		return fmt.Sprintf(": %s, %s, revision %d, holds %d", o.Status.State, presence, o.Status.Revision, len(held(o)))
	case *corev1.Pod:
		return fmt.Sprintf(": %s, being deleted %t, ready %t", o.Status.Phase, o.DeletionTimestamp != nil, podReady(o))
	}
	return ""
}
