package e2e_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// version is one state that an object was in.
type version struct {
	// number is its resourceVersion. All kinds are stored in one etcd, which counts every write of any object, so the
	// numbers order the versions of all kinds.
	number int64
	// gone: the object was deleted by this write, and was last as it stands here.
	gone   bool
	seen   time.Time
	object client.Object
}

// String names the object and the write.
func (v version) String() string {
	what := "written"
	if v.gone {
		what = "gone"
	}
	return fmt.Sprintf("%s %s %s (%d)", kindOf(v.object), v.object.GetName(), what, v.number)
}

// kindOf is the kind of a typed object: the API server leaves it out of what it sends.
func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }

// recorder keeps every version of every object of interest in one namespace.
type recorder struct {
	client    client.WithWatch
	namespace string

	mu       sync.Mutex
	versions []version
	last     int64                    // number of the newest version
	live     map[string]client.Object // by kind/name
	changed  chan struct{}            // closed and replaced with every version
	err      error
}

// recorded are the lists of the kinds that are recorded.
func recorded() []client.ObjectList {
	return []client.ObjectList{
		&v1alpha1.ConsumerGroupList{}, &v1alpha1.GroupMemberList{}, &appsv1.ControllerRevisionList{}, &corev1.PodList{},
	}
}

// record begins to record, until ctx ends. What is there already is recorded too.
func record(ctx context.Context, c client.WithWatch, namespace string) (*recorder, error) {
	r := &recorder{client: c, namespace: namespace, live: map[string]client.Object{}, changed: make(chan struct{})}
	for _, list := range recorded() {
		// Without a resourceVersion the watch begins with what is there, in one consistent state.
		w, err := c.Watch(ctx, list, client.InNamespace(namespace))
		if err != nil {
			return nil, fmt.Errorf("watch %T in %s: %w", list, namespace, err)
		}
		go r.follow(ctx, list, w)
	}
	return r, nil
}

// follow takes a watch's versions; when the API server ends the watch, it goes on from the last one.
func (r *recorder) follow(ctx context.Context, list client.ObjectList, w watch.Interface) {
	last := ""
	for {
		for event := range w.ResultChan() {
			if event.Type == watch.Error {
				r.fail(fmt.Errorf("watch %T: %w", list, apierrors.FromObject(event.Object)))
				w.Stop()
				return
			}
			object, ok := event.Object.(client.Object)
			if ok && event.Type != watch.Bookmark {
				last = object.GetResourceVersion()
				r.take(event.Type, object)
			}
		}
		w.Stop()
		if ctx.Err() != nil {
			return
		}
		var err error
		if w, err = r.client.Watch(ctx, list, &client.ListOptions{Namespace: r.namespace, Raw: &metav1.ListOptions{ResourceVersion: last}}); err != nil {
			r.fail(fmt.Errorf("watch %T again from %q: %w", list, last, err))
			return
		}
	}
}

func (r *recorder) take(event watch.EventType, object client.Object) {
	number, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		r.fail(fmt.Errorf("resourceVersion of %s: %w", object.GetName(), err))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v := version{number: number, gone: event == watch.Deleted, seen: time.Now(), object: object}
	r.versions = append(r.versions, v)
	r.last = max(r.last, number)
	if v.gone {
		delete(r.live, keyOf(object))
	} else {
		r.live[keyOf(object)] = object
	}
	r.announce()
}

func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
	r.announce()
}

func (r *recorder) announce() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func keyOf(object client.Object) string { return kindOf(object) + "/" + object.GetName() }

// next is closed when there is something new. The error says that something was missed.
func (r *recorder) next() (<-chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed, r.err
}

// history gives all versions in the order in which they were written.
func (r *recorder) history() []version {
	r.mu.Lock()
	versions := slices.Clone(r.versions)
	r.mu.Unlock()
	slices.SortStableFunc(versions, func(a, b version) int { return cmp.Compare(a.number, b.number) })
	return versions
}

// since gives the versions after a number.
func (r *recorder) since(number int64) []version {
	return slices.DeleteFunc(r.history(), func(v version) bool { return v.number <= number })
}

// newest is the number of the newest version.
func (r *recorder) newest() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
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
	slices.SortFunc(found, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return found
}

// named gives one object as it is.
func named[T client.Object](r *recorder, name string) (T, bool) {
	for _, object := range current[T](r) {
		if object.GetName() == name {
			return object, true
		}
	}
	var none T
	return none, false
}

// missing says what the API server has, or has no more, that was not recorded yet; empty when all was.
func (r *recorder) missing(ctx context.Context) (string, error) {
	for _, list := range recorded() {
		if err := r.client.List(ctx, list, client.InNamespace(r.namespace)); err != nil {
			return "", err
		}
		stored := map[string]string{}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			stored[keyOf(object)] = object.GetResourceVersion()
			return nil
		})
		if err != nil {
			return "", err
		}
		if key := r.behind(strings.TrimSuffix(reflect.TypeOf(list).Elem().Name(), "List"), stored); key != "" {
			return key, nil
		}
	}
	return "", nil
}

// behind is an object of this kind that is recorded otherwise than it is stored. An object may have been written since
// it was listed; a later version is as good.
func (r *recorder) behind(kind string, stored map[string]string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, number := range stored {
		if object := r.live[key]; object == nil || older(object.GetResourceVersion(), number) {
			return key
		}
	}
	for key, object := range r.live {
		if stored[key] == "" && strings.HasPrefix(key, kind+"/") {
			return kind + " " + object.GetName()
		}
	}
	return ""
}

func older(a, b string) bool {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) < 0
}
