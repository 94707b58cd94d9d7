package controllers

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// watchAll starts a controller's sources.
func watchAll[R comparable](c controller.TypedController[R], sources ...source.TypedSource[R]) error {
	for _, s := range sources {
		if err := c.Watch(s); err != nil {
			return err
		}
	}
	return nil
}

// changed lets every creation and deletion through, and the updates that make a difference.
func changed[T client.Object](difference func(before, after T) bool) predicate.TypedPredicate[T] {
	return predicate.TypedFuncs[T]{
		UpdateFunc: func(e event.TypedUpdateEvent[T]) bool { return difference(e.ObjectOld, e.ObjectNew) },
	}
}

// writtenKinds are the kinds that this process writes, so that its Memory must learn what the cache shows of them.
func writtenKinds() []client.Object {
	return []client.Object{&v1alpha1.ConsumerGroup{}, &v1alpha1.GroupMember{}, &appsv1.ControllerRevision{}, &corev1.Pod{}}
}

// follow keeps the memory informed of what the cache shows.
func (m *Memory) follow(ctx context.Context, informers cache.Informers) error {
	handler := toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { m.sees(obj) },
		UpdateFunc: func(_, obj any) { m.sees(obj) },
		DeleteFunc: func(obj any) { m.seesGone(obj) },
	}
	for _, kind := range writtenKinds() {
		informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	return nil
}

func (m *Memory) sees(obj any) {
	if o, ok := obj.(coordinator.Object); ok {
		m.Saw(o)
	}
}

func (m *Memory) seesGone(obj any) {
	if unseen, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = unseen.Obj
	}
	if o, ok := obj.(coordinator.Object); ok {
		m.SawGone(o)
	}
}

// logFor gives each reconcile a logger that names what it is about.
func logFor[R comparable](mgr manager.Manager, what string) func(*R) logr.Logger {
	log := mgr.GetLogger().WithName(what)
	return func(request *R) logr.Logger {
		if request == nil {
			return log
		}
		return log.WithValues(what, fmt.Sprint(*request))
	}
}
