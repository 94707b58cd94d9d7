package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/lock"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/process"
)

// ErrRunning is returned when a cluster of this name has a supervisor already.
var ErrRunning = errors.New("it runs already")

// Supervise starts a cluster, calls ready when it answers, and keeps it until ctx ends, the process parent ends (0:
// none is watched) or one of its programs does. Then all of it ends and its files go; after a failure they stay, and
// the state says why.
func Supervise(ctx context.Context, options Options, parent int, report func(string), ready func(State)) error {
	layout := options.Layout
	held, free, err := lock.Try(layout.Lock())
	if err != nil {
		return err
	}
	if !free {
		return fmt.Errorf("start cluster %s: %w", layout.Name, ErrRunning)
	}
	defer held.Discard()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := endWith(ctx, cancel, parent); err != nil {
		return err
	}
	if err := prepare(layout); err != nil {
		return err
	}
	if err := superviseHeld(ctx, options, report, ready); err != nil {
		return fmt.Errorf("cluster %s: %w", layout.Name, err)
	}
	return nil
}

// endWith cancels when the parent process ends.
func endWith(ctx context.Context, cancel context.CancelFunc, parent int) error {
	if parent == 0 {
		return nil
	}
	gone, err := process.Watch(ctx, parent)
	if err != nil {
		return err
	}
	go func() {
		select {
		case <-gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	return nil
}

func prepare(layout Layout) error {
	if err := layout.clear(); err != nil {
		return err
	}
	return WriteState(layout, State{Name: layout.Name, Phase: Starting, PID: os.Getpid(), Dir: layout.Dir})
}

// superviseHeld does the work of Supervise for who holds the lock.
func superviseHeld(ctx context.Context, options Options, report func(string), ready func(State)) error {
	c, err := start(ctx, options, report)
	if err == nil {
		state := c.state(Running)
		if err = WriteState(options.Layout, state); err == nil {
			ready(state)
			err = c.keep(ctx)
		}
	}
	c.stop()
	if ctx.Err() != nil { // asked to end, perhaps in the middle of the start
		return removeAll(options.Layout)
	}
	state := c.state(Failed)
	state.Failure = err.Error()
	// The logs stay; the data says nothing and is large.
	return errors.Join(err, WriteState(options.Layout, state), os.RemoveAll(options.Layout.etcd()))
}

// keep waits until ctx ends, or reports the first program that does.
func (c *cluster) keep(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case component := <-c.ended:
		return component.Failure()
	}
}

// removeAll removes a cluster's files. The state goes first: whoever reads it must not find a cluster half gone.
func removeAll(layout Layout) error {
	return errors.Join(removeIfThere(layout.State()), os.RemoveAll(layout.Dir), removeIfThere(layout.SupervisorLog()))
}
