package controllers

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// groupReconciler writes the coordinator's side: statuses, plans, finalizers.
type groupReconciler struct {
	*reader
	driver   *Driver
	source   func(types.NamespacedName) *groupSource
	loader   *Loader
	sessions *Sessions
	clock    clock.PassiveClock
}

// The verb coordinate on consumergroups is no verb of the API server: the admission policy asks for it before it lets
// anyone write what only the coordinator may write.
// +kubebuilder:rbac:groups=rollcall.dev,resources=consumergroups,verbs=get;list;watch;patch;coordinate
// +kubebuilder:rbac:groups=rollcall.dev,resources=consumergroups/status;groupmembers/status,verbs=patch
// +kubebuilder:rbac:groups=rollcall.dev,resources=consumergroups/finalizers,verbs=update
// +kubebuilder:rbac:groups=rollcall.dev,resources=groupmembers,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile decides about one group.
func (r *groupReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if err := r.loader.Wait(ctx); err != nil {
		return reconcile.Result{}, err
	}
	wakeAt, err := r.driver.Drive(ctx, request.NamespacedName, r.source(request.NamespacedName))
	return r.patient(wakeUp(wakeAt, r.clock.Now())), err
}

// patient: while nothing is heard from the API server sessions stand still, so that their deadlines stay as near as they
// are. Nothing can be written then anyway.
func (r *groupReconciler) patient(result reconcile.Result) reconcile.Result {
	if result.RequeueAfter > 0 && r.sessions.contact.Lost() {
		result.RequeueAfter = max(result.RequeueAfter, probeEvery)
	}
	return result
}

func (r *groupReconciler) setup(mgr manager.Manager, concurrency int) error {
	c, err := controller.NewTyped("group", mgr, controller.Options{
		Reconciler: r, MaxConcurrentReconciles: concurrency, RateLimiter: retries[reconcile.Request](),
		LogConstructor: logFor[reconcile.Request](mgr, "group"),
	})
	if err != nil {
		return err
	}
	informers := mgr.GetCache()
	replicas := changed(func(a, b *appsv1.StatefulSet) bool { return differ(a, b, a.Spec.Replicas, b.Spec.Replicas) })
	deploymentReplicas := changed(func(a, b *appsv1.Deployment) bool { return differ(a, b, a.Spec.Replicas, b.Spec.Replicas) })
	return watchAll(c,
		source.TypedKind(informers, &v1alpha1.ConsumerGroup{}, enqueue(coalesce, itsGroup[*v1alpha1.ConsumerGroup])),
		source.TypedKind(informers, &v1alpha1.GroupMember{}, enqueue(coalesce, itsGroup[*v1alpha1.GroupMember])),
		source.TypedKind(informers, &appsv1.ControllerRevision{}, enqueue(coalesce, itsGroup[*appsv1.ControllerRevision])),
		source.TypedKind(informers, &coordinationv1.Lease{}, heartbeats(r.sessions)),
		source.TypedKind(informers, &corev1.Pod{}, enqueue(coalesce, r.ofRival), podEnds()),
		source.TypedKind(informers, &appsv1.StatefulSet{}, enqueue(coalesce, namedRequests[*appsv1.StatefulSet]), replicas),
		source.TypedKind(informers, &appsv1.Deployment{}, enqueue(coalesce, namedRequests[*appsv1.Deployment]), deploymentReplicas),
	)
}

// itsGroup is the group that an object belongs to.
func itsGroup[T client.Object](_ context.Context, obj T) ([]reconcile.Request, error) {
	group := GroupOf(obj)
	if group.Name == "" {
		return nil, nil
	}
	return []reconcile.Request{{NamespacedName: group}}, nil
}

// namedRequests are the groups that a workload names.
func namedRequests[T client.Object](_ context.Context, workload T) ([]reconcile.Request, error) {
	var requests []reconcile.Request
	for _, name := range groupsOf(workload) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: workload.GetNamespace(), Name: name}})
	}
	return requests, nil
}

// differ tells whether a workload's declared replicas, the groups they are declared for, or whether they have names, changed.
func differ(a, b client.Object, replicasA, replicasB *int32) bool {
	return ptr.Deref(replicasA, 1) != ptr.Deref(replicasB, 1) ||
		a.GetAnnotations()[v1alpha1.GroupAnnotation] != b.GetAnnotations()[v1alpha1.GroupAnnotation] ||
		a.GetAnnotations()[v1alpha1.MembershipAnnotation] != b.GetAnnotations()[v1alpha1.MembershipAnnotation] ||
		(a.GetDeletionTimestamp() == nil) != (b.GetDeletionTimestamp() == nil)
}
