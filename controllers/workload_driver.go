package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// WorkloadKey names a StatefulSet or Deployment.
type WorkloadKey struct {
	Kind string
	types.NamespacedName
}

// String is for messages and logs.
func (k WorkloadKey) String() string { return k.Kind + " " + k.NamespacedName.String() }

// WorkloadSource gives the objects of one workload.
type WorkloadSource interface {
	// Snapshot is the newest known state, without sights.
	Snapshot(ctx context.Context) (presence.Snapshot, error)
	// ReadLive reads what is needed past the cache into the snapshot and marks it in its Live.
	ReadLive(ctx context.Context, snapshot *presence.Snapshot, need presence.Live) error
}

// WorkloadDriver lets presence decide about a workload's members until nothing is left to do. It keeps the first sights.
type WorkloadDriver struct {
	Executor *Executor
	// Decide is presence.Decide, save in tests.
	Decide func(presence.Snapshot) presence.Decision

	mu     sync.Mutex
	sights map[WorkloadKey]presence.Sights
	events standing[WorkloadKey]
}

// Drive decides and carries out, again and again, until there is nothing to do. It returns the instant at which
// something will be due (zero: nothing will). With an error the workload is to be driven again soon.
func (d *WorkloadDriver) Drive(ctx context.Context, key WorkloadKey, source WorkloadSource) (time.Time, error) {
	return d.Executor.loop(ctx, key.String(), func() (time.Time, []coordinator.Batch, error) {
		if err := d.Executor.Settle(ctx, ofWorkload(key), 0); err != nil {
			return time.Time{}, nil, err
		}
		decision, err := d.decide(ctx, key, source)
		if err != nil {
			return time.Time{}, nil, err
		}
		d.keep(key, decision.Sights)
		d.tell(key, decision.Events)
		return decision.WakeAt, batchOf(coordinator.PhaseFacts, presenceWrites(decision)), nil
	})
}

func (d *WorkloadDriver) decide(ctx context.Context, key WorkloadKey, source WorkloadSource) (presence.Decision, error) {
	snapshot, err := source.Snapshot(ctx)
	if err != nil {
		return presence.Decision{}, err
	}
	return d.answer(ctx, key, source, snapshot)
}

// answer asks presence about a snapshot, reading live what it needs.
func (d *WorkloadDriver) answer(
	ctx context.Context, key WorkloadKey, source WorkloadSource, snapshot presence.Snapshot,
) (presence.Decision, error) {
	snapshot.Sights = d.SightsOf(key)
	for range maxLiveReads {
		decision := d.Decide(snapshot)
		if decision.Need.Empty() {
			return decision, nil
		}
		if err := source.ReadLive(ctx, &snapshot, decision.Need); err != nil {
			return presence.Decision{}, fmt.Errorf("read live: %w", err)
		}
	}
	return presence.Decision{}, fmt.Errorf("live reads: %w", ErrNotSettled)
}

// SightsOf is what was seen of a workload's pods and is not yet in its members.
func (d *WorkloadDriver) SightsOf(key WorkloadKey) presence.Sights {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sights[key]
}

func (d *WorkloadDriver) keep(key WorkloadKey, sights presence.Sights) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(sights) == 0 {
		delete(d.sights, key)
		return
	}
	if d.sights == nil {
		d.sights = map[WorkloadKey]presence.Sights{}
	}
	d.sights[key] = sights
}

func (d *WorkloadDriver) tell(key WorkloadKey, events []presence.Event) {
	now := make([]standingEvent, 0, len(events))
	for _, e := range events {
		now = append(now, standingEvent{e.Key, coordinator.Event{About: e.About, Warning: e.Warning, Reason: e.Reason, Message: e.Message}})
	}
	for _, event := range d.events.begun(key, now) {
		d.Executor.send(event)
	}
}

// presenceWrites are the writes of a decision, in the order in which one by one they are sent.
func presenceWrites(decision presence.Decision) []coordinator.Write {
	var writes []coordinator.Write
	for _, update := range decision.Updates {
		writes = append(writes, coordinator.Write{Verb: coordinator.Update, Old: update.Old, New: update.New})
	}
	for _, member := range decision.Creates {
		writes = append(writes, coordinator.Write{Verb: coordinator.Create, New: member})
	}
	for _, member := range decision.Deletes {
		writes = append(writes, coordinator.Write{Verb: coordinator.Delete, Old: member})
	}
	return writes
}

// ofWorkload tells whether an object is a member of a workload.
func ofWorkload(key WorkloadKey) func(coordinator.Object) bool {
	return func(obj coordinator.Object) bool {
		member, ok := obj.(*v1alpha1.GroupMember)
		if !ok {
			return false
		}
		of, ok := workloadOf(member)
		return ok && of == key
	}
}

// workloadOf is the workload of a member, if it has one.
func workloadOf(member *v1alpha1.GroupMember) (WorkloadKey, bool) {
	if member.Spec.Workload == nil {
		return WorkloadKey{}, false
	}
	return WorkloadKey{
		Kind:           member.Spec.Workload.Kind,
		NamespacedName: types.NamespacedName{Namespace: member.Namespace, Name: member.Spec.Workload.Name},
	}, true
}
