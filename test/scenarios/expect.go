package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// expectation of one kind: how many words follow `expect`, which keys there are, and how it is checked.
type expectation struct {
	least, most int
	// keys are the known ones; conditions (in CamelCase) may stand beside them where conditions is set. None: no options.
	keys       []string
	conditions bool
	check      func(*player, *View, *Command) error
}

var expectations map[string]expectation

func init() {
	expectations = map[string]expectation{
		"group":   {least: 1, most: 2, keys: groupKeys, conditions: true, check: (*player).expectGroup},
		"member":  {least: 2, most: 3, keys: memberKeys, conditions: true, check: (*player).expectMember},
		"handle":  {least: 2, most: 2, keys: []string{"error", "working", "proven"}, check: (*player).expectHandle},
		"since":   {least: 1, most: 1, keys: []string{"moved", "generations", "writes", "group-writes"}, check: (*player).expectSince},
		"held":    {least: 3, most: 3, check: (*player).expectHeld},
		"working": {least: 3, most: 3, check: (*player).expectWorking},
		"token":   {least: 3, most: 3, check: (*player).expectToken},
		"history": {least: 2, most: 2, check: (*player).expectHistory},
		"event":   {least: 2, most: 3, check: (*player).expectEvent},
		"spread":  {least: 1, most: 1, keys: []string{"max-min"}, check: (*player).expectSpread},
	}
}

var conditionType = regexp.MustCompile(`^[A-Z][A-Za-z]*$`)

// checkExpect checks the form of an expectation when the file is parsed.
func checkExpect(c *Command) error {
	rules, known := expectations[c.Args[0]]
	if !known {
		return fmt.Errorf("unknown expectation %q", c.Args[0])
	}
	if len(c.Args) < rules.least || len(c.Args) > rules.most {
		return fmt.Errorf("expect %s takes %d to %d words, not %d", c.Args[0], rules.least-1, rules.most-1, len(c.Args)-1)
	}
	if len(c.Args) == rules.most && rules.conditions && c.Args[len(c.Args)-1] != "absent" {
		return errors.New("want KEY=VALUE or absent")
	}
	if (len(rules.keys) > 0) != (len(c.Options) > 0) && !slices.Contains(c.Args, "absent") {
		return fmt.Errorf("expect %s: want KEY=VALUE of %s", c.Args[0], strings.Join(rules.keys, ", "))
	}
	for _, option := range c.Options {
		if err := rules.checkOption(option); err != nil {
			return fmt.Errorf("expect %s: %w", c.Args[0], err)
		}
	}
	return nil
}

func (e *expectation) checkOption(option Option) error {
	isCondition := e.conditions && conditionType.MatchString(option.Key)
	if !isCondition && !slices.Contains(e.keys, option.Key) {
		return fmt.Errorf("unknown key %q; known are %s", option.Key, strings.Join(e.keys, ", "))
	}
	return checkExpected(option)
}

// checkExpected checks the values that have a form.
func checkExpected(option Option) error {
	switch option.Key {
	case "assigned", "pending", "revoking", "working":
		value := strings.TrimPrefix(option.Value, "!")
		if _, err := strconv.Atoi(value); err == nil || value == "*" {
			return nil // The group's assigned is a number.
		}
		if strings.HasPrefix(value, "<=") || strings.HasPrefix(value, ">=") {
			return nil
		}
		_, err := parsePartitions(value)
		return err
	}
	return nil
}

// patient worlds give an expectation time to come true.
type patient interface {
	// Patience is how long an expectation may take.
	Patience() time.Duration
	// Pass lets that much time pass.
	Pass(time.Duration)
}

// check looks once in a world whose time stands still. Elsewhere it looks until the expectation has come true, or, where
// an early look would tell nothing, after the whole wait.
func (p *player) check(command Command) error {
	world, waits := p.world.(patient)
	if !waits {
		return p.look(command)
	}
	if lookedAtLate(&command) {
		world.Pass(world.Patience())
		return p.look(command)
	}
	deadline := time.Now().Add(world.Patience())
	for {
		err := p.look(command)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		world.Pass(pause)
	}
}

// pause is how long a patient world is left alone between two looks.
const pause = 200 * time.Millisecond

