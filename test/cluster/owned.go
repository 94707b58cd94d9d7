package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// stopTimeout is how long a launcher may take to end its cluster before it is killed, which ends it too.
	stopTimeout = 20 * time.Second
	// keptComplaints is how many lines of the launcher's last words an error shows.
	keptComplaints = 25
)

// startOwned starts a cluster that lives as long as this process at most: the launcher watches it.
func startOwned(ctx context.Context, launcher string, options Options) (*Cluster, error) {
	command := exec.Command(launcher, "up", "--foreground", "--json", "--name", options.Name,
		"--nodes", strconv.Itoa(options.Nodes), "--parent-pid", strconv.Itoa(os.Getpid()))
	complaints := &tail{next: options.Progress}
	command.Stderr = complaints
	// An interrupt at the terminal is this process's to handle: it ends the cluster when it has looked at it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the launcher: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the launcher: %w", err)
	}
	run := &run{command: command, complaints: complaints, ended: make(chan struct{})}
	up := make(chan []byte, 1)
	go run.follow(stdout, up)
	select {
	case answer := <-up:
		return fromAnswer(launcher, answer, &owner{end: run.end})
	case <-run.ended:
		return nil, errors.Join(errors.New("the cluster did not start"), complaints.err(), run.err)
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), run.end())
	}
}

// run is a launcher that keeps a cluster.
type run struct {
	command    *exec.Cmd
	complaints *tail
	ended      chan struct{}
	err        error // valid once ended is closed
}

// follow passes the line on that says that the cluster is up, and waits for the launcher's end.
func (r *run) follow(stdout io.Reader, up chan<- []byte) {
	reader := bufio.NewReader(stdout)
	if answer, err := reader.ReadBytes('\n'); err == nil {
		up <- answer
	}
	_, _ = io.Copy(io.Discard, reader) // until the launcher ends: Wait closes the pipe
	r.err = r.command.Wait()
	close(r.ended)
}

// end ends the launcher and with it the cluster.
func (r *run) end() error {
	select {
	case <-r.ended:
		return errors.Join(errors.New("the cluster had ended before it was stopped"), r.complaints.err())
	default:
	}
	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("end the launcher: %w", err)
	}
	select {
	case <-r.ended:
		return r.err
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the launcher did not end in %v and was killed", stopTimeout), r.command.Process.Kill())
	}
}

// tail passes everything on and keeps the last lines.
type tail struct {
	next io.Writer

	mu    sync.Mutex
	lines []string
}

// Write keeps the lines of a write; the launcher writes whole lines.
func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	for line := range strings.Lines(string(text)) {
		t.lines = append(t.lines, strings.TrimRight(line, "\n"))
	}
	t.lines = t.lines[max(0, len(t.lines)-keptComplaints):]
	t.mu.Unlock()
	return t.next.Write(text)
}

// err is what was said last, as an error.
func (t *tail) err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(t.lines, "\n"))
}
