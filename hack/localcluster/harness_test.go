package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/cluster"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/process"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

// patience bounds every wait; it is far above what anything takes on an idle machine.
const patience = 2 * time.Minute

// launcher is the program under test, built once. The tests are in its package so that they run again when it changes.
var launcher string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "localcluster-test")
	if err != nil {
		panic(err)
	}
	launcher = filepath.Join(dir, "localcluster")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", launcher, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the launcher: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// needPrograms skips a test where the control plane is not built: that takes longer than a test may.
func needPrograms(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts clusters")
	}
	if _, err := programs.Find(); err != nil {
		t.Skipf("the control plane is not built, run `localcluster build`: %v", err)
	}
}

// run calls the launcher and returns what it prints.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, launcher, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("localcluster %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// kubectl runs kubectl against a cluster.
func kubectl(t *testing.T, name string, args ...string) string {
	t.Helper()
	return mustRun(t, append([]string{"exec", "--name", name, "kubectl"}, args...)...)
}

// apply applies a manifest to a cluster.
func apply(t *testing.T, name, manifest string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	kubectl(t, name, "apply", "-f", path)
}

// startForeground runs a command that starts a cluster in the foreground, and returns when that is up.
func startForeground(t *testing.T, command *exec.Cmd) (cluster.State, error) {
	t.Helper()
	stderr := &bytes.Buffer{}
	command.Stderr = stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return cluster.State{}, err
	}
	if err := command.Start(); err != nil {
		return cluster.State{}, err
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
	reader := bufio.NewReader(stdout)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return cluster.State{}, fmt.Errorf("%v said nothing: %w: %s", command.Args, err, stderr)
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	var up cluster.State
	return up, json.Unmarshal(line, &up)
}

// watch returns, by name, channels that are closed when the processes end.
func watch(t *testing.T, pids map[string]int) map[string]<-chan struct{} {
	t.Helper()
	watched := map[string]<-chan struct{}{}
	for name, pid := range pids {
		gone, err := process.Watch(t.Context(), pid)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-gone:
			t.Fatalf("%s (process %d) is not there", name, pid)
		default:
		}
		watched[name] = gone
	}
	return watched
}

// expectGone waits until all watched processes have ended.
func expectGone(t *testing.T, watched map[string]<-chan struct{}) {
	t.Helper()
	deadline := time.After(patience)
	for name, gone := range watched {
		select {
		case <-gone:
		case <-deadline:
			t.Errorf("%s is still there", name)
		}
	}
}

// eventually repeats a look until it finds what it should.
func eventually(t *testing.T, what string, look func() (string, bool)) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(patience)
	for {
		seen, found := look()
		if found {
			return
		}
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("waited in vain until %s; last seen: %s", what, seen)
		}
	}
}
