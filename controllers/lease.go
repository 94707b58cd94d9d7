package controllers

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
)

// leaseMargin is how long before the lease could have expired the last write may leave: the time it may take to arrive.
const leaseMargin = 2 * time.Second

// Lease knows until when this process may write as leader. Another process takes over when it has seen no renewal for the
// lease duration; it has seen the last one after the instant before which that renewal was sent, so from that instant on
// the duration is counted here, by this machine's clock alone.
type Lease struct {
	clock    clock.PassiveClock
	duration time.Duration

	mu      sync.Mutex
	renewed time.Time
}

// NewLease has never been renewed: nothing may be written yet.
func NewLease(c clock.PassiveClock, duration time.Duration) *Lease {
	return &Lease{clock: c, duration: duration}
}

// Held says that a write may be sent now. The monotonic clock stands still while a machine is suspended and the wall clock
// may be set back; whichever says that more time has passed counts.
func (l *Lease) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.renewed.IsZero() {
		return false
	}
	now := l.clock.Now()
	elapsed := max(now.Sub(l.renewed), now.Round(0).Sub(l.renewed.Round(0)))
	return elapsed < l.duration-leaseMargin
}

func (l *Lease) renewedAt(sent time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = sent
}

// released: the lease was given up; others may have it at once.
func (l *Lease) released() { l.renewedAt(time.Time{}) }

// Lock wraps the elector's lock so that each renewal that succeeded counts from the instant before it was sent.
func (l *Lease) Lock(lock resourcelock.Interface) resourcelock.Interface {
	return &watchedLock{Interface: lock, lease: l}
}

type watchedLock struct {
	resourcelock.Interface
	lease *Lease
}

// Create takes a lease that was not there.
func (w *watchedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return w.write(ctx, record, w.Interface.Create)
}

// Update takes, renews or releases the lease. A release counts before it is sent: it may arrive though its answer does not.
func (w *watchedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity != w.Identity() {
		w.lease.released()
		return w.Interface.Update(ctx, record)
	}
	return w.write(ctx, record, w.Interface.Update)
}

func (w *watchedLock) write(
	ctx context.Context, record resourcelock.LeaderElectionRecord,
	send func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	sent := w.lease.clock.Now()
	if err := send(ctx, record); err != nil {
		return err
	}
	w.lease.renewedAt(sent)
	return nil
}

// Guard refuses every mutation while the lease is not held. It stands below every retry, so that none leaves too late.
// The lease's own renewals must go another way.
func (l *Lease) Guard(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if mutates(request.Method) && !l.Held() {
			return nil, fmt.Errorf("%s %s: the leader's lease is not held: %w", request.Method, request.URL.Path, ErrNotSent)
		}
		return next.RoundTrip(request)
	})
}

func mutates(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	return true
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
