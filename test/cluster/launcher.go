package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// LauncherVariable names the environment variable that gives the path of a launcher that is built already.
const LauncherVariable = "ROLLCALL_LOCALCLUSTER"

var launcherBuilt struct {
	sync.Mutex
	path string
}

// buildLauncher returns the path of the launcher, and builds it where it is not given: it takes seconds at most.
func buildLauncher(ctx context.Context) (string, error) {
	if path := os.Getenv(LauncherVariable); path != "" {
		return filepath.Abs(path)
	}
	launcherBuilt.Lock()
	defer launcherBuilt.Unlock()
	if launcherBuilt.path != "" {
		return launcherBuilt.path, nil
	}
	path, err := compileLauncher(ctx)
	if err == nil {
		launcherBuilt.path = path
	}
	return path, err
}

func compileLauncher(ctx context.Context) (string, error) {
	_, here, _, _ := runtime.Caller(0)
	source := filepath.Join(filepath.Dir(here), "..", "..", "hack", "localcluster")
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir := filepath.Join(cache, "rollcall", "localcluster")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	// Test programs run side by side, and one that is being run cannot be written: each builds its own and puts it in
	// the common place in one step.
	unfinished := filepath.Join(dir, fmt.Sprintf("launcher-%d", os.Getpid()))
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", unfinished, ".")
	command.Dir = source
	command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if text, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the launcher in %s: %w\n%s", source, err, text)
	}
	path := filepath.Join(dir, "launcher")
	if err := os.Rename(unfinished, path); err != nil {
		return "", fmt.Errorf("put the launcher in place: %w", err)
	}
	return path, nil
}

// launcherCommand prepares a call of the launcher. When ctx ends the launcher is asked to end, and so can tidy up.
func launcherCommand(ctx context.Context, launcher string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, launcher, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 30 * time.Second
	return command
}

// output runs the launcher and returns what it prints. The error bears its complaints.
func output(ctx context.Context, launcher string, args ...string) ([]byte, error) {
	command := launcherCommand(ctx, launcher, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		if complaint := bytes.TrimSpace(stderr.Bytes()); len(complaint) > 0 {
			return nil, errors.New(string(complaint))
		}
		return nil, err
	}
	return stdout.Bytes(), nil
}
