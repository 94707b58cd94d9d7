package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// Source gives the objects of one group.
type Source interface {
	// Snapshot is the newest known state: the cache's, overlaid with the Memory's. Its Group is nil when there is none.
	Snapshot(ctx context.Context) (coordinator.Snapshot, error)
	// ReadLive reads what is needed past the cache into the snapshot and marks it in its Live.
	ReadLive(ctx context.Context, snapshot *coordinator.Snapshot, need coordinator.Live) error
}

// Driver lets Decide decide about one group until nothing is left to do.
type Driver struct {
	Executor *Executor
	// Decide is coordinator.Decide, save in tests.
	Decide func(coordinator.Snapshot) coordinator.Decision
}

// Drive settles what is unknown of the group, then decides and carries out, again and again, until there is nothing to do.
// It returns the instant at which something will be due (zero: nothing will). With an error the group is to be
// driven again soon.
func (d *Driver) Drive(ctx context.Context, group types.NamespacedName, source Source) (time.Time, error) {
	return d.Executor.loop(ctx, "group "+group.String(), func() (time.Time, []coordinator.Batch, error) {
		snapshot, err := d.settledSnapshot(ctx, group, source)
		if err != nil {
			return time.Time{}, nil, err
		}
		decision, err := d.decide(ctx, source, snapshot)
		return decision.WakeAt, decision.Batches, err
	})
}

// settledSnapshot is a snapshot in which nothing rests on a write of unknown outcome.
func (d *Driver) settledSnapshot(ctx context.Context, group types.NamespacedName, source Source) (coordinator.Snapshot, error) {
	snapshot, err := source.Snapshot(ctx)
	if err != nil {
		return snapshot, err
	}
	scope := inGroup(group)
	if len(d.Executor.Memory.unsettled(scope)) == 0 {
		return snapshot, nil
	}
	if err := d.Executor.Settle(ctx, scope, generationOf(snapshot)); err != nil {
		return snapshot, err
	}
	return source.Snapshot(ctx)
}

// generationOf is the greater of the group's generation and the newest plan's.
func generationOf(s coordinator.Snapshot) int64 {
	generation := int64(0)
	if s.Group != nil {
		generation = s.Group.Status.Generation
	}
	for _, plan := range s.Plans {
		generation = max(generation, plan.Generation())
	}
	return generation
}

// decide asks Decide, reading live what it needs.
func (d *Driver) decide(ctx context.Context, source Source, snapshot coordinator.Snapshot) (coordinator.Decision, error) {
	for range maxLiveReads {
		decision := d.Decide(snapshot)
		if decision.Need.Empty() {
			return decision, nil
		}
		if err := source.ReadLive(ctx, &snapshot, decision.Need); err != nil {
			return coordinator.Decision{}, fmt.Errorf("read live: %w", err)
		}
	}
	return coordinator.Decision{}, fmt.Errorf("live reads: %w", ErrNotSettled)
}
