package controllers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/presence"
)

// workloadReconciler writes the members' side: what workloads, pods and nodes say of their members.
type workloadReconciler struct {
	*reader
	driver *WorkloadDriver
	source func(WorkloadKey) *workloadSource
	loader *Loader
	clock  clock.PassiveClock
}

// +kubebuilder:rbac:groups=apps,resources=statefulsets;deployments;replicasets,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=pods;nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=rollcall.dev,resources=consumergroups,verbs=get;list;watch
// +kubebuilder:rbac:groups=rollcall.dev,resources=groupmembers,verbs=get;list;watch;create;patch;delete

// Reconcile decides about one workload.
func (r *workloadReconciler) Reconcile(ctx context.Context, key WorkloadKey) (reconcile.Result, error) {
	if err := r.loader.Wait(ctx); err != nil {
		return reconcile.Result{}, err
	}
	wakeAt, err := r.driver.Drive(ctx, key, r.source(key))
	return wakeUp(wakeAt, r.clock.Now()), err
}

func (r *workloadReconciler) setup(mgr manager.Manager, concurrency int) error {
	c, err := controller.NewTyped("workload", mgr, controller.TypedOptions[WorkloadKey]{
		Reconciler: r, MaxConcurrentReconciles: concurrency, RateLimiter: retries[WorkloadKey](), LogConstructor: logFor[WorkloadKey](mgr, "workload"),
	})
	if err != nil {
		return err
	}
	informers := mgr.GetCache()
	return watchAll(c,
		source.TypedKind(informers, &appsv1.StatefulSet{}, enqueue(0, workloadItself[*appsv1.StatefulSet](r, presence.KindStatefulSet))),
		source.TypedKind(informers, &appsv1.Deployment{}, enqueue(0, workloadItself[*appsv1.Deployment](r, presence.KindDeployment))),
		source.TypedKind(informers, &corev1.Pod{}, enqueue(0, r.ofPod)),
		source.TypedKind(informers, &corev1.Node{}, enqueue(0, r.ofNode), nodeChanges()),
		source.TypedKind(informers, &v1alpha1.ConsumerGroup{}, enqueue(0, r.ofGroup), groupSpecChanges()),
		source.TypedKind(informers, &v1alpha1.GroupMember{}, enqueue(0, r.ofMember)),
	)
}

// workloadItself is the workload, where it names a group or has members.
func workloadItself[T client.Object](r *workloadReconciler, kind string) func(context.Context, T) ([]WorkloadKey, error) {
	return func(ctx context.Context, workload T) ([]WorkloadKey, error) {
		return r.concerned(ctx, []WorkloadKey{{Kind: kind, NamespacedName: client.ObjectKeyFromObject(workload)}})
	}
}

// ofPod are the workloads of a pod, where they name a group or have members.
func (r *workloadReconciler) ofPod(ctx context.Context, pod *corev1.Pod) ([]WorkloadKey, error) {
	keys, err := r.podWorkloads(ctx, pod)
	if err != nil {
		return nil, err
	}
	return r.concerned(ctx, keys)
}

// ofNode are the workloads of a node's pods.
func (r *workloadReconciler) ofNode(ctx context.Context, node *corev1.Node) ([]WorkloadKey, error) {
	pods, err := r.pods(ctx, "", podsByNode, node.Name)
	if err != nil {
		return nil, err
	}
	var keys []WorkloadKey
	for _, pod := range pods {
		of, err := r.ofPod(ctx, pod)
		if err != nil {
			return nil, err
		}
		keys = append(keys, of...)
	}
	return keys, nil
}

// ofGroup are the workloads that name a group, and those of its members.
func (r *workloadReconciler) ofGroup(ctx context.Context, group *v1alpha1.ConsumerGroup) ([]WorkloadKey, error) {
	name := client.ObjectKeyFromObject(group)
	key := func(kind, workload string) WorkloadKey {
		return WorkloadKey{Kind: kind, NamespacedName: types.NamespacedName{Namespace: name.Namespace, Name: workload}}
	}
	var keys []WorkloadKey
	sets, err := r.statefulSets(ctx, name)
	if err != nil {
		return nil, err
	}
	for i := range sets {
		keys = append(keys, key(presence.KindStatefulSet, sets[i].Name))
	}
	deployments, err := r.deployments(ctx, name)
	if err != nil {
		return nil, err
	}
	for i := range deployments {
		keys = append(keys, key(presence.KindDeployment, deployments[i].Name))
	}
	members, err := r.membersOfGroup(ctx, name)
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

// ofMember is the member's workload, or that of the pod which bears the name of a member that registered itself: the pod
// takes the name when it is free.
func (r *workloadReconciler) ofMember(ctx context.Context, member *v1alpha1.GroupMember) ([]WorkloadKey, error) {
	if of, ok := workloadOf(member); ok {
		return []WorkloadKey{of}, nil
	}
	if member.Spec.MemberName == "" {
		return nil, nil
	}
	pod, ok, err := r.pod(ctx, types.NamespacedName{Namespace: member.Namespace, Name: member.Spec.MemberName})
	if err != nil || !ok {
		return nil, err
	}
	return r.ofPod(ctx, pod)
}

// concerned are those of the workloads that have to do with any group: they name one, or did and still have members.
func (r *workloadReconciler) concerned(ctx context.Context, keys []WorkloadKey) ([]WorkloadKey, error) {
	var found []WorkloadKey
	for _, key := range keys {
		names, err := r.namesGroup(ctx, key)
		if err != nil {
			return nil, err
		}
		if !names {
			members, err := r.membersOfWorkload(ctx, key)
			if err != nil {
				return nil, err
			}
			names = len(members) > 0
		}
		if names {
			found = append(found, key)
		}
	}
	return found, nil
}

func (r *workloadReconciler) namesGroup(ctx context.Context, key WorkloadKey) (bool, error) {
	var workload client.Object = &appsv1.StatefulSet{}
	if key.Kind == presence.KindDeployment {
		workload = &appsv1.Deployment{}
	}
	if err := r.cache.Get(ctx, key.NamespacedName, workload, shared); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return len(groupsOf(workload)) > 0, nil
}

// nodeChanges lets through what presence reads of a node: whether it is there and ready, and its zone.
func nodeChanges() predicate.TypedPredicate[*corev1.Node] {
	return changed(func(a, b *corev1.Node) bool {
		return readiness(a) != readiness(b) || a.Labels[corev1.LabelTopologyZone] != b.Labels[corev1.LabelTopologyZone] ||
			len(a.Spec.Taints) != len(b.Spec.Taints)
	})
}

func readiness(node *corev1.Node) corev1.ConditionStatus {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}

// groupSpecChanges lets through what presence reads of a group: whether it is there, and its spec.
func groupSpecChanges() predicate.TypedPredicate[*v1alpha1.ConsumerGroup] {
	return changed(func(a, b *v1alpha1.ConsumerGroup) bool {
		return a.Generation != b.Generation || a.UID != b.UID || (a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil)
	})
}
