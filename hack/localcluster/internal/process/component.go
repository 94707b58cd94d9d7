// Package process runs the programs of a cluster so that none of them outlives the process that started it.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// linesOnFailure is how much of its log a failed component shows.
const linesOnFailure = 15

// Spec says how to run one program.
type Spec struct {
	// Name is the component's name, for messages.
	Name string
	// Path is the executable.
	Path string
	// Args are the arguments after the name.
	Args []string
	// Env is added to the environment.
	Env []string
	// Dir is the working directory.
	Dir string
	// Log is the file that receives both outputs.
	Log string
}

// Component is a program that was started.
type Component struct {
	spec    Spec
	command *exec.Cmd
	ended   chan struct{}
	err     error // valid once ended is closed
}

// Spawner starts components from one operating system thread that it keeps. On Linux a child is told to die with the
// thread that started it, so that thread must not end before the process does.
type Spawner struct {
	requests chan func()
}

// NewSpawner returns a spawner, which lives as long as the process.
func NewSpawner() *Spawner {
	s := &Spawner{requests: make(chan func())}
	go s.run()
	return s
}

// Start runs a program. It is killed when this process ends, however it ends.
func (s *Spawner) Start(spec Spec) (*Component, error) {
	var component *Component
	var err error
	done := make(chan struct{})
	s.requests <- func() {
		component, err = start(spec)
		close(done)
	}
	<-done
	return component, err
}

func start(spec Spec) (*Component, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", spec.Name, err)
	}
	defer func() { _ = log.Close() }()
	command := exec.Command(spec.Path, spec.Args...)
	command.Env = append(os.Environ(), spec.Env...)
	command.Dir = spec.Dir
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = attributes()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Name, err)
	}
	component := &Component{spec: spec, command: command, ended: make(chan struct{})}
	go func() {
		component.err = command.Wait()
		close(component.ended)
	}()
	return component, nil
}

// Name returns the component's name.
func (c *Component) Name() string { return c.spec.Name }

// PID returns the component's process id.
func (c *Component) PID() int { return c.command.Process.Pid }

// Ended is closed when the program has ended.
func (c *Component) Ended() <-chan struct{} { return c.ended }

// Failure describes how the program ended, with the last lines of its log and where the whole log is. It may be called
// once Ended is closed.
func (c *Component) Failure() error {
	how := "with exit code 0"
	if c.err != nil {
		how = c.err.Error()
	}
	return fmt.Errorf("%s ended: %s\n%s", c.spec.Name, how, Excerpt(c.spec.Log))
}

// Kill ends the program at once; there is nothing in a throw-away cluster that is worth a slow end.
func (c *Component) Kill() {
	_ = c.command.Process.Signal(syscall.SIGKILL)
	select {
	case <-c.ended:
	case <-time.After(5 * time.Second): // a process in uninterruptible sleep: the kernel ends it when it wakes
	}
}

// Excerpt returns the last lines of a log and its path, for an error message.
func Excerpt(path string) string {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "(no log was written)"
	}
	if err != nil {
		return fmt.Sprintf("(its log %s cannot be read: %v)", path, err)
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	if len(lines) > linesOnFailure {
		lines = lines[len(lines)-linesOnFailure:]
	}
	return fmt.Sprintf("  | %s\nthe whole log: %s", strings.Join(lines, "\n  | "), path)
}
