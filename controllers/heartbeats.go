package controllers

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// heartbeats lets the sessions see every Lease, and asks for a reconcile only where more has happened than a renewal in
// time. A thousand members renew many times a second; a group has nothing to do for that.
func heartbeats(sessions *Sessions) handler.TypedEventHandler[*coordinationv1.Lease, reconcile.Request] {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	see := func(ctx context.Context, q queue, lease *coordinationv1.Lease) {
		if sessions.Observe(ctx, lease) {
			askFor(ctx, q, sessions, lease)
		}
	}
	return handler.TypedFuncs[*coordinationv1.Lease, reconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*coordinationv1.Lease], q queue) {
			see(ctx, q, e.Object)
		},
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*coordinationv1.Lease], q queue) {
			see(ctx, q, e.ObjectNew)
		},
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*coordinationv1.Lease], q queue) {
			sessions.Deleted(ctx, e.Object)
			askFor(ctx, q, sessions, e.Object)
		},
	}
}

// askFor asks for a reconcile of the group of a Lease's member. A member that the cache does not show yet brings its own
// event.
func askFor(
	ctx context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request], sessions *Sessions, lease *coordinationv1.Lease,
) {
	member := sessions.member(ctx, client.ObjectKeyFromObject(lease))
	if member == nil {
		return
	}
	group := types.NamespacedName{Namespace: member.Namespace, Name: member.Spec.Group}
	q.AddAfter(reconcile.Request{NamespacedName: group}, coalesce)
}

// slimLease keeps the heartbeat.
func slimLease(lease *coordinationv1.Lease) {
	lease.Annotations = nil
	lease.Labels = map[string]string{v1alpha1.GroupLabel: lease.Labels[v1alpha1.GroupLabel]}
	lease.OwnerReferences = nil
}
