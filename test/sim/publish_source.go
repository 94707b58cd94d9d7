package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/publish"
)

// runPublish lets publish decide about one pod, by its UID, until it wants nothing more.
func (m *Manager) runPublish(ctx context.Context, uid string) (time.Time, error) {
	err := m.executors[Publish].Settle(ctx, func(object Object) bool {
		member, isMember := object.(*v1alpha1.GroupMember)
		return string(object.GetUID()) == uid || isMember && member.Spec.Incarnation == uid
	}, 0)
	if err != nil {
		return time.Time{}, err
	}
	for range maxDecisions {
		snapshot := m.publishSnapshot(uid, m.view())
		decision := publish.Decide(snapshot)
		m.tellPublish(decision.Events)
		writes := publishWrites(snapshot.Pod, decision)
		if len(writes) == 0 {
			return decision.WakeAt, nil
		}
		if _, err := m.executors[Publish].Run(ctx, []coordinator.Batch{{Phase: coordinator.PhaseFacts, Writes: writes}}); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, fmt.Errorf("pod %s: %w", uid, controllers.ErrNotSettled)
}

func (m *Manager) publishSnapshot(uid string, view View) publish.Snapshot {
	snapshot := publish.Snapshot{Groups: map[string]*v1alpha1.ConsumerGroup{}, Now: m.world.Now()}
	pods := controllers.Overlay(m.memory, ListFrom[*corev1.Pod](view), func(*corev1.Pod) bool { return true })
	for _, pod := range pods {
		if string(pod.UID) == uid {
			snapshot.Pod = pod
		}
	}
	mine := func(member *v1alpha1.GroupMember) bool {
		return member.Spec.Workload != nil && member.Spec.Incarnation == uid
	}
	all := controllers.Overlay(m.memory, ListFrom[*v1alpha1.GroupMember](view), mine)
	snapshot.Members = slices.DeleteFunc(all, func(member *v1alpha1.GroupMember) bool { return !mine(member) })
	for _, member := range snapshot.Members {
		if group := GetFrom[*v1alpha1.ConsumerGroup](view, member.Spec.Group); group != nil {
			snapshot.Groups[group.Name] = group
		}
	}
	return snapshot
}

// publishedPods are the UIDs of pods that have members, or bear a document.
func (m *Manager) publishedPods() []string {
	var uids []string
	for _, member := range List[*v1alpha1.GroupMember](m.world.Store) {
		if member.Spec.Workload != nil {
			uids = append(uids, member.Spec.Incarnation)
		}
	}
	for _, pod := range List[*corev1.Pod](m.world.Store) {
		if bearsDocument(pod) {
			uids = append(uids, string(pod.UID))
		}
	}
	slices.Sort(uids)
	return slices.Compact(uids)
}

func bearsDocument(pod *corev1.Pod) bool {
	for key := range pod.Annotations {
		if strings.HasPrefix(key, v1alpha1.AssignmentAnnotationPrefix) {
			return true
		}
	}
	return false
}

// publishWrites are the writes that publish wants.
func publishWrites(pod *corev1.Pod, decision publish.Decision) []coordinator.Write {
	var writes []coordinator.Write
	if len(decision.Annotations) > 0 && pod != nil {
		annotated := pod.DeepCopy()
		annotated.Annotations = maps.Clone(pod.Annotations)
		if annotated.Annotations == nil {
			annotated.Annotations = map[string]string{}
		}
		for key, value := range decision.Annotations {
			if value == nil {
				delete(annotated.Annotations, key)
			} else {
				annotated.Annotations[key] = *value
			}
		}
		writes = append(writes, coordinator.Write{Verb: coordinator.Update, Old: pod, New: annotated})
	}
	for _, update := range decision.Updates {
		writes = append(writes, coordinator.Write{Verb: coordinator.Update, Old: update.Old, New: update.New})
	}
	return writes
}

func (m *Manager) tellPublish(events []publish.Event) {
	for _, event := range events {
		m.tell(event.Key, coordinator.Event{
			About: event.About, Warning: event.Warning, Reason: event.Reason, Message: event.Message,
		})
	}
}
