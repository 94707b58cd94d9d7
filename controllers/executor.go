package controllers

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// DefaultConcurrency is how many writes of one batch are in flight at once.
const DefaultConcurrency = 16

// Executor carries out writes. All executors of a process share one Memory, which must know every own write, and one Term.
type Executor struct {
	Store  Store
	Memory *Memory
	// Events sends an event; called only after the write that it tells of has succeeded. Nil sends none.
	Events func(coordinator.Event)
	// Concurrency is how many writes of one batch are in flight at once; 1 sends them one by one in their order, without
	// any goroutine, and 0 means DefaultConcurrency.
	Concurrency int
	// Term is this start of the process.
	Term *Term
}

// Result says what Run has done, also when it failed.
type Result struct {
	// Written are the objects as stored, without those that are gone.
	Written []coordinator.Object
	// Unknown are the objects whose write may or may not have been applied. They are in Memory, too, until Settle.
	Unknown []Key
}

// Run carries out batches in order. It stops at the first failure: what is in flight is waited for, nothing more is sent.
// The error joins the failures, each a *WriteError.
func (e *Executor) Run(ctx context.Context, batches []coordinator.Batch) (Result, error) {
	run := run{executor: e}
	for _, batch := range batches {
		if err := run.batch(ctx, batch.Writes); err != nil {
			return run.result, err
		}
	}
	return run.result, nil
}

// run is one call of Run.
type run struct {
	executor *Executor
	mu       sync.Mutex
	result   Result
}

func (r *run) batch(ctx context.Context, list []coordinator.Write) error {
	if r.executor.Concurrency == 1 || len(list) == 1 {
		return r.oneByOne(ctx, list)
	}
	return r.together(ctx, list)
}

func (r *run) oneByOne(ctx context.Context, list []coordinator.Write) error {
	for _, write := range list {
		if err := r.write(ctx, write); err != nil {
			return err
		}
	}
	return nil
}

// together keeps up to Concurrency writes in flight. A failure does not cancel the others: a write given up would be one
// of unknown outcome.
func (r *run) together(ctx context.Context, list []coordinator.Write) error {
	var failed atomic.Bool
	errs := make([]error, len(list))
	var flights errgroup.Group
	flights.SetLimit(r.limit())
	for i, write := range list {
		flights.Go(func() error {
			if failed.Load() {
				return nil
			}
			if errs[i] = r.write(ctx, write); errs[i] != nil {
				failed.Store(true)
			}
			return nil
		})
	}
	_ = flights.Wait() // Its functions report through errs.
	return errors.Join(errs...)
}

func (r *run) limit() int {
	if r.executor.Concurrency > 0 {
		return r.executor.Concurrency
	}
	return DefaultConcurrency
}

// write carries out one write and remembers how it ended.
func (r *run) write(ctx context.Context, write coordinator.Write) error {
	e := r.executor
	stored, err := e.Store.Apply(ctx, write)
	writesTotal.WithLabelValues(string(write.Verb), KeyOf(subject(write)).Kind, outcomeOf(err)).Inc()
	if err != nil {
		r.failed(ctx, write, err)
		return &WriteError{Verb: write.Verb, Key: KeyOf(subject(write)), Err: err}
	}
	if stored != nil {
		e.Memory.noteStored(stored, write.Verb == coordinator.Create)
		r.add(stored)
	} else {
		e.Memory.noteGone(write.Old)
	}
	for _, event := range write.Events {
		e.send(event)
	}
	return nil
}

func (r *run) failed(ctx context.Context, write coordinator.Write, err error) {
	obj := subject(write)
	if IsUnknownOutcome(err) {
		r.executor.Memory.noteUnknown(obj)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.result.Unknown = append(r.result.Unknown, KeyOf(obj))
		return
	}
	if IsOvertaken(err) {
		r.executor.lookAgain(ctx, write)
	}
}

// lookAgain reads what a write was refused for, so that deciding again need not wait for the cache to show it. That
// failing is no failure of its own: the cache shows it in the end.
func (e *Executor) lookAgain(ctx context.Context, write coordinator.Write) {
	live, err := e.getLive(ctx, subject(write))
	switch {
	case err != nil:
	case live != nil:
		e.Memory.noteStored(live, write.Verb == coordinator.Create)
	case write.Old != nil:
		e.Memory.noteGone(write.Old)
	}
}

func (r *run) add(obj coordinator.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Written = append(r.result.Written, obj)
}

func (e *Executor) send(event coordinator.Event) {
	if e.Events != nil {
		e.Events(event)
	}
}

// getLive reads the present form of an object past the cache; nil when it is not there.
func (e *Executor) getLive(ctx context.Context, like coordinator.Object) (coordinator.Object, error) {
	live := emptyLike(like)
	err := e.Store.GetLive(ctx, KeyOf(like).NamespacedName, live)
	if IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return live, nil
}
