package sim

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/publish"
)

// publishSource is one pod and its members as a manager's cache shows them, overlaid with the manager's own writes.
type publishSource struct {
	manager *Manager
	uid     string
}

var _ controllers.PublishSource = (*publishSource)(nil)

// Snapshot is the newest that the manager knows.
func (s *publishSource) Snapshot(context.Context) (publish.Snapshot, error) {
	m, view := s.manager, s.manager.view()
	snapshot := publish.Snapshot{Groups: map[string]*v1alpha1.ConsumerGroup{}, Now: m.world.Now()}
	for _, pod := range controllers.Overlay(m.memory, ListFrom[*corev1.Pod](view), func(*corev1.Pod) bool { return false }) {
		if string(pod.UID) == s.uid {
			snapshot.Pod = pod
		}
	}
	mine := func(member *v1alpha1.GroupMember) bool {
		return member.Spec.Workload != nil && member.Spec.Incarnation == s.uid
	}
	all := controllers.Overlay(m.memory, ListFrom[*v1alpha1.GroupMember](view), mine)
	snapshot.Members = slices.DeleteFunc(all, func(member *v1alpha1.GroupMember) bool { return !mine(member) })
	for _, member := range snapshot.Members {
		if group := GetFrom[*v1alpha1.ConsumerGroup](view, member.Spec.Group); group != nil {
			snapshot.Groups[group.Name] = group
		}
	}
	return snapshot, nil
}

// podNamed is the name of the pod of that UID, there or not.
func (w *World) podNamed(uid string) string {
	for name, pod := range w.pods {
		if string(pod.UID) == uid {
			return name
		}
	}
	return uid
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
