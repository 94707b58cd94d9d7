package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// proseWidth is where sentences wrap; kubectl's tables may be wider.
const proseWidth = 100

// screen prints the story: in colors on a terminal, plain elsewhere.
type screen struct {
	out      io.Writer
	terminal bool
	colors   bool
}

// style is an ANSI code.
type style string

const (
	bold  style = "1"
	faint style = "2"
	red   style = "31"
	green style = "32"
	cyan  style = "36"
)

func newScreen(out *os.File) *screen {
	terminal := term.IsTerminal(int(out.Fd()))
	return &screen{out: out, terminal: terminal, colors: terminal && os.Getenv("NO_COLOR") == ""}
}

func (s *screen) paint(as style, text string) string {
	if !s.colors || text == "" {
		return text
	}
	return "\033[" + string(as) + "m" + text + "\033[0m"
}

func (s *screen) line(format string, args ...any) {
	fmt.Fprintf(s.out, format+"\n", args...)
}

func (s *screen) heading(text string) {
	s.line("\n%s", s.paint(bold, "== "+text+" =="))
}

// say prints a paragraph.
func (s *screen) say(text string) {
	s.line("")
	for _, line := range wrapped(text, proseWidth) {
		s.line("%s", line)
	}
}

// command prints what a person would type, and its answer.
func (s *screen) command(name string, args []string, answer string) {
	s.line("\n%s", s.paint(cyan, "$ "+name+" "+shellWords(args)))
	fmt.Fprint(s.out, answer)
}

// verdict prints whether a promise was kept.
func (s *screen) verdict(kept bool, text string) {
	if kept {
		s.line("  %s %s", s.paint(green, "✓"), text)
		return
	}
	s.line("  %s", s.paint(red, "✗ "+text))
}

func (s *screen) failure(err error) {
	s.line("\n%s", s.paint(red, "The demo did not come to its end:"))
	s.line("%v", err)
}

// during shows on a terminal what is waited for, and takes it away again.
func (s *screen) during(what string) (over func()) {
	if !s.terminal {
		return func() {}
	}
	fmt.Fprint(s.out, s.paint(faint, "  ... until "+what))
	return func() { fmt.Fprint(s.out, "\r\033[K") }
}

// Write takes the progress of something that is waited for, in whole lines: on a terminal the line that is shown
// meanwhile is drawn again.
func (s *screen) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if s.terminal {
			fmt.Fprint(s.out, "\r\033[K"+s.paint(faint, "  ... "+line))
		} else {
			s.line("  %s", line)
		}
	}
	return len(text), nil
}

// reached says what was waited for and how long after the last action it was so.
func (s *screen) reached(what string, after time.Duration) {
	s.line("\n%s", s.paint(faint, fmt.Sprintf("  %s after the last command: %s", rounded(after), what)))
}

// task tells of something that takes a while and is not part of the story.
func (s *screen) task(what string, do func() error) error {
	over := s.during(what)
	if !s.terminal {
		s.line("  ... until %s", what)
	}
	began := time.Now()
	err := do()
	over()
	if err == nil {
		s.line("  %s %s", what, s.paint(faint, "("+rounded(time.Since(began))+")"))
	}
	return err
}

func rounded(d time.Duration) string {
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// shellWords quotes what a shell would not take as one word.
func shellWords(args []string) string {
	words := make([]string, len(args))
	for i, arg := range args {
		words[i] = arg
		if strings.ContainsAny(arg, ` "\{}[]*?&;|<>$`) {
			words[i] = "'" + arg + "'"
		}
	}
	return strings.Join(words, " ")
}

func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// join lists names as a sentence does.
func join(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
