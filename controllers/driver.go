package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// Bounds of one call of Drive. A group whose decisions do not end within them has a fault; it is tried again later, with
// others served in between.
const (
	maxRounds    = 100
	maxLiveReads = 5
	maxOvertaken = 5
)

// ErrNotSettled: a group still asked for writes, or for live reads, after as many rounds as one call may take.
var ErrNotSettled = errors.New("decisions do not come to an end")

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
	Clock    clock.PassiveClock
	// Decide is coordinator.Decide, save in tests.
	Decide func(coordinator.Snapshot) coordinator.Decision
}

// Drive settles what is unknown of the group, then decides and carries out, again and again, until there is nothing to do.
// It returns the instant at which something will be due (zero: nothing will). With an error the group is to be
// driven again soon.
func (d *Driver) Drive(ctx context.Context, group types.NamespacedName, source Source) (time.Time, error) {
	overtaken := 0
	for range maxRounds {
		wakeAt, done, err := d.round(ctx, group, source)
		switch {
		case done:
			return wakeAt, err
		case err == nil:
		case IsNamespaceTerminating(err):
			// What can still be done is asked for by the deletion of the namespace's objects.
			return time.Time{}, nil
		case !onlyOvertaken(err):
			return time.Time{}, err
		default:
			if overtaken++; overtaken > maxOvertaken {
				return time.Time{}, err
			}
		}
	}
	return time.Time{}, fmt.Errorf("group %s: %w after %d rounds", group, ErrNotSettled, maxRounds)
}

// round is one snapshot, one decision and its writes.
func (d *Driver) round(ctx context.Context, group types.NamespacedName, source Source) (wakeAt time.Time, done bool, err error) {
	snapshot, err := d.settledSnapshot(ctx, group, source)
	if err != nil {
		return time.Time{}, true, err
	}
	decision, err := d.decide(ctx, source, snapshot)
	if err != nil {
		return time.Time{}, true, fmt.Errorf("group %s: %w", group, err)
	}
	if len(decision.Batches) == 0 {
		return decision.WakeAt, true, nil
	}
	_, err = d.Executor.Run(ctx, decision.Batches)
	return time.Time{}, false, err
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
	if snapshot.Group == nil {
		return coordinator.Decision{Batches: leftoverBatches(snapshot.Members)}, nil
	}
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

// leftoverBatches let go of the members that are being deleted and whose group is gone: nobody is left to hand over to.
func leftoverBatches(members []*v1alpha1.GroupMember) []coordinator.Batch {
	var writes []coordinator.Write
	for _, member := range members {
		if member.DeletionTimestamp == nil || !slices.Contains(member.Finalizers, v1alpha1.HandoverFinalizer) {
			continue
		}
		released := member.DeepCopy()
		released.Finalizers = slices.DeleteFunc(released.Finalizers, func(f string) bool { return f == v1alpha1.HandoverFinalizer })
		writes = append(writes, coordinator.Write{Verb: coordinator.Update, Old: member, New: released})
	}
	if len(writes) == 0 {
		return nil
	}
	return []coordinator.Batch{{Phase: coordinator.PhaseFinish, Writes: writes}}
}

// onlyOvertaken: every failure of a batch was a write that others had overtaken.
func onlyOvertaken(err error) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, one := range joined.Unwrap() {
			if !IsOvertaken(one) {
				return false
			}
		}
		return true
	}
	return IsOvertaken(err)
}
