package controllers

import (
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

func hosts(members []*v1alpha1.GroupMember) []string {
	var all []string
	for _, member := range members {
		all = append(all, member.Name+"="+member.Spec.Host)
	}
	return all
}

func everything(*v1alpha1.GroupMember) bool { return true }

func TestOverlayShowsOwnWritesUntilTheCacheDoes(t *testing.T) {
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	cachedA := store.put(testMember("a")).(*v1alpha1.GroupMember)
	cachedB := store.put(testMember("b")).(*v1alpha1.GroupMember)
	_, err := executor.Run(t.Context(), []coordinator.Batch{batch(
		writeHost(cachedA, "new"), coordinator.Write{Verb: coordinator.Delete, Old: cachedB}, createOf("c"),
	)})
	if err != nil {
		t.Fatal(err)
	}
	cached := []*v1alpha1.GroupMember{cachedB, cachedA}
	if got, want := hosts(Overlay(executor.Memory, cached, everything)), []string{"a=new", "c="}; !slices.Equal(got, want) {
		t.Errorf("overlay shows %v, want %v", got, want)
	}
	none := func(*v1alpha1.GroupMember) bool { return false }
	if got, want := hosts(Overlay(executor.Memory, cached, none)), []string{"a=new"}; !slices.Equal(got, want) {
		t.Errorf("overlay of another list shows %v, want %v", got, want)
	}
	cached = []*v1alpha1.GroupMember{
		store.get(KeyOf(cachedA)).(*v1alpha1.GroupMember), store.get(KeyOf(testMember("c"))).(*v1alpha1.GroupMember),
	}
	if got, want := hosts(Overlay(executor.Memory, cached, everything)), []string{"a=new", "c="}; !slices.Equal(got, want) {
		t.Errorf("overlay shows %v, want %v", got, want)
	}
	executor.Memory.SawGone(cachedB)
	if ahead, _ := executor.Memory.Size(); ahead != 0 {
		t.Errorf("%d own writes remembered that the cache shows", ahead)
	}
}

func TestLaterVersionInTheCacheWins(t *testing.T) {
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	old := store.put(testMember("a")).(*v1alpha1.GroupMember)
	if _, err := executor.Run(t.Context(), []coordinator.Batch{batch(writeHost(old, "ours"))}); err != nil {
		t.Fatal(err)
	}
	later := store.get(KeyOf(old)).DeepCopyObject().(*v1alpha1.GroupMember)
	later.Spec.Host = "theirs"
	later = store.put(later).(*v1alpha1.GroupMember)
	if got := executor.Memory.Newest(KeyOf(old), later).(*v1alpha1.GroupMember).Spec.Host; got != "theirs" {
		t.Errorf("host %q, want the later write", got)
	}
}

func TestAWrittenObjectMissingInTheCacheIsGone(t *testing.T) {
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	old := store.put(testMember("a")).(*v1alpha1.GroupMember)
	if _, err := executor.Run(t.Context(), []coordinator.Batch{batch(writeHost(old, "ours"))}); err != nil {
		t.Fatal(err)
	}
	if got := Overlay(executor.Memory, nil, everything); len(got) != 0 {
		t.Errorf("a deleted object is shown: %v", hosts(got))
	}
}

func TestLastFinalizerTakesTheObject(t *testing.T) {
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	member := testMember("a")
	member.Finalizers = []string{v1alpha1.HandoverFinalizer}
	old := store.put(member).(*v1alpha1.GroupMember)
	if _, err := executor.Run(t.Context(), []coordinator.Batch{batch(coordinator.Write{Verb: coordinator.Delete, Old: old})}); err != nil {
		t.Fatal(err)
	}
	deleted := executor.Memory.Newest(KeyOf(old), old).(*v1alpha1.GroupMember)
	if deleted.DeletionTimestamp == nil {
		t.Fatal("the deletion is not shown")
	}
	released := deleted.DeepCopy()
	released.Finalizers = nil
	if _, err := executor.Run(t.Context(), []coordinator.Batch{batch(coordinator.Write{Verb: coordinator.Update, Old: deleted, New: released})}); err != nil {
		t.Fatal(err)
	}
	if got := Overlay(executor.Memory, []*v1alpha1.GroupMember{old}, everything); len(got) != 0 {
		t.Errorf("an object that is gone is shown: %v", hosts(got))
	}
}

func TestAConflictShowsTheLiveObjectAtOnce(t *testing.T) {
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	old := store.put(testMember("a")).(*v1alpha1.GroupMember)
	theirs := old.DeepCopy()
	theirs.Spec.Host = "theirs"
	store.put(theirs)
	if _, err := executor.Run(t.Context(), []coordinator.Batch{batch(writeHost(old, "ours"))}); !IsConflict(err) {
		t.Fatalf("got %v, want a conflict", err)
	}
	if got, want := hosts(Overlay(executor.Memory, []*v1alpha1.GroupMember{old}, everything)), []string{"a=theirs"}; !slices.Equal(got, want) {
		t.Errorf("overlay shows %v, want %v", got, want)
	}
	if _, err := executor.Run(t.Context(), []coordinator.Batch{batch(createOf("a"))}); !IsAlreadyExists(err) {
		t.Fatalf("got %v, want already exists", err)
	}
}

// An own write that never shows up in the cache, since the object went at once, is remembered for a while and not for good.
func TestOwnWritesDoNotStayForGood(t *testing.T) {
	store := newMemStore()
	executor, clock := newTestExecutor(store)
	if _, err := executor.Run(t.Context(), []coordinator.Batch{batch(createOf("a"), createOf("b"))}); err != nil {
		t.Fatal(err)
	}
	delete(store.objects, KeyOf(testMember("a")))
	clock.SetTime(testStart.Add(overdueAfter - time.Microsecond))
	if got := len(executor.Memory.unsettled(inGroup(testGroup))); got != 0 {
		t.Fatalf("%d objects are overdue too early", got)
	}
	clock.SetTime(testStart.Add(overdueAfter))
	if err := executor.Settle(t.Context(), inGroup(testGroup), 1); err != nil {
		t.Fatal(err)
	}
	if got, want := hosts(Overlay(executor.Memory, nil, everything)), []string{"b="}; !slices.Equal(got, want) {
		t.Errorf("overlay shows %v, want %v", got, want)
	}
	if len(store.applied) != 2 {
		t.Errorf("settling wrote %v", store.applied[2:])
	}
}