// lookedAtLate: it may be true only because nothing has happened yet, or compares with what was looked at before.
func lookedAtLate(command *Command) bool {
	if command.Args[0] == "since" || remembers(command) {
		return true
	}
	denies := func(text string) bool { return strings.HasPrefix(text, "!") }
	return slices.ContainsFunc(command.Args, denies) ||
		slices.ContainsFunc(command.Options, func(option Option) bool { return denies(option.Value) })
}

func (p *player) look(command Command) error {
	view := p.world.View()
	return expectations[command.Args[0]].check(p, &view, &command)
}

// differs is the error of one expected value.
func differs(what, wanted, actual string) error {
	return fmt.Errorf("%s is %q, expected %q", what, actual, wanted)
}

// eachOption checks all options and joins what differs.
func eachOption(command *Command, check func(key, wanted string) error) error {
	var errs []error
	for _, option := range command.Options {
		errs = append(errs, check(option.Key, option.Value))
	}
	return errors.Join(errs...)
}

// expectHandle is what the process itself saw.
func (p *player) expectHandle(view *View, command *Command) error {
	worker := view.worker(command.Args[1])
	if worker == nil {
		return fmt.Errorf("nobody was started as %s", command.Args[1])
	}
	group := worker.Group
	if worker.Pod {
		group = p.group
	}
	return eachOption(command, func(key, wanted string) error {
		switch key {
		case "error":
			return expectText(key, wanted, worker.Error)
		case "proven":
			return expectText(key, wanted, strconv.FormatBool(worker.Proven))
		default:
			return expectPartitions(key, wanted, worker.Works[group])
		}
	})
}

func expectText(what, wanted, actual string) error {
	if !matches(wanted, actual) {
		return differs(what, wanted, actual)
	}
	return nil
}

func expectNumber[N ~int | ~int32 | ~int64](what, wanted string, actual N) error {
	return expectText(what, wanted, strconv.FormatInt(int64(actual), 10))
}

// expectPartitions takes any of several sets as what is wanted.
func expectPartitions(what, wanted string, actual ...map[partition]bool) error {
	same := func(text string) bool {
		set, err := parsePartitions(text)
		return err == nil && slices.ContainsFunc(actual, func(one map[partition]bool) bool {
			return showPartitions(one) == showPartitions(set)
		})
	}
	if !matchesBy(wanted, same) {
		return differs(what, wanted, showPartitions(actual[0]))
	}
	return nil
}

// expectSince compares with the mark.
func (p *player) expectSince(view *View, command *Command) error {
	if p.marked == nil {
		return errors.New("there is no mark before it")
	}
	return eachOption(command, func(key, wanted string) error {
		switch key {
		case "moved":
			return expectNumber(key, wanted, moved(p.marked.holders[p.group], holders(view, p.group)))
		case "generations":
			generation := int64(0)
			if group := view.group(p.group); group != nil {
				generation = group.Status.Generation
			}
			return expectNumber(key, wanted, generation-p.marked.generations[p.group])
		case "writes":
			return expectNumber(key, wanted, view.Writes-p.marked.writes)
		default:
			return expectNumber(key, wanted, view.GroupWrites-p.marked.groupWrites)
		}
	})
}

// moved counts the copies that another member holds now; who holds nothing, or held nothing then, does not count.
func moved(before, now map[copyOf]string) int {
	count := 0
	for c, holder := range now {
		if former, held := before[c]; held && former != holder {
			count++
		}
	}
	return count
}

// expectEvent looks at what was sent since the mark, or since the start.
func (p *player) expectEvent(view *View, command *Command) error {
	reason, events := command.Args[1], view.Events
	if p.marked != nil {
		events = events[p.marked.events:]
	}
	about := ""
	if len(command.Args) == 3 {
		about = command.Args[2]
	}
	var seen []string
	for _, event := range events {
		seen = append(seen, event.Reason+" "+event.About)
		if matches(reason, event.Reason) && (about == "" || p.isAbout(view, event, about)) {
			return nil
		}
	}
	return fmt.Errorf("no such event since the mark; there were: %s", strings.Join(seen, ", "))
}

func (p *player) isAbout(view *View, event Event, name string) bool {
	if event.About == name || event.About == p.group+"."+name {
		return true
	}
	member := view.member(p.group, name)
	return member != nil && member.Name == event.About
}
