package controllers

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// loaderBed has a live API server and a cache that lags behind it.
func loaderBed(live, cached client.Client) *Loader {
	return NewLoader(live, cached, Scheme(), logr.Discard(), loadedKind{object: &v1alpha1.GroupMember{}}, loadedKind{object: replicaSetMetadata()})
}

func fakeClient(objects ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(objects...).Build()
}

func memberVersion(name, version string) *v1alpha1.GroupMember {
	member := testMember(name)
	member.UID, member.ResourceVersion = "uid", version
	return member
}

func started(t *testing.T, loader *Loader) <-chan error {
	t.Helper()
	if err := loader.Ready(nil); err != nil {
		t.Errorf("one who does not lead is not ready: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- loader.Start(t.Context()) }()
	return ended
}

func TestLoadingWaitsForTheCache(t *testing.T) {
	set := replicaSetMetadata()
	set.Namespace, set.Name, set.UID, set.ResourceVersion = "ns", "set", "set-uid", "3"
	for name, cached := range map[string]*v1alpha1.GroupMember{"absent": nil, "older": memberVersion("a", "9")} {
		t.Run(name, func(t *testing.T) {
			var compared atomic.Int64
			objects := []client.Object{set.DeepCopy()}
			if cached != nil {
				objects = append(objects, cached)
			}
			lagging := fakeClient(objects...)
			counting := interceptor.NewClient(lagging, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
					compared.Add(1)
					return c.Get(ctx, key, obj, opts...)
				},
			})
			loader := loaderBed(fakeClient(memberVersion("a", "10"), set.DeepCopy()), counting)
			ended := started(t, loader)
			eventually(t, "comparing", func() error {
				if compared.Load() < 3 {
					return errors.New("not yet")
				}
				return nil
			})
			if err := loader.Ready(nil); !errors.Is(err, errLoading) {
				t.Errorf("ready while loading: %v", err)
			}
			waiting, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if err := loader.Wait(waiting); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("deciding while loading: %v", err)
			}
			catchUp(t, lagging, cached)
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(loader.Ready(nil), loader.Wait(t.Context())); err != nil {
				t.Errorf("loaded: %v", err)
			}
		})
	}
}

// catchUp lets the cache show the member in a version of at least 10.
func catchUp(t *testing.T, cache client.Client, cached *v1alpha1.GroupMember) {
	t.Helper()
	if cached != nil {
		if err := cache.Update(t.Context(), cached); err != nil { // From version 9 to 10.
			t.Fatal(err)
		}
		return
	}
	member := memberVersion("a", "")
	if err := cache.Create(t.Context(), member); err != nil {
		t.Fatal(err)
	}
	for member.ResourceVersion != "10" {
		if err := cache.Update(t.Context(), member); err != nil {
			t.Fatal(err)
		}
	}
}

// What is deleted after it was listed never comes into the cache: it is not waited for.
func TestLoadingDoesNotWaitForWhatIsGone(t *testing.T) {
	live := fakeClient(memberVersion("a", "10"))
	listed := interceptor.NewClient(live, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if err := c.Delete(ctx, memberVersion("a", "")); client.IgnoreNotFound(err) != nil {
				return err
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	loader := loaderBed(listed, fakeClient())
	if err := <-started(t, loader); err != nil {
		t.Fatal(err)
	}
}
