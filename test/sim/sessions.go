package sim

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// outageCounts is how long the API server must have been silent for that time to be taken out of sessions.
const outageCounts = 2 * time.Second

// sessions is what one manager has seen of Leases, by the name of the GroupMember. A new one knows nothing: what it
// sees first counts from then.
type sessions map[string]coordinator.Session

// observe notes a Lease as it is now, and says whether more has changed than the time of a renewal.
func (s sessions) observe(lease *coordinationv1.Lease, now time.Time) bool {
	before, known := s[lease.Name]
	seen := coordinator.Session{Seen: now, Former: before.Former, FormerDuration: before.FormerDuration}
	if lease.Spec.HolderIdentity != nil {
		seen.Holder = *lease.Spec.HolderIdentity
	}
	if lease.Spec.RenewTime != nil {
		seen.RenewTime = *lease.Spec.RenewTime
	}
	if lease.Spec.LeaseDurationSeconds != nil {
		seen.LeaseDuration = time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second
	}
	if known && sameRenewal(before, seen) {
		return false
	}
	if known && before.Holder != seen.Holder {
		seen.Former, seen.FormerDuration = time.Time{}, 0
		if before.Holder != "" {
			seen.Former, seen.FormerDuration = before.Seen, before.LeaseDuration
		}
	}
	s[lease.Name] = seen
	return !known || before.Holder != seen.Holder || before.LeaseDuration != seen.LeaseDuration
}

func sameRenewal(a, b coordinator.Session) bool {
	return a.Holder == b.Holder && a.RenewTime.Equal(&b.RenewTime) && a.LeaseDuration == b.LeaseDuration
}

// outage takes a time without any answer out of the sessions that were not overdue when it began.
func (s sessions) outage(began, ended time.Time, timeoutOf func(name string) time.Duration) {
	if ended.Sub(began) <= outageCounts {
		return
	}
	for name, seen := range s {
		overdue := seen.Seen.Add(timeoutOf(name) * 2 / 3)
		if overdue.After(began) {
			seen.Seen = seen.Seen.Add(ended.Sub(began))
			s[name] = seen
		}
	}
}

// microOf is the instant as a Lease bears it.
func microOf(t time.Time) *metav1.MicroTime {
	micro := metav1.NewMicroTime(t)
	return &micro
}
