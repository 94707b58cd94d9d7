package controllers

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

var (
	errFake   = errors.New("fake")
	testStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	testGroup = types.NamespacedName{Namespace: "ns", Name: "g"}
)

func copyInto(from, to coordinator.Object) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
}

func testMember(name string) *v1alpha1.GroupMember {
	return &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec:       v1alpha1.GroupMemberSpec{Group: "g"},
	}
}

func newTestExecutor(store Store) (*Executor, *clocktesting.FakePassiveClock) {
	clock := clocktesting.NewFakePassiveClock(testStart)
	return &Executor{Store: store, Memory: NewMemory(clock), Concurrency: 1, Term: NewTerm("term-1")}, clock
}

func createOf(name string) coordinator.Write {
	return coordinator.Write{Verb: coordinator.Create, New: testMember(name)}
}

// writeHost is a write that sets the member's host, decided from old.
func writeHost(old coordinator.Object, host string) coordinator.Write {
	changed := old.DeepCopyObject().(*v1alpha1.GroupMember)
	changed.Spec.Host = host
	return coordinator.Write{Verb: coordinator.Update, Old: old, New: changed}
}

func batch(writes ...coordinator.Write) coordinator.Batch { return coordinator.Batch{Writes: writes} }

func TestRunStopsAtTheFirstFailure(t *testing.T) {
	store := newMemStore()
	store.fault = func(w coordinator.Write) (error, bool) {
		if w.New.GetName() == "b" {
			return apierrors.NewForbidden(schema.GroupResource{}, "b", errFake), false
		}
		return nil, false
	}
	executor, _ := newTestExecutor(store)
	result, err := executor.Run(t.Context(), []coordinator.Batch{
		batch(createOf("a"), createOf("b"), createOf("c")), batch(createOf("d")),
	})
	if !IsRefused(err) {
		t.Fatalf("got error %v, want the refusal", err)
	}
	if want := []string{"create a"}; !slices.Equal(store.applied, want) {
		t.Errorf("applied %v, want %v", store.applied, want)
	}
	if len(result.Written) != 1 || len(result.Unknown) != 0 {
		t.Errorf("result %+v, want one object written and none unknown", result)
	}
	var write *WriteError
	if !errors.As(err, &write) || write.Key.Name != "b" {
		t.Errorf("error %v does not name the object", err)
	}
}

func TestRunWaitsForWritesInFlight(t *testing.T) {
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	executor.Concurrency = 4
	var under, most atomic.Int64
	full := make(chan struct{})
	store.enter = func() {
		now := under.Add(1)
		if most.Load() < now {
			most.Store(now)
		}
		if now == 4 {
			close(full)
		}
		<-full
	}
	store.leave = func() { under.Add(-1) }
	var writes []coordinator.Write
	for _, name := range []string{"a", "b", "c", "d"} {
		writes = append(writes, createOf(name))
	}
	if _, err := executor.Run(t.Context(), []coordinator.Batch{batch(writes...)}); err != nil {
		t.Fatal(err)
	}
	if under.Load() != 0 || most.Load() != 4 {
		t.Errorf("%d writes under way at the end, %d at most; want 0 and 4", under.Load(), most.Load())
	}
}

func TestEventsAreSentAfterSuccessOnly(t *testing.T) {
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	var sent []string
	executor.Events = func(e coordinator.Event) { sent = append(sent, e.Reason) }
	first, second := createOf("a"), createOf("a")
	first.Events = []coordinator.Event{{Reason: "First"}}
	second.Events = []coordinator.Event{{Reason: "Second"}}
	_, err := executor.Run(t.Context(), []coordinator.Batch{batch(first), batch(second)})
	if !IsAlreadyExists(err) {
		t.Fatalf("got %v, want already exists", err)
	}
	if !slices.Equal(sent, []string{"First"}) {
		t.Errorf("sent %v, want the first event only", sent)
	}
}

