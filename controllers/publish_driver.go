package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/publish"
)

// PublishSource gives a pod and its members.
type PublishSource interface {
	// Snapshot is the newest known state.
	Snapshot(ctx context.Context) (publish.Snapshot, error)
}

// PublishDriver brings assignments to a pod, and acknowledges for members that cannot, until nothing is left to do.
type PublishDriver struct {
	Executor *Executor
	// Decide is publish.Decide, save in tests.
	Decide func(publish.Snapshot) publish.Decision

	events standing[types.NamespacedName]
}

// Drive decides and carries out, again and again, until there is nothing to do. It returns the instant at which
// something will be due (zero: nothing will). With an error the pod is to be driven again soon.
func (d *PublishDriver) Drive(ctx context.Context, pod types.NamespacedName, source PublishSource) (time.Time, error) {
	return d.Executor.loop(ctx, "pod "+pod.String(), func() (time.Time, []coordinator.Batch, error) {
		snapshot, err := d.settledSnapshot(ctx, pod, source)
		if err != nil {
			return time.Time{}, nil, err
		}
		decision := d.Decide(snapshot)
		d.tell(pod, decision.Events)
		return decision.WakeAt, batchOf(coordinator.PhaseFacts, publishWrites(snapshot.Pod, decision)), nil
	})
}

// settledSnapshot is a snapshot in which nothing rests on a write of unknown outcome.
func (d *PublishDriver) settledSnapshot(ctx context.Context, pod types.NamespacedName, source PublishSource) (publish.Snapshot, error) {
	snapshot, err := source.Snapshot(ctx)
	if err != nil {
		return snapshot, err
	}
	scope := podAndMembers(pod, snapshot.Members)
	if len(d.Executor.Memory.unsettled(scope)) == 0 {
		return snapshot, nil
	}
	if err := d.Executor.Settle(ctx, scope, 0); err != nil {
		return snapshot, err
	}
	return source.Snapshot(ctx)
}

func (d *PublishDriver) tell(pod types.NamespacedName, events []publish.Event) {
	now := make([]standingEvent, 0, len(events))
	for _, e := range events {
		now = append(now, standingEvent{e.Key, coordinator.Event{About: e.About, Warning: e.Warning, Reason: e.Reason, Message: e.Message}})
	}
	for _, event := range d.events.begun(pod, now) {
		d.Executor.send(event)
	}
}

func publishWrites(pod *corev1.Pod, decision publish.Decision) []coordinator.Write {
	var writes []coordinator.Write
	if pod != nil && len(decision.Annotations) > 0 {
		writes = append(writes, coordinator.Write{Verb: coordinator.Update, Old: pod, New: annotated(pod, decision.Annotations)})
	}
	for _, update := range decision.Updates {
		writes = append(writes, coordinator.Write{Verb: coordinator.Update, Old: update.Old, New: update.New})
	}
	return writes
}

// annotated is the pod with annotations set, or removed where the value is nil.
func annotated(pod *corev1.Pod, changes map[string]*string) *corev1.Pod {
	changed := pod.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	for key, value := range changes {
		if value == nil {
			delete(changed.Annotations, key)
		} else {
			changed.Annotations[key] = *value
		}
	}
	return changed
}

func podAndMembers(pod types.NamespacedName, members []*v1alpha1.GroupMember) func(coordinator.Object) bool {
	keys := map[Key]bool{{Kind: "Pod", NamespacedName: pod}: true}
	for _, member := range members {
		keys[KeyOf(member)] = true
	}
	return func(obj coordinator.Object) bool { return keys[KeyOf(obj)] }
}
