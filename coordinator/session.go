package coordinator

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Whether a member is there is judged by its presence (a pod's) or its Lease (a self-registered member's) at this
// instant, never by the state written in its status.

const (
	// absenceShown is how long an absence lasts at most before it is written as Unavailable.
	absenceShown = 10 * time.Second
	// owedToAbsent is how long a copy may be owed to an Unavailable member before a round gives it to another.
	owedToAbsent = 10 * time.Second
	// expiryGathering is how long after an expiry its round opens, so that those who die together cost one generation.
	expiryGathering = time.Second
	// Bounds of rebalanceTimeout, and what is used where the API server has filled in nothing.
	minRebalanceTimeout     = time.Second
	maxRebalanceTimeout     = 30 * time.Minute
	defaultSessionTimeout   = 45 * time.Second
	defaultRebalanceTimeout = time.Minute
	defaultReplacement      = 5 * time.Minute
	defaultGrace            = 10 * time.Second
)

func durationOr(d *metav1.Duration, otherwise time.Duration) time.Duration {
	if d == nil {
		return otherwise
	}
	return d.Duration
}

func clamp(d, low, high time.Duration) time.Duration { return max(low, min(d, high)) }

func (v *view) withinSessionBounds(d time.Duration) bool {
	return d >= v.Config.SessionMin && d <= v.Config.SessionMax
}

// groupSession is the group's session timeout; outside the manager's bounds the nearest bound.
func (v *view) groupSession() time.Duration {
	return clamp(durationOr(v.Group.Spec.SessionTimeout, defaultSessionTimeout), v.Config.SessionMin, v.Config.SessionMax)
}

// replacementTimeout is how long a static pod may take to be replaced.
func (v *view) replacementTimeout() time.Duration {
	session := v.groupSession()
	return max(session, durationOr(v.Group.Spec.ReplacementTimeout, max(defaultReplacement, session)))
}

// rebalanceTimeout of a member: its own or the group's.
func (v *view) rebalanceTimeout(m *member) time.Duration {
	group := durationOr(v.Group.Spec.RebalanceTimeout, defaultRebalanceTimeout)
	return clamp(durationOr(m.Spec.RebalanceTimeout, group), minRebalanceTimeout, maxRebalanceTimeout)
}

func (v *view) grace() time.Duration {
	return durationOr(v.Group.Spec.Handover.RevocationGracePeriod, defaultGrace)
}

func (v *view) exclusive() bool { return v.Group.Spec.Handover.Policy == v1alpha1.HandoverExclusive }

// statedSession is the session timeout that a self-registered member or its group states.
func (v *view) statedSession(m *member) time.Duration {
	if m.Spec.SessionTimeout == nil {
		return v.groupSession()
	}
	return clamp(m.Spec.SessionTimeout.Duration, v.Config.SessionMin, v.Config.SessionMax)
}

// session is the session timeout in force of the memberID in status: a longer one counts at once, a shorter one from the
// first renewal that bears it. Until then its holder may not have heard of it.
func (v *view) session(m *member) time.Duration {
	stated := v.statedSession(m)
	if restarted(m) {
		stated = durationOr(m.Status.SessionTimeout, stated)
	}
	seen := v.LastSeen[m.Name]
	if seen.Holder == m.Status.MemberID {
		return max(stated, seen.LeaseDuration)
	}
	return max(stated, seen.FormerDuration)
}

// renewed is the last renewal of the member's present memberID by the coordinator's clock. Its creation and a takeover
// count as renewals; a missing or foreign Lease never shortens a session.
func (v *view) renewed(m *member) time.Time {
	if restarted(m) {
		return v.Now
	}
	last := m.CreationTimestamp.Time
	if taken := m.Status.Takeover; taken != nil && taken.Time.After(last) {
		last = taken.Time.Time
	}
	seen, ok := v.LastSeen[m.Name]
	if !ok {
		return last
	}
	if gone := m.Status.Unavailable; gone != nil && gone.RenewTime.Equal(&seen.RenewTime) {
		return gone.Since.Time
	}
	// Another holds the Lease. A coordinator that has not seen the one before takes the first sight of its successor.
	foreign := seen.Holder != m.Status.MemberID && seen.Holder != "" && m.Status.MemberID != ""
	if foreign && !seen.Former.IsZero() {
		return later(last, seen.Former)
	}
	return later(last, seen.Seen)
}

