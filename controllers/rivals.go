package controllers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// rivals are the pods that bear the name of a member which registered itself and would be members under it.
func (s *groupSource) rivals(ctx context.Context, members []*v1alpha1.GroupMember) (map[string]coordinator.Rival, error) {
	var rivals map[string]coordinator.Rival
	for _, member := range members {
		if member.Spec.Workload != nil || member.Spec.MemberName == "" {
			continue
		}
		pod, ok, err := s.pod(ctx, types.NamespacedName{Namespace: member.Namespace, Name: member.Spec.MemberName})
		if err != nil {
			return nil, fmt.Errorf("pod %s: %w", member.Spec.MemberName, err)
		}
		if !ok {
			continue
		}
		set, err := s.setOf(ctx, pod)
		if err != nil {
			return nil, fmt.Errorf("StatefulSet of pod %s: %w", pod.Name, err)
		}
		if set == nil || !presence.Claims(set, pod, member.Spec.Group, s.workloadConfig) {
			continue
		}
		if rivals == nil {
			rivals = map[string]coordinator.Rival{}
		}
		rivals[member.Name] = coordinator.Rival{Pod: pod.Name, Node: pod.Spec.NodeName}
	}
	return rivals, nil
}

// setOf is the StatefulSet that controls a pod; nil when none does, or it is not there.
func (r *reader) setOf(ctx context.Context, pod *corev1.Pod) (*appsv1.StatefulSet, error) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != presence.KindStatefulSet {
		return nil, nil
	}
	set := &appsv1.StatefulSet{}
	if err := r.cache.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}, set, shared); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return set, nil
}

// ofRival are the groups in which a member that registered itself bears the pod's name.
func (r *groupReconciler) ofRival(ctx context.Context, pod *corev1.Pod) ([]reconcile.Request, error) {
	set, err := r.setOf(ctx, pod)
	if err != nil || set == nil {
		return nil, err
	}
	var requests []reconcile.Request
	for _, group := range groupsOf(set) {
		key := types.NamespacedName{Namespace: pod.Namespace, Name: presence.StaticObjectName(group, pod.Name)}
		member, ok, err := newestOf(ctx, r.reader, key, &v1alpha1.GroupMember{})
		if err != nil {
			return nil, err
		}
		if ok && member.Spec.Workload == nil {
			requests = append(requests, reconcile.Request{NamespacedName: GroupOf(member)})
		}
	}
	return requests, nil
}

// podEnds lets through, of a pod's updates, that it stops or is being deleted: whether it claims a name depends on no other.
func podEnds() predicate.TypedPredicate[*corev1.Pod] {
	return changed(func(a, b *corev1.Pod) bool {
		return a.Status.Phase != b.Status.Phase || (a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil)
	})
}
