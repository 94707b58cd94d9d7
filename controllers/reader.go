package controllers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// reader reads the cache, overlaid with what this process knows to be newer. What it returns is shared with the cache:
// nobody changes it.
type reader struct {
	cache  client.Reader
	memory *Memory
}

var shared = client.UnsafeDisableDeepCopy

// newestOf reads one object; false when it is not there.
func newestOf[T coordinator.Object](ctx context.Context, r *reader, key types.NamespacedName, obj T) (T, bool, error) {
	var none T
	var cached coordinator.Object
	switch err := r.cache.Get(ctx, key, obj, shared); {
	case err == nil:
		cached = obj
	case !IsNotFound(err):
		return none, false, err
	}
	newest, ok := r.memory.Newest(Key{Kind: KeyOf(obj).Kind, NamespacedName: key}, cached).(T)
	return newest, ok, nil
}

func (r *reader) group(ctx context.Context, key types.NamespacedName) (*v1alpha1.ConsumerGroup, bool, error) {
	return newestOf(ctx, r, key, &v1alpha1.ConsumerGroup{})
}

func (r *reader) pod(ctx context.Context, key types.NamespacedName) (*corev1.Pod, bool, error) {
	return newestOf(ctx, r, key, &corev1.Pod{})
}

// membersOfGroup are the members that name a group.
func (r *reader) membersOfGroup(ctx context.Context, group types.NamespacedName) ([]*v1alpha1.GroupMember, error) {
	return r.members(ctx, group.Namespace, membersByGroup, group.Name, func(m *v1alpha1.GroupMember) bool {
		return GroupOf(m) == group
	})
}

// membersOfWorkload are the members that are pods of a workload.
func (r *reader) membersOfWorkload(ctx context.Context, key WorkloadKey) ([]*v1alpha1.GroupMember, error) {
	of := ofWorkload(key)
	return r.members(ctx, key.Namespace, membersByWorkload, ownerValue(key.Kind, key.Name), func(m *v1alpha1.GroupMember) bool {
		return of(m)
	})
}

// members by an index whose value never changes during a member's life.
func (r *reader) members(
	ctx context.Context, namespace, index, value string, belongs func(*v1alpha1.GroupMember) bool,
) ([]*v1alpha1.GroupMember, error) {
	var list v1alpha1.GroupMemberList
	err := r.cache.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{index: value}, shared)
	if err != nil {
		return nil, err
	}
	return Overlay(r.memory, pointers(list.Items), belongs), nil
}

// membersOfPod are the workload members whose process runs in a pod. A member passes from pod to pod, so the newest form of
// each one that is known to be this pod's, by the cache or by an own write, is looked at.
func (r *reader) membersOfPod(ctx context.Context, namespace string, uid types.UID) ([]*v1alpha1.GroupMember, error) {
	var list v1alpha1.GroupMemberList
	byPod := client.MatchingFields{membersByIncarnation: string(uid)}
	if err := r.cache.List(ctx, &list, client.InNamespace(namespace), byPod, shared); err != nil {
		return nil, err
	}
	belongs := func(m *v1alpha1.GroupMember) bool {
		return m.Namespace == namespace && m.Spec.Workload != nil && m.Spec.Incarnation == string(uid)
	}
	candidates := Known(r.memory, belongs)
	for i := range list.Items {
		candidates[client.ObjectKeyFromObject(&list.Items[i])] = true
	}
	var members []*v1alpha1.GroupMember
	for key := range candidates {
		member, ok, err := newestOf(ctx, r, key, &v1alpha1.GroupMember{})
		if err != nil {
			return nil, err
		}
		if ok && belongs(member) {
			members = append(members, member)
		}
	}
	return members, nil
}

// pods by one of the pods' indexes.
func (r *reader) pods(ctx context.Context, namespace, index, value string) ([]*corev1.Pod, error) {
	var list corev1.PodList
	err := r.cache.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{index: value}, shared)
	if err != nil {
		return nil, err
	}
	none := func(*corev1.Pod) bool { return false } // Pods are never created here.
	return Overlay(r.memory, pointers(list.Items), none), nil
}

// plans of one life of a group, without their data.
func (r *reader) plans(ctx context.Context, group *v1alpha1.ConsumerGroup) ([]*appsv1.ControllerRevision, error) {
	var list appsv1.ControllerRevisionList
	err := r.cache.List(ctx, &list, client.InNamespace(group.Namespace), client.MatchingLabels{v1alpha1.GroupLabel: group.Name}, shared)
	if err != nil {
		return nil, err
	}
	all := Overlay(r.memory, pointers(list.Items), func(plan *appsv1.ControllerRevision) bool {
		return GroupOf(plan) == client.ObjectKeyFromObject(group)
	})
	return plansOf(group, all), nil
}

// statefulSets and deployments that name a group.
func (r *reader) statefulSets(ctx context.Context, group types.NamespacedName) ([]appsv1.StatefulSet, error) {
	var list appsv1.StatefulSetList
	err := r.cache.List(ctx, &list, client.InNamespace(group.Namespace), client.MatchingFields{workloadsByGroup: group.Name}, shared)
	return list.Items, err
}

func (r *reader) deployments(ctx context.Context, group types.NamespacedName) ([]appsv1.Deployment, error) {
	var list appsv1.DeploymentList
	err := r.cache.List(ctx, &list, client.InNamespace(group.Namespace), client.MatchingFields{workloadsByGroup: group.Name}, shared)
	return list.Items, err
}

// podWorkloads are the workloads that a pod may belong to: its owner, through a ReplicaSet where one stands between; by its
// name where it has lost its owner; and those of the members whose process it is.
func (r *reader) podWorkloads(ctx context.Context, pod *corev1.Pod) ([]WorkloadKey, error) {
	key := func(kind, name string) WorkloadKey {
		return WorkloadKey{Kind: kind, NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: name}}
	}
	var keys []WorkloadKey
	for _, name := range orphanedSet(pod) {
		keys = append(keys, key(presence.KindStatefulSet, name))
	}
	if owner := metav1.GetControllerOf(pod); owner != nil {
		switch owner.Kind {
		case presence.KindStatefulSet:
			keys = append(keys, key(owner.Kind, owner.Name))
		case "ReplicaSet":
			set := replicaSetMetadata()
			err := r.cache.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}, set, shared)
			if client.IgnoreNotFound(err) != nil {
				return nil, err
			}
			for _, name := range deploymentOf(set) {
				keys = append(keys, key(presence.KindDeployment, name))
			}
		}
	}
	members, err := r.membersOfPod(ctx, pod.Namespace, pod.UID)
	if err != nil {
		return nil, err
	}
	for _, member := range members {
		if of, ok := workloadOf(member); ok {
			keys = append(keys, of)
		}
	}
	return keys, nil
}

func pointers[T any](items []T) []*T {
	result := make([]*T, len(items))
	for i := range items {
		result[i] = &items[i]
	}
	return result
}
