package controllers

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	clocktesting "k8s.io/utils/clock/testing"
)

const testLease = 15 * time.Second

// fakeLock takes some time for each write, and can fail.
type fakeLock struct {
	resourcelock.Interface
	clock *clocktesting.FakePassiveClock
	takes time.Duration
	err   error
}

func (f *fakeLock) Identity() string { return "me" }

func (f *fakeLock) Create(context.Context, resourcelock.LeaderElectionRecord) error { return f.write() }

func (f *fakeLock) Update(context.Context, resourcelock.LeaderElectionRecord) error { return f.write() }

func (f *fakeLock) write() error {
	f.clock.SetTime(f.clock.Now().Add(f.takes))
	return f.err
}

func TestNoWriteAfterTheLeaseCouldHaveExpired(t *testing.T) {
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
	clock := clocktesting.NewFakePassiveClock(testStart)
	lease := NewLease(clock, testLease)
	fake := &fakeLock{clock: clock}
	lock := lease.Lock(fake)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	defer server.Close()
	client := &http.Client{Transport: lease.Guard(http.DefaultTransport)}
	send := func(method string) error {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	expect := func(when string, allowed bool) {
		t.Helper()
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			err := send(method)
			if (err == nil) != allowed {
				t.Errorf("%s: %s gave %v, want allowed %t", when, method, err, allowed)
			}
			if err != nil && (!errors.Is(err, ErrNotSent) || IsUnknownOutcome(err)) {
				t.Errorf("%s: the refusal counts as an unknown outcome: %v", when, err)
			}
		}
		if err := send(http.MethodGet); err != nil {
			t.Errorf("%s: reading gave %v", when, err)
		}
	}
	renew := func(err error) {
		t.Helper()
		fake.err = err
		if got := lock.Update(t.Context(), mine); !errors.Is(got, err) {
			t.Fatalf("the lock's error is %v, want %v", got, err)
		}
	}

	expect("before the first renewal", false)
	if err := lock.Create(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	expect("after taking the lease", true)

	clock.SetTime(testStart.Add(5 * time.Second))
	fake.takes = 3 * time.Second
	renew(nil) // Sent at 5 s, answered at 8 s.
	clock.SetTime(testStart.Add(5*time.Second + testLease - leaseMargin - time.Nanosecond))
	expect("just before the deadline of the renewal sent at 5 s", true)
	clock.SetTime(testStart.Add(5*time.Second + testLease - leaseMargin))
	expect("at the deadline, counted from before the renewal was sent", false)

	renew(errFake)
	expect("after a renewal that failed", false)
	renew(nil)
	expect("after a renewal", true)
	if err := lock.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
		t.Fatal(err)
	}
	expect("after giving the lease up", false)
}

// A suspended machine's monotonic clock stands still; the wall clock tells.
func TestTheWallClockCountsToo(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	lease := NewLease(clock, testLease)
	lease.renewedAt(clock.Now())
	clock.SetTime(clock.Now().Round(0).Add(testLease))
	if lease.Held() {
		t.Error("the lease counts as held long after it was renewed")
	}
}
