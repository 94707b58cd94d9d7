package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Script is a parsed file.
type Script struct {
	// Path as it was given, Name its last part.
	Path, Name string
	// Worlds that the file fits; empty means all.
	Worlds []string
	// Commands in their order; `worlds` is not among them.
	Commands []Command
}

// Command is one line.
type Command struct {
	// Path and Line say where it stands, Text what it says, without its comment.
	Path string
	Line int
	Text string
	// Refused: it passes if the API refuses it.
	Refused bool
	// User is the caller's name, if one is given.
	User string
	Verb string
	Args []string
	// Options are KEY=VALUE, in their order; a key may come more than once.
	Options []Option
}

// Option is one KEY=VALUE.
type Option struct{ Key, Value string }

// Where is "file:line".
func (c *Command) Where() string { return fmt.Sprintf("%s:%d", c.Path, c.Line) }

// Get is the last value of a key.
func (c *Command) Get(key string) (string, bool) {
	for i := len(c.Options) - 1; i >= 0; i-- {
		if c.Options[i].Key == key {
			return c.Options[i].Value, true
		}
	}
	return "", false
}

// All values of a key, in their order.
func (c *Command) All(key string) []string {
	var values []string
	for _, option := range c.Options {
		if option.Key == key {
			values = append(values, option.Value)
		}
	}
	return values
}

// Fits says whether the file is meant for that world.
func (s *Script) Fits(world string) bool {
	return len(s.Worlds) == 0 || slices.Contains(s.Worlds, world)
}

// ParseFile reads a scenario file.
func ParseFile(path string) (*Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return Parse(path, string(text))
}

// Parse reads a scenario. Its errors name file and line.
func Parse(path, text string) (*Script, error) {
	script := &Script{Path: path, Name: filepath.Base(path)}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		command := Command{Path: path, Line: number, Text: line}
		if err := command.parse(line); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", command.Where(), line, err)
		}
		if command.Verb == "worlds" {
			script.Worlds = append(script.Worlds, command.Args...)
			continue
		}
		script.Commands = append(script.Commands, command)
	}
	if len(script.Commands) == 0 {
		return nil, fmt.Errorf("%s: no command", path)
	}
	return script, nil
}

// parse takes off the prefixes, splits the line into words and checks them.
func (c *Command) parse(line string) error {
	if rest, found := strings.CutPrefix(line, "refused:"); found {
		c.Refused = true
		return c.parse(strings.TrimSpace(rest))
	}
	if rest, found := strings.CutPrefix(line, "as "); found {
		user, command, found := strings.Cut(rest, ":")
		if !found {
			return fmt.Errorf("want `as USER: COMMAND`")
		}
		c.User = strings.TrimSpace(user)
		return c.parse(strings.TrimSpace(command))
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return fmt.Errorf("a command is missing")
	}
	c.Verb = words[0]
	for _, word := range words[1:] {
		key, value, isOption := cutOption(word)
		if isOption {
			c.Options = append(c.Options, Option{key, value})
		} else {
			c.Args = append(c.Args, word)
		}
	}
	return c.check()
}

// cutOption splits KEY=VALUE, KEY<=N and KEY>=N, of which the last two keep their sign in the value. What begins with a
// comparison is no option but a value that stands alone.
func cutOption(word string) (key, value string, found bool) {
	key, value, found = strings.Cut(word, "=")
	if !found || key == "" || key == "<" || key == ">" {
		return "", "", false
	}
	if sign := key[len(key)-1]; sign == '<' || sign == '>' {
		return key[:len(key)-1], string(sign) + "=" + value, true
	}
	return key, value, true
}
