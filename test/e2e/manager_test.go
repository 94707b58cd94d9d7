package e2e_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// leaseDuration is how long a killed manager's successor waits. Short, so that the tests need not; long enough for a
	// busy machine to renew in time.
	leaseDuration = "6s"
	renewDeadline = "5s"
	retryPeriod   = "500ms"

	// stopTimeout is how long a manager that was asked to stop may take.
	stopTimeout = 30 * time.Second
	// shownLines is how much of the manager's log a failed test shows.
	shownLines = 60
)

// manager is one start of the real program.
type manager struct {
	command *exec.Cmd
	log     string
	probe   string
	// metricsAt and pprofAt are where it serves metrics and profiles.
	metricsAt, pprofAt string
	begun              time.Time
	// wanted: its end was asked for.
	wanted atomic.Bool
	ended  chan struct{}
	err    error // valid once ended is closed
}

// startManager starts the manager that everybody works with from now on, and waits until it leads.
func (e *environment) startManager(ctx context.Context) error {
	m, err := e.launch()
	if err != nil {
		return err
	}
	e.lead(m)
	if err := m.untilItLeads(ctx, e); err != nil {
		return fmt.Errorf("start the manager: %w\n%s", err, m.tail(""))
	}
	return nil
}

// launch starts the program as its Deployment would, but for addresses and the speed of its election.
func (e *environment) launch() (*manager, error) {
	e.starts++
	m := &manager{ended: make(chan struct{}), log: filepath.Join(e.dir, fmt.Sprintf("manager-%d.log", e.starts))}
	for _, address := range []*string{&m.probe, &m.metricsAt, &m.pprofAt} {
		var err error
		if *address, err = freeAddress(); err != nil {
			return nil, err
		}
	}
	log, err := os.Create(m.log)
	if err != nil {
		return nil, fmt.Errorf("make the manager's log: %w", err)
	}
	defer func() { _ = log.Close() }() // The process has its own handle.
	// What comes later on the command line counts.
	args := append(slices.Clone(e.installed.args), "--leader-elect-namespace="+e.installed.namespace, "--health-probe-bind-address="+m.probe,
		"--metrics-bind-address="+m.metricsAt, "--metrics-secure=false")
	if !benchmarking() {
		args = append(args, "--leader-elect-lease-duration="+leaseDuration,
			"--leader-elect-renew-deadline="+renewDeadline, "--leader-elect-retry-period="+retryPeriod)
	}
	if *profiles != "" {
		args = append(args, "--pprof-bind-address="+m.pprofAt)
	}
	m.command = exec.Command(e.program(), args...)
	m.command.Env = append(os.Environ(), "KUBECONFIG="+e.installed.kubeconfig)
	m.command.Stdout, m.command.Stderr = log, log
	m.command.SysProcAttr = apart()
	m.begun = time.Now()
	if err := m.command.Start(); err != nil {
		return nil, fmt.Errorf("start the manager: %w", err)
	}
	go func() {
		m.err = m.command.Wait()
		close(m.ended)
	}()
	return m, nil
}

// benchmarking: what is measured is the manager with the election that it has by default.
func benchmarking() bool { return flag.Lookup("test.bench").Value.String() != "" }

// lead makes it the manager that is expected to live; the one before may end.
func (e *environment) lead(m *manager) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.manager != nil {
		e.manager.wanted.Store(true)
	}
	e.manager = m
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// untilItLeads waits until the manager says that it is ready, and holds the lease since this start.
func (m *manager) untilItLeads(ctx context.Context, e *environment) error {
	return m.until(ctx, func(ctx context.Context) (bool, error) {
		lease := &coordinationv1.Lease{}
		key := client.ObjectKey{Namespace: e.installed.namespace, Name: e.installed.lease}
		if err := e.client.Get(ctx, key, lease); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		since := lease.Spec.AcquireTime
		holds := ptr.Deref(lease.Spec.HolderIdentity, "") != "" && since != nil && since.After(m.begun)
		return holds && m.ready(), nil
	})
}

// untilReady waits until it says that it is ready, leading or not.
func (m *manager) untilReady(ctx context.Context) error {
	return m.until(ctx, func(context.Context) (bool, error) { return m.ready(), nil })
}

func (m *manager) until(ctx context.Context, holds func(context.Context) (bool, error)) error {
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-m.ended:
			return false, fmt.Errorf("it has ended: %w", errors.Join(m.err, errors.New("see its log")))
		default:
			return holds(ctx)
		}
	})
}

func (m *manager) ready() bool {
	answer, err := http.Get("http://" + m.probe + "/readyz")
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode == http.StatusOK
}

// kill ends it without a word, and returns when it is dead.
func (m *manager) kill() error {
	m.wanted.Store(true)
	if err := m.command.Process.Kill(); err != nil {
		return fmt.Errorf("kill the manager: %w", err)
	}
	<-m.ended
	return nil
}

// freeze stops it as a suspended machine would, and thaw lets it go on.
func (m *manager) freeze() error { return m.command.Process.Signal(syscall.SIGSTOP) }
func (m *manager) thaw() error   { return m.command.Process.Signal(syscall.SIGCONT) }

// stop asks it to end, as a kubelet does. The error says if it did not end well.
func (m *manager) stop() error {
	if m.wanted.Swap(true) {
		return nil
	}
	select {
	case <-m.ended:
		return fmt.Errorf("the manager had ended by itself: %w\n%s", m.err, m.tail(""))
	default:
	}
	if err := m.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the manager: %w", err)
	}
	select {
	case <-m.ended:
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("the manager did not stop in %v", stopTimeout), m.command.Process.Kill())
	}
	if m.err != nil {
		return fmt.Errorf("the manager was asked to stop: %w\n%s", m.err, m.tail(""))
	}
	return nil
}

// tail gives the last lines of the log that bear a word.
func (m *manager) tail(word string) string {
	file, err := os.Open(m.log)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	var lines []string
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if strings.Contains(scanner.Text(), word) {
			lines = append(lines, scanner.Text())
		}
	}
	return strings.Join(lines[max(0, len(lines)-shownLines):], "\n")
}