// formerRenewed is the last renewal of the incarnation in status, when the spec already has another one. A coordinator
// that has not seen it takes the first sight of its successor, which is later.
func (v *view) formerRenewed(m *member) time.Time {
	seen, ok := v.LastSeen[m.Name]
	switch {
	case !ok:
		return v.Now
	case seen.Holder == m.Status.MemberID || seen.Former.IsZero():
		return seen.Seen
	}
	return seen.Former
}

// holderExpired: the session of the incarnation in status has expired, whether or not the spec has another by now.
func (v *view) holderExpired(m *member) bool {
	if selfRegistered(m) && restarted(m) {
		return v.passed(v.formerRenewed(m).Add(v.session(m)))
	}
	return v.expired(m)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// closed: a self-registered member released its Lease.
func (v *view) closed(m *member) bool {
	seen, ok := v.LastSeen[m.Name]
	return ok && seen.Holder == "" && !seen.RenewTime.IsZero()
}

// away: a workload member's presence says so.
func away(m *member) bool {
	return m.Spec.Presence == nil || m.Spec.Presence.State == v1alpha1.Away
}

// absenceThreshold is when a workload member's absence is written as Unavailable.
func (v *view) absenceThreshold() time.Duration { return min(absenceShown, v.groupSession()/3) }

// available: the member is there now.
func (v *view) available(m *member) bool {
	if leaving(m) {
		return false
	}
	if selfRegistered(m) {
		return !v.closed(m) && !v.overdue(m)
	}
	return m.Spec.Presence != nil && m.Spec.Presence.State == v1alpha1.Present
}

// overdue: two thirds of a self-registered member's session are over without a renewal.
func (v *view) overdue(m *member) bool { return v.passed(v.renewed(m).Add(v.session(m) * 2 / 3)) }

// unavailable: the member has been away for long enough to say so. Between available and unavailable a member may be
// given copies, and is granted them when it is back.
func (v *view) unavailable(m *member) bool {
	if selfRegistered(m) {
		return v.closed(m) || v.overdue(m)
	}
	return away(m) && v.passed(v.absentSince(m).Add(v.absenceThreshold()))
}

func (v *view) absentSince(m *member) time.Time {
	if m.Spec.Presence == nil {
		return m.CreationTimestamp.Time
	}
	return m.Spec.Presence.Since.Time
}

// unavailableSince is when unavailable began to hold; it is asked only of members of which it holds.
func (v *view) unavailableSince(m *member) time.Time {
	switch {
	case v.closed(m):
		return v.renewed(m) // It was gone as soon as it had released its Lease.
	case selfRegistered(m):
		return v.renewed(m).Add(v.session(m) * 2 / 3)
	}
	return v.absentSince(m).Add(v.absenceThreshold())
}

// expired: the member's deadline has passed. Deadlines are inclusive.
func (v *view) expired(m *member) bool {
	if selfRegistered(m) {
		return v.passed(v.renewed(m).Add(v.session(m)))
	}
	presence := m.Spec.Presence
	switch {
	case presence == nil || presence.State == v1alpha1.Present:
		return false
	case presence.State == v1alpha1.Leaving:
		return presence.Reason == v1alpha1.PresenceNodeLost && v.passed(presence.Since.Add(v.groupSession()))
	case m.Spec.MemberName == "":
		return v.passed(presence.Since.Add(v.groupSession()))
	}
	return v.staticPodExpired(m)
}

// staticPodExpired holds back the deadline of a static pod whose name is wanted while nobody of the generation is
// available, and until a full timeout after the first return.
func (v *view) staticPodExpired(m *member) bool {
	if v.status.AvailableSince == nil || !v.anyAvailable {
		return false
	}
	timeout := v.groupSession()
	if m.Spec.Presence.Reason == v1alpha1.PresenceReplacing {
		timeout = v.replacementTimeout()
	}
	return v.passed(later(m.Spec.Presence.Since.Time, v.status.AvailableSince.Time).Add(timeout))
}
