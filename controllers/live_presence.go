package controllers

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/presence"
)

// livePresence tells what a member's pod shows now, past the cache.
type livePresence struct {
	workloads *WorkloadDriver
	source    func(WorkloadKey) *workloadSource
}

// present is the member with the presence that its pod, read live, would have written. A member that is past its deadline
// by what is stored may be back already; nobody is declared dead from a stale word.
func (p *livePresence) present(ctx context.Context, member *v1alpha1.GroupMember) (*v1alpha1.GroupMember, error) {
	key, _ := workloadOf(member)
	source := p.source(key)
	snapshot, err := source.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if err := source.substitutePod(ctx, &snapshot, member); err != nil {
		return nil, err
	}
	snapshot.Members = slices.Clone(snapshot.Members)
	for i, m := range snapshot.Members {
		if m.Name == member.Name {
			snapshot.Members[i] = member
		}
	}
	decision, err := p.workloads.answer(ctx, key, source, snapshot)
	if err != nil {
		return nil, err
	}
	for _, update := range decision.Updates {
		if update.New.Name == member.Name && longer(member.Spec.Presence, update.New.Spec.Presence) {
			back := member.DeepCopy()
			back.Spec.Presence = update.New.Spec.Presence
			return back, nil
		}
	}
	return member, nil
}

// longer: what is seen gives the member more time than what is stored: it is back, or another absence has begun.
func longer(stored, seen *v1alpha1.Presence) bool {
	return seen != nil && (seen.State == v1alpha1.Present || seen.State == v1alpha1.Away && seen.Since.After(stored.Since.Time))
}

// substitutePod replaces the member's pod in the snapshot by a live read: the pod of its incarnation and, where the name is
// the pod's, one that has taken the name since.
func (s *workloadSource) substitutePod(ctx context.Context, snapshot *presence.Snapshot, member *v1alpha1.GroupMember) error {
	name := member.Spec.MemberName
	for _, pod := range snapshot.Pods {
		if string(pod.UID) == member.Spec.Incarnation {
			name = pod.Name
		}
	}
	if name == "" {
		return nil // A dynamic member's pod that is gone does not come back.
	}
	live := &corev1.Pod{}
	err := s.store.GetLive(ctx, types.NamespacedName{Namespace: s.key.Namespace, Name: name}, live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("pod %s: %w", name, err)
	}
	snapshot.Pods = slices.DeleteFunc(snapshot.Pods, func(pod *corev1.Pod) bool { return pod.Name == name })
	if err == nil && (s.controls(live) || string(live.UID) == member.Spec.Incarnation) {
		snapshot.Pods = append(snapshot.Pods, live)
	}
	return s.readNodes(ctx, snapshot)
}

// controls: the pod is the workload's StatefulSet's, or looks like an orphan of it.
func (s *workloadSource) controls(pod *corev1.Pod) bool {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return owner.Kind == s.key.Kind && owner.Name == s.key.Name
	}
	return slices.Contains(orphanedSet(pod), s.key.Name)
}
