package controllers

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/publish"
)

// publishReconciler writes the assignment documents on pods, and acknowledges for members that cannot.
type publishReconciler struct {
	*reader
	driver *PublishDriver
	loader *Loader
	clock  clock.PassiveClock
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=rollcall.dev,resources=groupmembers,verbs=get;list;watch;patch

// Reconcile decides about one pod.
func (r *publishReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if err := r.loader.Wait(ctx); err != nil {
		return reconcile.Result{}, err
	}
	pod := request.NamespacedName
	wakeAt, err := r.driver.Drive(ctx, pod, &publishSource{reader: r.reader, key: pod, clock: r.clock})
	return wakeUp(wakeAt, r.clock.Now()), err
}

func (r *publishReconciler) setup(mgr manager.Manager, concurrency int) error {
	c, err := controller.NewTyped("publish", mgr, controller.Options{
		Reconciler: r, MaxConcurrentReconciles: concurrency, RateLimiter: retries[reconcile.Request](),
		LogConstructor: logFor[reconcile.Request](mgr, "pod"),
	})
	if err != nil {
		return err
	}
	informers := mgr.GetCache()
	return watchAll(c,
		source.TypedKind(informers, &corev1.Pod{}, enqueue(0, r.ofPod)),
		source.TypedKind(informers, &v1alpha1.GroupMember{}, enqueue(0, r.ofMember)),
		source.TypedKind(informers, &v1alpha1.ConsumerGroup{}, enqueue(0, r.ofGroup), groupSpecChanges()),
	)
}

// ofPod is the pod, where it has members or bears a document.
func (r *publishReconciler) ofPod(ctx context.Context, pod *corev1.Pod) ([]reconcile.Request, error) {
	if !bearsDocument(pod) {
		members, err := r.membersOfPod(ctx, pod.Namespace, pod.UID)
		if err != nil || len(members) == 0 {
			return nil, err
		}
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(pod)}}, nil
}

func bearsDocument(pod *corev1.Pod) bool {
	for key := range pod.Annotations {
		if strings.HasPrefix(key, v1alpha1.AssignmentAnnotationPrefix) {
			return true
		}
	}
	return false
}

// ofMember is the pod that the member's process runs in.
func (r *publishReconciler) ofMember(ctx context.Context, member *v1alpha1.GroupMember) ([]reconcile.Request, error) {
	if member.Spec.Workload == nil {
		return nil, nil
	}
	pods, err := r.pods(ctx, member.Namespace, podsByUID, member.Spec.Incarnation)
	if err != nil {
		return nil, err
	}
	var requests []reconcile.Request
	for _, pod := range pods {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)})
	}
	return requests, nil
}

// ofGroup are the pods of a group's members: documents tell how many partitions each topic has.
func (r *publishReconciler) ofGroup(ctx context.Context, group *v1alpha1.ConsumerGroup) ([]reconcile.Request, error) {
	members, err := r.membersOfGroup(ctx, client.ObjectKeyFromObject(group))
	if err != nil {
		return nil, err
	}
	var requests []reconcile.Request
	for _, member := range members {
		of, err := r.ofMember(ctx, member)
		if err != nil {
			return nil, err
		}
		requests = append(requests, of...)
	}
	return requests, nil
}

// publishSource gives a pod and its members from the cache.
type publishSource struct {
	*reader
	key   types.NamespacedName
	clock clock.PassiveClock
}

var _ PublishSource = (*publishSource)(nil)

// Snapshot is the newest known state of the pod, its members and their groups.
func (s *publishSource) Snapshot(ctx context.Context) (publish.Snapshot, error) {
	snapshot := publish.Snapshot{Groups: map[string]*v1alpha1.ConsumerGroup{}, Now: now(s.clock)}
	pod, ok, err := s.pod(ctx, s.key)
	if err != nil {
		return snapshot, fmt.Errorf("pod: %w", err)
	}
	if !ok {
		return snapshot, nil
	}
	snapshot.Pod = pod
	if snapshot.Members, err = s.membersOfPod(ctx, pod.Namespace, pod.UID); err != nil {
		return snapshot, fmt.Errorf("members: %w", err)
	}
	for _, member := range snapshot.Members {
		group, ok, err := s.group(ctx, GroupOf(member))
		if err != nil {
			return snapshot, fmt.Errorf("group %s: %w", member.Spec.Group, err)
		}
		if ok {
			snapshot.Groups[member.Spec.Group] = group
		}
	}
	return snapshot, nil
}
