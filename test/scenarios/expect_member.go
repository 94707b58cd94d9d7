package scenarios

import (
	"fmt"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

var memberKeys = []string{
	"state", "presence", "generation", "revision", "reason", "assigned", "pending", "revoking", "bytes", "count", "memberid",
}

func (p *player) expectMember(view *View, command *Command) error {
	name := command.Args[1]
	member := view.member(p.group, name)
	if len(command.Args) == 3 {
		if member != nil {
			return fmt.Errorf("member %s is there, %s", name, member.Status.State)
		}
		return nil
	}
	if member == nil {
		return fmt.Errorf("member %s is absent", name)
	}
	return eachOption(command, func(key, wanted string) error {
		if key == "memberid" {
			return p.expectMemberID(name, wanted, member.Status.MemberID)
		}
		return memberHas(member, key, wanted)
	})
}

func memberHas(member *v1alpha1.GroupMember, key, wanted string) error {
	status := &member.Status
	switch key {
	case "state":
		return expectText(key, wanted, string(status.State))
	case "presence":
		return expectPresence(wanted, member.Spec.Presence)
	case "generation":
		return expectNumber(key, wanted, status.Generation)
	case "revision":
		return expectNumber(key, wanted, status.Revision)
	case "reason":
		return expectReason(wanted, member)
	case "assigned":
		return expectPartitions(key, wanted, partitionsOf(assignmentOf(member)))
	case "pending":
		return expectPartitions(key, wanted, partitionsOf(status.Pending))
	case "revoking":
		return expectRevoking(wanted, member)
	case "bytes":
		return expectText(key, wanted, bytesOf(member))
	case "count":
		return expectNumber(key, wanted, countCopies(assignmentOf(member)))
	default:
		return expectCondition(status.Conditions, key, wanted)
	}
}

// expectPresence takes the state, or the reason that tells more.
func expectPresence(wanted string, presence *v1alpha1.Presence) error {
	if presence == nil {
		return expectText("presence", wanted, "")
	}
	is := func(text string) bool { return text == string(presence.State) || text == presence.Reason }
	if !matchesBy(wanted, is) {
		return differs("presence", wanted, fmt.Sprintf("%s/%s", presence.State, presence.Reason))
	}
	return nil
}

// expectReason looks at the reasons of all conditions.
func expectReason(wanted string, member *v1alpha1.GroupMember) error {
	var reasons []string
	for _, condition := range member.Status.Conditions {
		reasons = append(reasons, condition.Reason)
	}
	has := func(text string) bool {
		for _, reason := range reasons {
			if reason == text {
				return true
			}
		}
		return false
	}
	if !matchesBy(wanted, has) {
		return differs("reason", wanted, strings.Join(reasons, ","))
	}
	return nil
}

// expectRevoking looks at what stands there. What has ended by its member's word may still stand until the member's next
// write, so without it is as good.
func expectRevoking(wanted string, member *v1alpha1.GroupMember) error {
	all, open := map[partition]bool{}, map[partition]bool{}
	word := member.Spec.Acknowledged
	for _, revoked := range member.Status.Revoking {
		ended := word != nil && word.MemberID == revoked.MemberID && (word.Final || word.Revision >= revoked.Revision)
		for one := range partitionsOf(revoked.TopicPartitions) {
			all[one] = true
			if !ended {
				open[one] = true
			}
		}
	}
	return expectPartitions("revoking", wanted, all, open)
}

// bytesOf is the leader's answer to a member.
func bytesOf(member *v1alpha1.GroupMember) string {
	if member.Status.Assignment == nil {
		return ""
	}
	return string(member.Status.Assignment.State)
}

func countCopies(entries []v1alpha1.TopicPartitions) int {
	count := 0
	for _, entry := range entries {
		count += len(entry.Partitions)
	}
	return count
}

// expectMemberID compares with the one last asked for; the first time there is nothing to compare with.
func (p *player) expectMemberID(name, wanted, actual string) error {
	key := p.group + "/" + name
	before, known := p.memberIDs[key]
	if actual != "" {
		p.memberIDs[key] = actual
	}
	same := before == actual
	is := func(text string) bool {
		switch text {
		case "same":
			return !known || same
		case "new":
			return !known || !same
		}
		return text == actual
	}
	if !matchesBy(wanted, is) {
		return fmt.Errorf("memberid is %q and was %q, expected %s", actual, before, wanted)
	}
	return nil
}