func TestUnknownOutcomeIsSettledByATouch(t *testing.T) {
	for _, applied := range []bool{true, false} {
		store := newMemStore()
		old := store.put(testMember("a"))
		executor, _ := newTestExecutor(store)
		store.fault = func(coordinator.Write) (error, bool) {
			return apierrors.NewTimeoutError("too late", 1), applied
		}
		lost := writeHost(old, "lost")
		result, err := executor.Run(t.Context(), []coordinator.Batch{batch(lost)})
		if !IsUnknownOutcome(err) || len(result.Unknown) != 1 {
			t.Fatalf("got %v and %v, want an unknown outcome", err, result.Unknown)
		}
		store.fault = nil
		if err := executor.Settle(t.Context(), inGroup(testGroup), 7); err != nil {
			t.Fatal(err)
		}
		live := store.get(KeyOf(old))
		if got := live.GetAnnotations()[v1alpha1.TouchedAnnotation]; got != "term-1/7/1" {
			t.Errorf("touched is %q", got)
		}
		if got := live.(*v1alpha1.GroupMember).Spec.Host == "lost"; got != applied {
			t.Errorf("the touch changed what the member says: host %t, want %t", got, applied)
		}
		if _, err := store.Apply(t.Context(), lost); !IsConflict(err) {
			t.Errorf("the lost write still lands: %v", err)
		}
		if newest := executor.Memory.Newest(KeyOf(old), old); newest.GetResourceVersion() != live.GetResourceVersion() {
			t.Errorf("the next decision would see version %s, not %s", newest.GetResourceVersion(), live.GetResourceVersion())
		}
		if _, unknown := executor.Memory.Size(); unknown != 0 {
			t.Errorf("%d outcomes are still unknown", unknown)
		}
	}
}

func TestSettleFailsWhileNothingCanBeRead(t *testing.T) {
	store := newMemStore()
	old := store.put(testMember("a"))
	executor, _ := newTestExecutor(store)
	store.fault = func(coordinator.Write) (error, bool) { return errFake, false }
	_, _ = executor.Run(t.Context(), []coordinator.Batch{batch(writeHost(old, "lost"))})
	if err := executor.Settle(t.Context(), inGroup(testGroup), 1); err == nil {
		t.Fatal("settled although the touch failed")
	}
	if _, unknown := executor.Memory.Size(); unknown != 1 {
		t.Fatalf("%d outcomes unknown, want 1", unknown)
	}
	other := types.NamespacedName{Namespace: "ns", Name: "other"}
	if err := executor.Settle(t.Context(), inGroup(other), 1); err != nil {
		t.Errorf("another group waits for it: %v", err)
	}
}

func TestOutcomes(t *testing.T) {
	resource := schema.GroupResource{Resource: "pods"}
	terminating := apierrors.NewForbidden(resource, "a", errFake)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	tests := []struct {
		name                       string
		err                        error
		overtaken, unknown, refuse bool
	}{
		{"conflict", apierrors.NewConflict(resource, "a", errFake), true, false, false},
		{"already exists", apierrors.NewAlreadyExists(resource, "a"), true, false, false},
		{"not found", apierrors.NewNotFound(resource, "a"), true, false, false},
		{"invalid", apierrors.NewInvalid(schema.GroupKind{}, "a", nil), false, false, true},
		{"namespace terminating", terminating, false, false, true},
		{"too many requests", apierrors.NewTooManyRequests("later", 1), false, false, false},
		{"server timeout", apierrors.NewServerTimeout(resource, "patch", 1), false, true, false},
		{"internal", apierrors.NewInternalError(errFake), false, true, false},
		{"unavailable", apierrors.NewServiceUnavailable("no"), false, true, false},
		{"bad gateway", apierrors.NewGenericServerResponse(http.StatusBadGateway, "patch", resource, "a", "", 0, true), false, true, false},
		{"broken connection", errFake, false, true, false},
		{"never sent", ErrNotSent, false, false, false},
		{"none", nil, false, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var err error
			if test.err != nil {
				err = &WriteError{Err: test.err}
			}
			if got := IsOvertaken(err); got != test.overtaken {
				t.Errorf("overtaken %t", got)
			}
			if got := IsUnknownOutcome(err); got != test.unknown {
				t.Errorf("unknown outcome %t", got)
			}
			if got := err != nil && IsRefused(err); got != test.refuse {
				t.Errorf("refused %t", got)
			}
		})
	}
	if !IsNamespaceTerminating(terminating) || IsNamespaceTerminating(apierrors.NewForbidden(resource, "a", errFake)) {
		t.Error("the namespace's end is not told from other refusals")
	}
	if !strings.Contains((&WriteError{Verb: coordinator.Create, Key: KeyOf(testMember("a")), Err: errFake}).Error(), "GroupMember ns/a") {
		t.Error("the error does not name the object")
	}
}
