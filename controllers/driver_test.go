package controllers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// scripted answers each decision with the next of its functions; the last one goes on.
type scripted struct {
	steps []func(coordinator.Snapshot) coordinator.Decision
	seen  []coordinator.Snapshot
}

func (s *scripted) decide(snapshot coordinator.Snapshot) coordinator.Decision {
	step := s.steps[min(len(s.seen), len(s.steps)-1)]
	s.seen = append(s.seen, snapshot)
	return step(snapshot)
}

func idleUntil(at time.Time) func(coordinator.Snapshot) coordinator.Decision {
	return func(coordinator.Snapshot) coordinator.Decision { return coordinator.Decision{WakeAt: at} }
}

// memSource is the group's objects as the memory store has them, or as they were at an earlier time.
type memSource struct {
	executor *Executor
	cached   []*v1alpha1.GroupMember
	asked    []coordinator.Live
}

func (s *memSource) Snapshot(context.Context) (coordinator.Snapshot, error) {
	everything := func(*v1alpha1.GroupMember) bool { return true }
	return coordinator.Snapshot{Group: bedGroup(), Members: Overlay(s.executor.Memory, s.cached, everything)}, nil
}

func (s *memSource) ReadLive(_ context.Context, snapshot *coordinator.Snapshot, need coordinator.Live) error {
	s.asked = append(s.asked, need)
	snapshot.Live = need
	return nil
}

func driverBed(steps ...func(coordinator.Snapshot) coordinator.Decision) (*Driver, *scripted, *memSource, *memStore) {
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	script := &scripted{steps: steps}
	return &Driver{Executor: executor, Decide: script.decide}, script, &memSource{executor: executor}, store
}

// hostOf sets the member's host, from what the snapshot shows.
func hostOf(host string) func(coordinator.Snapshot) coordinator.Decision {
	return func(s coordinator.Snapshot) coordinator.Decision {
		return coordinator.Decision{Batches: []coordinator.Batch{batch(writeHost(s.Members[0], host))}}
	}
}

func TestDriveDecidesUntilNothingIsLeft(t *testing.T) {
	wake := testStart.Add(time.Hour)
	driver, script, source, store := driverBed(hostOf("a"), hostOf("b"), idleUntil(wake))
	source.cached = []*v1alpha1.GroupMember{store.put(testMember("m")).(*v1alpha1.GroupMember)}
	got, err := driver.Drive(t.Context(), testGroup, source)
	if err != nil || !got.Equal(wake) {
		t.Fatalf("wake at %s, error %v", got, err)
	}
	if hosts := []string{script.seen[1].Members[0].Spec.Host, script.seen[2].Members[0].Spec.Host}; !slices.Equal(hosts, []string{"a", "b"}) {
		t.Errorf("decisions saw %v of their own writes although the cache shows none", hosts)
	}
}

func TestDriveReadsLiveWhatIsNeeded(t *testing.T) {
	need := coordinator.Live{Plans: true}
	driver, script, source, _ := driverBed(func(coordinator.Snapshot) coordinator.Decision {
		return coordinator.Decision{Need: need}
	}, idleUntil(testStart))
	if _, err := driver.Drive(t.Context(), testGroup, source); err != nil {
		t.Fatal(err)
	}
	if len(source.asked) != 1 || !script.seen[1].Live.Plans || script.seen[0].Live.Plans {
		t.Errorf("asked %v, seen %v", source.asked, script.seen)
	}
}

func TestDriveDecidesAgainAtOnceWhenOvertaken(t *testing.T) {
	driver, script, source, store := driverBed(hostOf("ours"), hostOf("ours"), idleUntil(testStart))
	stale := store.put(testMember("m")).(*v1alpha1.GroupMember)
	source.cached = []*v1alpha1.GroupMember{stale}
	theirs := stale.DeepCopy()
	theirs.Spec.Zone = "z"
	store.put(theirs)
	if _, err := driver.Drive(t.Context(), testGroup, source); err != nil {
		t.Fatal(err)
	}
	if script.seen[1].Members[0].Spec.Zone != "z" {
		t.Error("the second decision was made from the same stale member")
	}
}

