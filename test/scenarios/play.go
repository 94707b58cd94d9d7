package scenarios

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Mode says which expectations count.
type Mode int

const (
	// CheckAll is a plain run.
	CheckAll Mode = iota
	// CheckEnd is a run with added faults: only what comes after `finally` counts, save what counts since a mark.
	CheckEnd
)

// player plays one script in one world.
type player struct {
	world World
	mode  Mode
	// finally: the command has been seen.
	finally bool
	// group is the last that was named.
	group  string
	marked *mark
	// tokens and memberIDs are the last ones expected, by what they were asked for.
	tokens    map[string]int64
	memberIDs map[string]string
}

// mark is what `expect since` compares with.
type mark struct {
	holders             map[string]map[copyOf]string
	generations         map[string]int64
	writes, groupWrites int
	events              int
}

// copyOf is one copy of one partition.
type copyOf struct {
	partition
	index int32
}

// Play plays a script. The error names the line that failed, with what the world shows there.
func Play(script *Script, world World, mode Mode) error {
	p := &player{world: world, mode: mode, tokens: map[string]int64{}, memberIDs: map[string]string{}}
	for _, command := range script.Commands {
		err := p.step(command)
		if broken := world.Err(); broken != nil {
			err = errors.Join(err, broken)
		}
		if err != nil {
			return fmt.Errorf("%s: %s\n%w\n%s", command.Where(), command.Text, err, p.report())
		}
	}
	return nil
}

func (p *player) step(command Command) error {
	switch command.Verb {
	case "mark":
		p.marked = newMark(p.world.View())
		return nil
	case "expect":
		return p.expect(command)
	case "group":
		p.group = command.Args[0]
	case "finally":
		p.finally = true
	}
	err := p.world.Do(command)
	switch {
	case p.mode == CheckEnd:
		return nil // What a command is about may not be there yet, or not any more.
	case command.Refused:
		return p.refused(err)
	}
	return err
}

// refused: only a refusal is what was expected.
func (p *player) refused(err error) error {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return nil
	case err != nil:
		return err
	}
	return errors.New("the API did not refuse it")
}

// expect checks one expectation. One that does not count is looked at all the same where it may remember something.
func (p *player) expect(command Command) error {
	if p.mode == CheckAll || p.finally && command.Args[0] != "since" {
		return p.check(command)
	}
	if remembers(&command) {
		_ = p.check(command) // Only what comes later compares with it.
	}
	return nil
}

func remembers(command *Command) bool {
	_, memberID := command.Get("memberid")
	return memberID || command.Args[0] == "token"
}

func newMark(view View) *mark {
	m := &mark{
		holders: map[string]map[copyOf]string{}, generations: map[string]int64{},
		writes: view.Writes, groupWrites: view.GroupWrites, events: len(view.Events),
	}
	for _, group := range view.Groups {
		m.holders[group.Name] = holders(&view, group.Name)
		m.generations[group.Name] = group.Status.Generation
	}
	return m
}

// holders says who has each copy in its assignment.
func holders(view *View, group string) map[copyOf]string {
	held := map[copyOf]string{}
	for _, member := range view.membersOf(group) {
		eachCopy(assignmentOf(member), func(c copyOf, _ int64) { held[c] = view.nameOf(member) })
	}
	return held
}

func assignmentOf(member *v1alpha1.GroupMember) []v1alpha1.TopicPartitions {
	if member.Status.Assignment == nil {
		return nil
	}
	return member.Status.Assignment.TopicPartitions
}

func eachCopy(entries []v1alpha1.TopicPartitions, visit func(copyOf, int64)) {
	for _, entry := range entries {
		for _, number := range entry.Partitions {
			visit(copyOf{partition{entry.Topic, number}, entry.Copy}, entry.Token)
		}
	}
}

// partitionsOf forgets copy indexes.
func partitionsOf(entries []v1alpha1.TopicPartitions) map[partition]bool {
	found := map[partition]bool{}
	eachCopy(entries, func(c copyOf, _ int64) { found[c.partition] = true })
	return found
}

// report shows the group, its members and the newest writes, for a person who wants to know why.
func (p *player) report() string {
	view := p.world.View()
	var text strings.Builder
	fmt.Fprintf(&text, "at %s\n", view.Now.UTC().Format("15:04:05.000"))
	if group := view.group(p.group); group != nil {
		writeGroup(&text, group)
	} else {
		fmt.Fprintf(&text, "  group %s: absent\n", p.group)
	}
	for _, member := range view.membersOf(p.group) {
		writeMember(&text, &view, member)
	}
	for i := range view.Workers {
		writeWorker(&text, &view.Workers[i], p.group)
	}
	fmt.Fprintln(&text, "  last writes:")
	for _, line := range view.LastWrites() {
		fmt.Fprintf(&text, "    %s\n", line)
	}
	return text.String()
}
