package controllers

import (
	"context"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// silentSession is the session timeout of a member whose status does not state one yet.
const silentSession = 45 * time.Second

// Sessions is what this start of the coordinator has seen of heartbeats: when each Lease was last renewed, by its own
// clock. What it sees first counts from then, so that losing this memory only lengthens sessions.
type Sessions struct {
	clock   clock.PassiveClock
	contact *Contact
	cache   client.Reader

	mu   sync.Mutex
	seen map[types.NamespacedName]*heartbeat
	// gone are those whose Lease was deleted. A missing Lease does not shorten a session.
	gone map[types.NamespacedName]bool
}

// heartbeat is what was seen of one Lease, in which version.
type heartbeat struct {
	coordinator.Session
	version string
}

// NewSessions has seen nothing. Members are looked up in the cache.
func NewSessions(c clock.PassiveClock, contact *Contact, cache client.Reader) *Sessions {
	return &Sessions{
		clock: c, contact: contact, cache: cache,
		seen: map[types.NamespacedName]*heartbeat{}, gone: map[types.NamespacedName]bool{},
	}
}

// Observe notes a Lease as it is now, and says whether the group must be decided about for it: a renewal in time changes
// nothing.
func (s *Sessions) Observe(ctx context.Context, lease *coordinationv1.Lease) bool {
	key := client.ObjectKeyFromObject(lease)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takeOutagesOut(ctx)
	next := &heartbeat{Session: sessionOf(lease, now(s.clock)), version: lease.ResourceVersion}
	before, known := s.seen[key]
	if known && outdated(lease.ResourceVersion, before.version) {
		return false
	}
	delete(s.gone, key)
	if !known {
		s.seen[key] = next
		return true
	}
	next.Former, next.FormerDuration = before.Former, before.FormerDuration
	if sameRenewal(before.Session, next.Session) {
		before.version = next.version
		return false
	}
	if before.Holder != next.Holder {
		next.Former, next.FormerDuration = time.Time{}, 0
		if before.Holder != "" {
			next.Former, next.FormerDuration = before.Seen, before.LeaseDuration
		}
	}
	s.seen[key] = next
	late := next.Seen.Sub(before.Seen) >= before.LeaseDuration*2/3
	return late || before.Holder != next.Holder || before.LeaseDuration != next.LeaseDuration || s.waitsForRenewal(ctx, key)
}

// Deleted notes that a Lease is gone. While its member is there the last renewal stands.
func (s *Sessions) Deleted(ctx context.Context, lease *coordinationv1.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone[client.ObjectKeyFromObject(lease)] = true
	for key := range s.gone {
		if s.member(ctx, key) == nil {
			delete(s.gone, key)
			delete(s.seen, key)
		}
	}
}

// Of gives what is known of these members' heartbeats, by their objects' names, with all outages taken out.
func (s *Sessions) Of(ctx context.Context, members []*v1alpha1.GroupMember) map[string]coordinator.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	lasts := s.takeOutagesOut(ctx)
	sessions := map[string]coordinator.Session{}
	for _, member := range members {
		seen, ok := s.seen[client.ObjectKeyFromObject(member)]
		if !ok {
			continue
		}
		session := seen.Session
		if lasts != nil {
			session.Seen = without(*lasts, session.Seen, timeoutOf(member, session))
		}
		sessions[member.Name] = session
	}
	return sessions
}

// any says whether there are sessions to be judged.
func (s *Sessions) any() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen) > 0
}

// takeOutagesOut moves the last renewals of all who were not overdue when an outage began by its duration. It returns the
// outage that lasts, which is not over and so cannot be taken out for good.
func (s *Sessions) takeOutagesOut(ctx context.Context) *outage {
	ended, lasts := s.contact.take()
	for _, o := range ended {
		for key, seen := range s.seen {
			seen.Seen = without(o, seen.Seen, timeoutOf(s.member(ctx, key), seen.Session))
		}
	}
	return lasts
}

// without is the last renewal as if the outage had not been. It does not help who was overdue when it began.
func without(o outage, seen time.Time, timeout time.Duration) time.Time {
	if !seen.Add(timeout * 2 / 3).After(o.began) {
		return seen
	}
	return seen.Add(max(0, o.ended.Sub(later(seen, o.began))))
}

// timeoutOf is the session timeout in force: what the member was told, or what its holder still goes by if that is longer.
func timeoutOf(member *v1alpha1.GroupMember, session coordinator.Session) time.Duration {
	stated := silentSession
	if member != nil && member.Status.SessionTimeout != nil {
		stated = member.Status.SessionTimeout.Duration
	}
	return max(stated, session.LeaseDuration)
}

// waitsForRenewal: the member is written down as away, so a renewal means its return.
func (s *Sessions) waitsForRenewal(ctx context.Context, key types.NamespacedName) bool {
	member := s.member(ctx, key)
	return member != nil && (member.Status.State == v1alpha1.MemberUnavailable || member.Status.Unavailable != nil)
}

// member is the member of a Lease's name, nil where the cache does not show one.
func (s *Sessions) member(ctx context.Context, key types.NamespacedName) *v1alpha1.GroupMember {
	member := &v1alpha1.GroupMember{}
	if err := s.cache.Get(ctx, key, member, shared); err != nil {
		return nil
	}
	return member
}

// sessionOf reads a Lease.
func sessionOf(lease *coordinationv1.Lease, seen time.Time) coordinator.Session {
	session := coordinator.Session{
		Holder:        ptr.Deref(lease.Spec.HolderIdentity, ""),
		LeaseDuration: time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second,
		Seen:          seen,
	}
	if lease.Spec.RenewTime != nil {
		session.RenewTime = *lease.Spec.RenewTime
	}
	return session
}

func sameRenewal(a, b coordinator.Session) bool {
	return a.Holder == b.Holder && a.RenewTime.Equal(&b.RenewTime) && a.LeaseDuration == b.LeaseDuration
}

// outdated: a watch may bring what a live read has overtaken.
func outdated(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
