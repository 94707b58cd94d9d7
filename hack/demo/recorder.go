package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
)

// namespace is the one that the sample is applied to.
const namespace = "default"

// version is one version of an object.
type version struct {
	object client.Object
	gone   bool
	// number orders the versions of all objects: one etcd counts them.
	number int64
	// seen is when it arrived here.
	seen time.Time
}

// recorder watches the group, its members and the pods, and keeps every version, so that it can be told afterwards what
// came before what.
type recorder struct {
	mu       sync.Mutex
	live     map[string]client.Object
	versions []version
	changed  chan struct{} // closed with the next version
	stop     context.CancelFunc
}

func newRecorder() *recorder {
	return &recorder{live: map[string]client.Object{}, changed: make(chan struct{}), stop: func() {}}
}

// start returns when everything that is there has been seen. Watching ends with ctx or stop.
func (r *recorder) start(ctx context.Context, config *rest.Config) error {
	ctx, r.stop = context.WithCancel(ctx)
	informers, err := cache.New(config, cache.Options{
		Scheme: controllers.Scheme(), DefaultNamespaces: map[string]cache.Config{namespace: {}},
	})
	if err != nil {
		return fmt.Errorf("watch the cluster: %w", err)
	}
	for _, kind := range []client.Object{&v1alpha1.ConsumerGroup{}, &v1alpha1.GroupMember{}, &corev1.Pod{}} {
		informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watch %T: %w", kind, err)
		}
		if _, err := informer.AddEventHandler(r); err != nil {
			return fmt.Errorf("watch %T: %w", kind, err)
		}
	}
	go func() { _ = informers.Start(ctx) }()
	if !informers.WaitForCacheSync(ctx) {
		return errors.Join(errors.New("watch the cluster: it does not answer"), ctx.Err())
	}
	return nil
}

// OnAdd records an object.
func (r *recorder) OnAdd(object any, _ bool) { r.record(object, false) }

// OnUpdate records an object's new version.
func (r *recorder) OnUpdate(_, object any) { r.record(object, false) }

// OnDelete records an object's end.
func (r *recorder) OnDelete(object any) {
	if unknown, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = unknown.Obj
	}
	r.record(object, true)
}

func (r *recorder) record(any any, gone bool) {
	object, ok := any.(client.Object)
	if !ok {
		return
	}
	number, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprintf("%T/%s", object, object.GetName())
	if r.live[key] = object; gone {
		delete(r.live, key)
	}
	r.versions = append(r.versions, version{object, gone, number, time.Now()})
	close(r.changed)
	r.changed = make(chan struct{})
}

// next is closed when something has changed after this call.
func (r *recorder) next() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

// count is the number of versions so far, and lastSeen when the newest came.
func (r *recorder) count() (count int, lastSeen time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.versions) == 0 {
		return 0, time.Time{}
	}
	return len(r.versions), r.versions[len(r.versions)-1].seen
}

// since gives the versions after the first count ones, in the order in which they were written.
func (r *recorder) since(count int) []version {
	r.mu.Lock()
	versions := slices.Clone(r.versions[count:])
	r.mu.Unlock()
	slices.SortStableFunc(versions, func(a, b version) int { return cmp.Compare(a.number, b.number) })
	return versions
}

// current gives the objects of one kind as they are, by name.
func current[T client.Object](r *recorder) []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []T
	for _, object := range r.live {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	slices.SortFunc(found, func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found
}

func (r *recorder) members() []*v1alpha1.GroupMember { return current[*v1alpha1.GroupMember](r) }

func (r *recorder) pods() []*corev1.Pod { return current[*corev1.Pod](r) }

// group is the sample's; an empty one before it is there.
func (r *recorder) group() *v1alpha1.ConsumerGroup {
	if groups := current[*v1alpha1.ConsumerGroup](r); len(groups) > 0 {
		return groups[0]
	}
	return &v1alpha1.ConsumerGroup{}
}