func TestDriveGivesUp(t *testing.T) {
	refusal := apierrors.NewForbidden(schema.GroupResource{}, "m", errFake)
	conflict := apierrors.NewConflict(schema.GroupResource{}, "m", errFake)
	for name, test := range map[string]struct {
		fault  error
		writes int
		want   func(error) bool
	}{
		"when refused":                {refusal, 1, IsRefused},
		"when overtaken all the time": {conflict, 1 + maxOvertaken, IsConflict},
		"when it finds no end":        {nil, maxRounds, func(err error) bool { return errors.Is(err, ErrNotSettled) }},
	} {
		t.Run(name, func(t *testing.T) {
			driver, script, source, store := driverBed(hostOf("a"))
			source.cached = []*v1alpha1.GroupMember{store.put(testMember("m")).(*v1alpha1.GroupMember)}
			store.fault = func(coordinator.Write) (error, bool) { return test.fault, false }
			if _, err := driver.Drive(t.Context(), testGroup, source); !test.want(err) {
				t.Errorf("ended with %v", err)
			}
			if len(script.seen) != test.writes {
				t.Errorf("decided %d times, want %d", len(script.seen), test.writes)
			}
		})
	}
}

// A namespace that is going refuses every plan: that is not tried again, and deletions go on with the next event.
func TestDriveRestsInANamespaceThatIsGoing(t *testing.T) {
	terminating := apierrors.NewForbidden(schema.GroupResource{}, "m", errFake)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	driver, _, source, store := driverBed(func(coordinator.Snapshot) coordinator.Decision {
		return coordinator.Decision{Batches: []coordinator.Batch{batch(createOf("m"))}}
	})
	store.fault = func(coordinator.Write) (error, bool) { return terminating, false }
	if wakeAt, err := driver.Drive(t.Context(), testGroup, source); err != nil || !wakeAt.IsZero() {
		t.Errorf("wake at %s, error %v", wakeAt, err)
	}
}

// Nothing is decided from a member whose last write may still land.
func TestDriveSettlesFirst(t *testing.T) {
	driver, script, source, store := driverBed(hostOf("lost"), idleUntil(testStart))
	old := store.put(testMember("m")).(*v1alpha1.GroupMember)
	source.cached = []*v1alpha1.GroupMember{old}
	store.fault = func(coordinator.Write) (error, bool) { return apierrors.NewTimeoutError("late", 1), false }
	if _, err := driver.Drive(t.Context(), testGroup, source); !IsUnknownOutcome(err) {
		t.Fatalf("ended with %v", err)
	}
	if _, err := driver.Drive(t.Context(), testGroup, source); err == nil || len(script.seen) != 1 {
		t.Fatalf("decided %d times while nothing could be settled: %v", len(script.seen), err)
	}
	store.fault = nil
	if _, err := driver.Drive(t.Context(), testGroup, source); err != nil {
		t.Fatal(err)
	}
	if script.seen[1].Members[0].Annotations[v1alpha1.TouchedAnnotation] == "" {
		t.Error("decided from a member that was not touched")
	}
}

// An event tells of a cause once, for as long as the cause stands.
func TestStandingEventsAreSentOnce(t *testing.T) {
	var sent []string
	store := newMemStore()
	executor, _ := newTestExecutor(store)
	executor.Events = func(e coordinator.Event) { sent = append(sent, e.Reason) }
	var causes []string
	driver := &WorkloadDriver{Executor: executor, Decide: func(presence.Snapshot) presence.Decision {
		var events []presence.Event
		for _, cause := range causes {
			events = append(events, presence.Event{Key: cause, Reason: cause})
		}
		return presence.Decision{Events: events, Sights: presence.Sights{"m": {}}}
	}}
	key := workloadKey("StatefulSet", "w")
	for _, causes = range [][]string{{"A"}, {"A", "B"}, {"B"}, {}, {"A"}} {
		if _, err := driver.Drive(t.Context(), key, noWorkload{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"A", "B", "A"}; !slices.Equal(sent, want) {
		t.Errorf("sent %v, want %v", sent, want)
	}
	if len(driver.SightsOf(key)) != 1 {
		t.Error("first sights are not kept")
	}
}

type noWorkload struct{}

func (noWorkload) Snapshot(context.Context) (presence.Snapshot, error) {
	return presence.Snapshot{}, nil
}

func (noWorkload) ReadLive(context.Context, *presence.Snapshot, presence.Live) error { return nil }
