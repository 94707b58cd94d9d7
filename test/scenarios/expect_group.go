package scenarios

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

var groupKeys = []string{
	"state", "generation", "protocol", "leader", "members", "available", "partitions", "assigned", "ready", "reason", "request",
}

func (p *player) expectGroup(view *View, command *Command) error {
	group := view.group(p.group)
	if len(command.Args) == 2 {
		if group != nil {
			return fmt.Errorf("group %s is there, %s", p.group, stateOf(group))
		}
		return nil
	}
	if group == nil {
		return fmt.Errorf("group %s is absent", p.group)
	}
	return eachOption(command, func(key, wanted string) error { return groupHas(group, key, wanted) })
}

func groupHas(group *v1alpha1.ConsumerGroup, key, wanted string) error {
	status := &group.Status
	numbers := map[string]int64{
		"generation": status.Generation, "members": int64(status.Members), "available": int64(status.AvailableMembers),
		"partitions": int64(status.Partitions), "assigned": int64(status.AssignedPartitions),
	}
	if number, isNumber := numbers[key]; isNumber {
		return expectNumber(key, wanted, number)
	}
	switch key {
	case "state":
		return expectText(key, wanted, stateOf(group))
	case "protocol":
		return expectText(key, wanted, status.Protocol)
	case "leader":
		return expectText(key, wanted, status.Leader)
	case "reason":
		return expectContained(key, wanted, reasonOf(status))
	case "request":
		return expectText(key, wanted, requestOf(status))
	case "ready":
		return expectCondition(status.Conditions, v1alpha1.GroupReady, wanted)
	default:
		return expectCondition(status.Conditions, key, wanted)
	}
}

// reasonOf the open round, or of the last one.
func reasonOf(status *v1alpha1.ConsumerGroupStatus) string {
	switch {
	case status.Rebalance != nil:
		return status.Rebalance.Reason
	case status.LastRebalance != nil:
		return status.LastRebalance.Reason
	}
	return ""
}

// requestOf is the outcome and the reason of the last forced rebalance.
func requestOf(status *v1alpha1.ConsumerGroupStatus) string {
	if status.RebalanceRequest == nil {
		return ""
	}
	return string(status.RebalanceRequest.Outcome) + ":" + status.RebalanceRequest.Reason
}

func expectContained(what, wanted, actual string) error {
	if !matchesBy(wanted, func(text string) bool { return strings.Contains(actual, text) }) {
		return differs(what, wanted, actual)
	}
	return nil
}

// expectCondition compares a condition's status, in upper or lower case; a condition that is not there has none.
func expectCondition(conditions []metav1.Condition, kind, wanted string) error {
	actual := ""
	if found := meta.FindStatusCondition(conditions, kind); found != nil {
		actual = string(found.Status)
	}
	if !matchesBy(wanted, func(text string) bool { return strings.EqualFold(text, actual) }) {
		return differs(kind, wanted, actual)
	}
	return nil
}
