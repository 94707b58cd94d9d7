package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// named is somebody who may be called by more than one name; the first is how a message calls him.
type named []string

// expectHeld says who holds a partition in the objects.
func (p *player) expectHeld(view *View, command *Command) error {
	wanted, err := onePartition(command.Args[1])
	if err != nil {
		return err
	}
	var holders []named
	for _, member := range view.membersOf(p.group) {
		eachCopy(assignmentOf(member), func(c copyOf, _ int64) {
			if c.partition == wanted {
				holders = append(holders, named{view.nameOf(member)})
			}
		})
	}
	return expectNames("held "+command.Args[1], command.Args[2], holders)
}

// expectWorking says which processes work on a partition now.
func (p *player) expectWorking(view *View, command *Command) error {
	wanted, err := onePartition(command.Args[1])
	if err != nil {
		return err
	}
	var workers []named
	for _, worker := range view.Workers {
		if worker.Works[p.group][wanted] {
			workers = append(workers, named{worker.Handle, worker.Member})
		}
	}
	return expectNames("working "+command.Args[1], command.Args[2], workers)
}

// expectNames compares a list of names, `none` for nobody, with those who are there. The order does not matter.
func expectNames(what, wanted string, actual []named) error {
	same := func(text string) bool {
		names := splitList(text)
		if text == "none" {
			names = nil
		}
		left := slices.Clone(actual)
		for _, name := range names {
			at := slices.IndexFunc(left, func(one named) bool { return slices.Contains(one, name) })
			if at < 0 {
				return false
			}
			left = slices.Delete(left, at, at+1)
		}
		return len(left) == 0
	}
	if matchesBy(wanted, same) {
		return nil
	}
	shown := "none"
	if len(actual) > 0 {
		var first []string
		for _, one := range actual {
			first = append(first, one[0])
		}
		slices.Sort(first)
		shown = strings.Join(first, ",")
	}
	return differs(what, wanted, shown)
}

// expectToken remembers the greatest token of a partition, and wants it greater than the last time.
func (p *player) expectToken(view *View, command *Command) error {
	wanted, err := onePartition(command.Args[1])
	if err != nil {
		return err
	}
	if command.Args[2] != ">last" {
		return fmt.Errorf("want >last, not %q", command.Args[2])
	}
	token := int64(0)
	for _, member := range view.membersOf(p.group) {
		eachCopy(assignmentOf(member), func(c copyOf, held int64) {
			if c.partition == wanted {
				token = max(token, held)
			}
		})
	}
	if token == 0 {
		return fmt.Errorf("nobody holds %s", command.Args[1])
	}
	key := p.group + "/" + command.Args[1]
	before := p.tokens[key]
	p.tokens[key] = token
	if token <= before {
		return fmt.Errorf("the token of %s is %d, not above %d", command.Args[1], token, before)
	}
	return nil
}

// expectHistory counts the plans of the group's present life.
func (p *player) expectHistory(view *View, command *Command) error {
	group, count := view.group(p.group), 0
	for _, plan := range view.Plans {
		if group != nil && metav1.IsControlledBy(plan, group) {
			count++
		}
	}
	return expectNumber("history", command.Args[1], count)
}

// expectSpread compares the shares of those who may take something.
func (p *player) expectSpread(view *View, command *Command) error {
	group := view.group(p.group)
	if group == nil {
		return fmt.Errorf("group %s is absent", p.group)
	}
	var counts []int
	for _, member := range view.membersOf(p.group) {
		if member.Status.State == v1alpha1.MemberActive && takesAny(group, member) {
			counts = append(counts, countCopies(assignmentOf(member)))
		}
	}
	if len(counts) == 0 {
		return errors.New("nobody may take anything")
	}
	wanted, _ := command.Get("max-min")
	if _, err := strconv.Atoi(wanted); err == nil {
		wanted = "=" + wanted
	}
	return expectNumber("max-min", wanted, slices.Max(counts)-slices.Min(counts))
}

// takesAny: the member has capacity, and subscribes to a topic that there is.
func takesAny(group *v1alpha1.ConsumerGroup, member *v1alpha1.GroupMember) bool {
	if member.Spec.Capacity != nil && *member.Spec.Capacity == 0 {
		return false
	}
	return slices.ContainsFunc(group.Spec.Topics, func(topic v1alpha1.TopicSpec) bool {
		return len(member.Spec.Topics) == 0 || slices.Contains(member.Spec.Topics, topic.Name)
	})
}
