package controllers

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// coalesce is how long a group's events are gathered before it is decided.
	coalesce = 100 * time.Millisecond
	// retryFirst and retryLast bound the wait before a failed reconcile is tried again. The last is short: a member that has
	// lost its partitions to a failed write waits for its grant, and only those that have something to write fail at all.
	retryFirst = 100 * time.Millisecond
	retryLast  = 2 * time.Second
)

// enqueue turns events into requests after a delay, in which further ones for the same thing fall together. It adds them
// without the low priority of a start's first events: they could starve behind others that keep coming.
func enqueue[O client.Object, R comparable](delay time.Duration, of func(context.Context, O) ([]R, error)) handler.TypedEventHandler[O, R] {
	type queue = workqueue.TypedRateLimitingInterface[R]
	add := func(ctx context.Context, q queue, objects ...O) {
		seen := map[R]bool{}
		for _, obj := range objects {
			requests, err := of(ctx, obj)
			if err != nil {
				logf.FromContext(ctx).Error(err, "Cannot tell what an event is about", "object", client.ObjectKeyFromObject(obj))
			}
			for _, request := range requests {
				if !seen[request] {
					seen[request] = true
					q.AddAfter(request, delay)
				}
			}
		}
	}
	return handler.TypedFuncs[O, R]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[O], q queue) { add(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[O], q queue) {
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() {
				add(ctx, q, e.ObjectNew, e.ObjectOld)
			}
		},
		DeleteFunc:  func(ctx context.Context, e event.TypedDeleteEvent[O], q queue) { add(ctx, q, e.Object) },
		GenericFunc: func(ctx context.Context, e event.TypedGenericEvent[O], q queue) { add(ctx, q, e.Object) },
	}
}

// retries is the rate limiter of all controllers.
func retries[R comparable]() workqueue.TypedRateLimiter[R] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[R](retryFirst, retryLast)
}

// wakeUp asks to be called again at an instant; zero asks for nothing.
func wakeUp(at, now time.Time) reconcile.Result {
	if at.IsZero() {
		return reconcile.Result{}
	}
	return reconcile.Result{RequeueAfter: max(at.Sub(now), time.Millisecond)}
}
