package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// grammar of a command: how many words it has, and which keys with which kind of value.
type grammar struct {
	least, most int
	keys        map[string]kind
	// anyKey: keys are names that the file chooses, or condition types.
	anyKey bool
	// check looks at what the rest cannot say.
	check func(*Command) error
}

// kind checks a value.
type kind func(string) error

var verbs = map[string]grammar{
	"worlds": {least: 1, most: 2, check: checkWorlds},
	"group": {least: 1, most: 1, keys: map[string]kind{
		"topics": isTopics, "assigned-by": isAny, "assignor": isAny, "session": isDuration, "replacement": isDuration,
		"rebalance": isDuration, "delay": isDuration, "expansion": isDuration, "grace": isDuration, "max": isInt,
		"policy": isAny, "zones": isAny, "paused": isBool, "type": isAny, "co": isAny, "weight": isWeights, "homes": isHomes,
	}},
	"delete": {least: 1, most: 2, check: checkDelete},
	"start": {least: 1, most: 1, keys: map[string]kind{
		"member": isAny, "protocols": isAny, "topics": isAny, "session": isDuration, "rebalance": isDuration, "zone": isAny,
		"capacity": isInt, "host": isAny, "acks": oneOf("true", "manual", "stuck"), "joins": oneOf("manual"),
	}},
	"join":    {least: 1, most: 1},
	"sync":    {least: 1, most: 1, anyKey: true},
	"ack":     {least: 1, most: 1},
	"silence": {least: 1, most: 1},
	"beat":    {least: 1, most: 1},
	"pause":   {least: 1, most: 1},
	"resume":  {least: 1, most: 1},
	"leave":   {least: 1, most: 1},
	"close":   {least: 1, most: 1},
	"update": {least: 1, most: 1, keys: map[string]kind{
		"protocols": isAny, "topics": isAny, "capacity": isInt, "session": isDuration, "rebalance": isDuration,
	}},
	"remove": {least: 1, most: 1},
	"workload": {least: 1, most: 2, check: checkWorkload, keys: map[string]kind{
		"replicas": isInt, "start": isInt, "kind": oneOf("StatefulSet", "Deployment"), "membership": isAny, "acks": isBool,
		"topics": isAny, "capacity": isAny, "cascade": oneOf("orphan", "background", "foreground"),
	}},
	"annotate": {least: 1, most: 1, keys: map[string]kind{
		"group": isAny, "capacity": isAny, "topics": isAny, "membership": isAny,
	}},
	"pod":       {least: 2, most: 20, check: checkPod, keys: map[string]kind{"node": isAny}},
	"replace":   {least: 1, most: 1, keys: map[string]kind{"node": isAny}},
	"node":      {least: 1, most: 2, check: checkNode, keys: map[string]kind{"zone": isAny}},
	"publish":   {least: 1, most: 1, check: argument(0, "on", "off")},
	"rebalance": {least: 1, most: 1},
	"crash":     {keys: map[string]kind{"after": isInt}},
	"freeze":    {keys: map[string]kind{"after": isInt, "for": isDuration}},
	"thaw":      {},
	"fail":      {keys: map[string]kind{"writes": isInt, "error": oneOf("conflict", "timeout", "late")}, check: needs("writes")},
	"stale":     {least: 1, most: 1, check: numberArgument},
	"dark":      {},
	"light":     {},
	"advance":   {least: 1, most: 1, check: durationArgument},
	"finally":   {},
	"mark":      {},
	"manager": {anyKey: true, check: func(c *Command) error {
		if len(c.Options) == 0 {
			return errors.New("want KEY=VALUE")
		}
		return nil
	}},
	"expect": {least: 1, most: 4, anyKey: true, check: checkExpect},
}

// check compares a command with its grammar.
func (c *Command) check() error {
	rules, known := verbs[c.Verb]
	if !known {
		return fmt.Errorf("unknown command %q; known are %s", c.Verb, strings.Join(slices.Sorted(maps.Keys(verbs)), ", "))
	}
	if len(c.Args) < rules.least || len(c.Args) > rules.most {
		return fmt.Errorf("%s takes %d to %d words, not %d", c.Verb, rules.least, rules.most, len(c.Args))
	}
	for _, option := range c.Options {
		valid, known := rules.keys[option.Key]
		switch {
		case rules.anyKey:
		case !known:
			return fmt.Errorf("%s has no key %q; known are %s", c.Verb, option.Key, strings.Join(slices.Sorted(maps.Keys(rules.keys)), ", "))
		default:
			if err := valid(option.Value); err != nil {
				return fmt.Errorf("%s=%s: %w", option.Key, option.Value, err)
			}
		}
	}
	if rules.check != nil {
		return rules.check(c)
	}
	return nil
}

func isAny(string) error { return nil }

func isInt(value string) error {
	_, err := strconv.ParseInt(value, 10, 32)
	return err
}

func isBool(value string) error {
	_, err := strconv.ParseBool(value)
	return err
}

func oneOf(allowed ...string) kind {
	return func(value string) error {
		if !slices.Contains(allowed, value) {
			return fmt.Errorf("want %s", strings.Join(allowed, " or "))
		}
		return nil
	}
}

func argument(at int, allowed ...string) func(*Command) error {
	return func(c *Command) error { return oneOf(allowed...)(c.Args[at]) }
}

func needs(key string) func(*Command) error {
	return func(c *Command) error {
		if _, given := c.Get(key); !given {
			return fmt.Errorf("want %s=", key)
		}
		return nil
	}
}

func numberArgument(c *Command) error   { return isInt(c.Args[0]) }
func durationArgument(c *Command) error { return isDuration(c.Args[0]) }

// worlds may be separated by spaces or commas.
func checkWorlds(c *Command) error {
	c.Args = splitList(strings.Join(c.Args, ","))
	for _, world := range c.Args {
		if err := oneOf("sim", "live")(world); err != nil {
			return err
		}
	}
	return nil
}

func checkDelete(c *Command) error {
	switch {
	case c.Args[0] == "group" && len(c.Args) == 2, c.Args[0] == "plan" && len(c.Args) == 1:
		return nil
	}
	return errors.New("want `delete group NAME` or `delete plan`")
}

func checkWorkload(c *Command) error {
	if len(c.Args) == 2 && c.Args[1] != "deleted" {
		return errors.New("want `workload NAME KEY=VALUE ...` or `workload NAME deleted`")
	}
	if _, cascades := c.Get("cascade"); cascades && len(c.Args) == 1 {
		return errors.New("cascade goes with deleted")
	}
	return nil
}

var podStates = []string{
	"created", "running", "ready", "notready", "crashed", "restarted", "terminating", "stopped", "gone", "forcedeleted", "failed",
}

// checkPod: several states may follow each other in one line.
func checkPod(c *Command) error {
	states := splitList(strings.Join(c.Args[1:], ","))
	for _, state := range states {
		if err := oneOf(podStates...)(state); err != nil {
			return fmt.Errorf("%q: %w", state, err)
		}
	}
	c.Args = append(c.Args[:1:1], states...)
	return nil
}

func checkNode(c *Command) error {
	if len(c.Args) == 2 {
		return oneOf("lost", "back")(c.Args[1])
	}
	return needs("zone")(c)
}

// splitList splits at commas and leaves out what is empty.
func splitList(list string) []string {
	return slices.DeleteFunc(strings.Split(list, ","), func(part string) bool { return part == "" })
}
