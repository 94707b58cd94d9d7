package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/cluster"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/lock"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/process"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

const (
	// lookEvery is how often the state of another process's cluster is read.
	lookEvery = 100 * time.Millisecond
	// downTimeout is how long a supervisor may take to end its cluster before it is killed.
	downTimeout = 20 * time.Second
)

// inBackground starts a supervisor that outlives this process, or finds one, and waits until its cluster is up.
func inBackground(ctx context.Context, layout cluster.Layout, set programs.Set, options upOptions, report func(string)) (cluster.State, error) {
	state, err := cluster.ReadState(layout)
	if err != nil {
		return cluster.State{}, err
	}
	var ended <-chan error
	switch state.Phase {
	case cluster.Running:
		report("cluster " + layout.Name + " is running already")
		return state, nil
	case cluster.Starting:
		report("cluster " + layout.Name + " is being started by another process")
	default:
		if err := cluster.Remove(layout); err != nil {
			return cluster.State{}, err
		}
		report("starting cluster " + layout.Name)
		if ended, err = startSupervisor(layout, set, options); err != nil {
			return cluster.State{}, err
		}
	}
	return awaitUp(ctx, layout, ended)
}

// startSupervisor runs this program again, in a session of its own, and returns how it ends.
func startSupervisor(layout cluster.Layout, set programs.Set, options upOptions) (<-chan error, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	log, err := os.OpenFile(layout.SupervisorLog(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the supervisor's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	supervisor := exec.Command(self, "supervise", "--name", layout.Name, "--nodes", strconv.Itoa(options.nodes),
		"--parent-pid", strconv.Itoa(options.parent), "--programs", set.Dir)
	supervisor.Stdout, supervisor.Stderr = log, log
	supervisor.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := supervisor.Start(); err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- supervisor.Wait() }()
	return ended, nil
}

// awaitUp waits until the cluster is up or has failed. An interrupted wait ends a cluster that was started here.
func awaitUp(ctx context.Context, layout cluster.Layout, ended <-chan error) (cluster.State, error) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			if ended != nil {
				return cluster.State{}, errors.Join(ctx.Err(), down(layout))
			}
			return cluster.State{}, ctx.Err()
		case err := <-ended:
			return cluster.State{}, explain(layout, err)
		case <-ticker.C:
		}
		state, err := cluster.ReadState(layout)
		if err != nil {
			return cluster.State{}, err
		}
		switch state.Phase {
		case cluster.Running:
			return state, nil
		case cluster.Failed:
			return cluster.State{}, fmt.Errorf("cluster %s failed: %s", layout.Name, state.Failure)
		case cluster.Dead:
			return cluster.State{}, fmt.Errorf("the supervisor of cluster %s was killed", layout.Name)
		case cluster.Absent, cluster.Starting:
		}
	}
}

// explain tells why a supervisor ended: what it left in the state, or else in its log.
func explain(layout cluster.Layout, ended error) error {
	if state, err := cluster.ReadState(layout); err == nil && state.Phase == cluster.Failed {
		return fmt.Errorf("cluster %s failed: %s", layout.Name, state.Failure)
	}
	return fmt.Errorf("the supervisor of cluster %s ended (%w):\n%s", layout.Name, ended, process.Excerpt(layout.SupervisorLog()))
}

// down ends a cluster and waits until nothing of it is left.
func down(layout cluster.Layout) error {
	state, err := cluster.ReadState(layout)
	if err != nil {
		return err
	}
	if state.Phase == cluster.Running && !state.External || state.Phase == cluster.Starting {
		// The supervisor holds the lock, so the id is still its own.
		if err := syscall.Kill(state.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end the supervisor of cluster %s: %w", layout.Name, err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), downTimeout)
		defer cancel()
		held, err := lock.Acquire(ctx, layout.Lock(), func() {})
		if err != nil {
			return errors.Join(err, syscall.Kill(state.PID, syscall.SIGKILL))
		}
		held.Discard()
	}
	return cluster.Remove(layout)
}
