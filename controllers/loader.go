package controllers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/rollcall-dev/rollcall/coordinator"
)

const (
	// loadPage is how many objects one live list asks for.
	loadPage = 500
	// loadPoll is how often the cache is compared with what was listed.
	loadPoll = 20 * time.Millisecond
	// loadLook is after how many comparisons an object that the cache does not show is looked for in the API server.
	loadLook = 50
)

// errLoading is what readiness answers while a new leader is loading.
var errLoading = errors.New("state Initialize: the cache does not yet hold everything that was there at the start")

// Loader makes sure that a new leader decides from nothing older than what its predecessor last wrote. A cache is filled
// from a list that may be old; so once this process leads, everything is listed live (metadata alone), and no
// reconciler decides until the cache holds each of those objects in that version or a later one.
type Loader struct {
	live   client.Reader
	cache  client.Reader
	scheme *runtime.Scheme
	kinds  []loadedKind
	log    logr.Logger

	leading chan struct{}
	loaded  chan struct{}
}

// loadedKind is a kind of object, with the selector of its informer.
type loadedKind struct {
	object   client.Object
	selector labels.Selector
}

var _ manager.LeaderElectionRunnable = (*Loader)(nil)

// NewLoader compares the cache with live reads of the kinds.
func NewLoader(live, cache client.Reader, scheme *runtime.Scheme, log logr.Logger, kinds ...loadedKind) *Loader {
	return &Loader{
		live: live, cache: cache, scheme: scheme, kinds: kinds, log: log,
		leading: make(chan struct{}), loaded: make(chan struct{}),
	}
}

// NeedLeaderElection: loading begins when this process leads.
func (l *Loader) NeedLeaderElection() bool { return true }

// Start loads everything, then returns.
func (l *Loader) Start(ctx context.Context) error {
	close(l.leading)
	began := time.Now()
	l.log.Info("Initialize: waiting for the cache to hold everything that is there now")
	total := 0
	for _, kind := range l.kinds {
		count, err := l.load(ctx, kind)
		if err != nil {
			return fmt.Errorf("load %T: %w", kind.object, err)
		}
		total += count
	}
	close(l.loaded)
	initialized.Set(1)
	l.log.Info("Initialized", "objects", total, "took", time.Since(began).String())
	return nil
}

// Wait returns when everything is loaded.
func (l *Loader) Wait(ctx context.Context) error {
	select {
	case <-l.loaded:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Ready is the readiness check: one who does not lead is ready to take over.
func (l *Loader) Ready(*http.Request) error {
	select {
	case <-l.leading:
	default:
		return nil
	}
	select {
	case <-l.loaded:
		return nil
	default:
		return errLoading
	}
}

// load lists a kind live and waits until the cache has it all. It returns how many objects there were.
func (l *Loader) load(ctx context.Context, kind loadedKind) (int, error) {
	missing, err := l.list(ctx, kind)
	if err != nil {
		return 0, err
	}
	total, tries := len(missing), 0
	err = wait.PollUntilContextCancel(ctx, loadPoll, true, func(ctx context.Context) (bool, error) {
		if err := l.compare(ctx, kind, missing); err != nil {
			return false, err
		}
		if tries++; tries%loadLook == 0 {
			return len(missing) == 0, l.forgetGone(ctx, kind, missing)
		}
		return len(missing) == 0, nil
	})
	return total, err
}

// list gives the version of every object of a kind. It begins again when the list that it pages through has expired.
func (l *Loader) list(ctx context.Context, kind loadedKind) (map[types.NamespacedName]client.Object, error) {
	gvk, err := apiutil.GVKForObject(kind.object, l.scheme)
	if err != nil {
		return nil, err
	}
	found, next := map[types.NamespacedName]client.Object{}, ""
	for {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		options := &client.ListOptions{LabelSelector: kind.selector, Limit: loadPage, Continue: next}
		err := l.live.List(ctx, page, options)
		if apierrors.IsResourceExpired(err) && next != "" {
			found, next = map[types.NamespacedName]client.Object{}, ""
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range page.Items {
			found[client.ObjectKeyFromObject(&page.Items[i])] = &page.Items[i]
		}
		if next = page.Continue; next == "" {
			return found, nil
		}
	}
}

// compare removes what the cache holds in the listed version or a later one.
func (l *Loader) compare(ctx context.Context, kind loadedKind, missing map[types.NamespacedName]client.Object) error {
	for key, listed := range missing {
		cached := emptyLike(kind.object)
		if partial, ok := cached.(*metav1.PartialObjectMetadata); ok {
			partial.SetGroupVersionKind(kind.object.GetObjectKind().GroupVersionKind())
		}
		err := l.cache.Get(ctx, key, cached, shared)
		switch {
		case IsNotFound(err):
		case err != nil:
			return err
		case !older(cached, listed):
			delete(missing, key)
		}
	}
	return nil
}

// forgetGone removes what has been deleted since it was listed.
func (l *Loader) forgetGone(ctx context.Context, kind loadedKind, missing map[types.NamespacedName]client.Object) error {
	gvk, err := apiutil.GVKForObject(kind.object, l.scheme)
	if err != nil {
		return err
	}
	for key, listed := range missing {
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(gvk)
		err := l.live.Get(ctx, key, live)
		if IsNotFound(err) || err == nil && live.UID != listed.GetUID() {
			delete(missing, key)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var _ coordinator.Object = (*metav1.PartialObjectMetadata)(nil)
