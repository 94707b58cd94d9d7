package controllers

import (
	"strconv"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// sessionBed has members of group g with S = 9 s, and a clock that stands still.
type sessionBed struct {
	*sourceBed
	version int
}

func newSessionBed(t *testing.T, members ...*v1alpha1.GroupMember) *sessionBed {
	t.Helper()
	objects := []client.Object{bedGroup()}
	for _, member := range members {
		objects = append(objects, member)
	}
	return &sessionBed{sourceBed: newSourceBed(t, objects...), version: 100}
}

// selfRegistered is a member of S = 9 s, as its process registers it.
func selfRegistered(name string, state v1alpha1.MemberState) *v1alpha1.GroupMember {
	return &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g." + name, Labels: map[string]string{v1alpha1.GroupLabel: "g"}},
		Spec:       v1alpha1.GroupMemberSpec{Group: "g", MemberName: name, Incarnation: "1", Acknowledgement: v1alpha1.AcknowledgeExplicit},
		Status:     v1alpha1.GroupMemberStatus{State: state, MemberID: name + "-1", SessionTimeout: lasting(9 * time.Second)},
	}
}

// lease is the next version of a member's Lease, renewed now by its holder.
func (b *sessionBed) lease(name, holder string, seconds int32) *coordinationv1.Lease {
	b.version++
	renewed := metav1.NewMicroTime(b.clock.Now())
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "g." + name, UID: "lease", ResourceVersion: strconv.Itoa(b.version),
			Labels: map[string]string{v1alpha1.GroupLabel: "g"},
		},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(holder), LeaseDurationSeconds: ptr.To(seconds), RenewTime: &renewed},
	}
}

func (b *sessionBed) renew(name, holder string, seconds int32) bool {
	return b.sessions.Observe(b.Context(), b.lease(name, holder, seconds))
}

func (b *sessionBed) pass(d time.Duration) { b.clock.SetTime(b.clock.Now().Add(d)) }

// of is what is known of a member's heartbeat.
func (b *sessionBed) of(name string) coordinator.Session {
	member := selfRegistered(name, v1alpha1.MemberActive)
	return b.sessions.Of(b.Context(), []*v1alpha1.GroupMember{member})["g."+name]
}

// seen checks how long ago the last renewal was.
func (b *sessionBed) seen(name string, ago time.Duration) {
	b.Helper()
	if got := b.clock.Now().Sub(b.of(name).Seen); got != ago {
		b.Errorf("%s was last seen %s ago, want %s", name, got, ago)
	}
}

func TestWhichRenewalsConcernAGroup(t *testing.T) {
	away := selfRegistered("away", v1alpha1.MemberUnavailable)
	b := newSessionBed(t, selfRegistered("a", v1alpha1.MemberActive), away)
	expect := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: concerns the group %t, want %t", what, got, want)
		}
	}
	expect("the first sight", b.renew("a", "a-1", 9), true)
	b.pass(3 * time.Second)
	expect("a renewal in time", b.renew("a", "a-1", 9), false)
	b.pass(time.Second)
	same := b.lease("a", "a-1", 9)
	b.pass(4 * time.Second)
	expect("another renewal in time", b.sessions.Observe(t.Context(), same), false)
	b.seen("a", 0)
	again := same.DeepCopy()
	again.ResourceVersion = "9999"
	again.Labels["touched"] = "yes"
	b.pass(time.Second)
	expect("a change that renews nothing", b.sessions.Observe(t.Context(), again), false)
	b.seen("a", time.Second)
	b.version = 10_000
	b.pass(5 * time.Second)
	expect("a renewal when two thirds of the session are over", b.renew("a", "a-1", 9), true)
	expect("another session timeout", b.renew("a", "a-1", 6), true)
	expect("another holder", b.renew("a", "a-2", 6), true)
	expect("a release", b.renew("a", "", 6), true)
	expect("what is older than what was seen", b.sessions.Observe(t.Context(), same), false)
	if got := b.of("a").Holder; got != "" {
		t.Errorf("the holder is %q after an old version, want none", got)
	}
	expect("the first sight of one that is Unavailable", b.renew("away", "away-1", 9), true)
	b.pass(time.Second)
	expect("a renewal of one that is Unavailable", b.renew("away", "away-1", 9), true)
}

func TestTheFormerHoldersLastRenewalIsKept(t *testing.T) {
	b := newSessionBed(t, selfRegistered("a", v1alpha1.MemberActive))
	b.renew("a", "a-1", 30)
	began := b.clock.Now()
	b.pass(2 * time.Second)
	b.renew("a", "a-2", 9)
	b.pass(3 * time.Second)
	b.renew("a", "a-2", 9)
	session := b.of("a")
	if session.Former != began || session.FormerDuration != 30*time.Second || session.Holder != "a-2" {
		t.Errorf("after a takeover and a renewal: %+v", session)
	}
	b.renew("a", "", 9)
	b.pass(time.Second)
	b.renew("a", "a-3", 9)
	if session = b.of("a"); !session.Former.IsZero() || session.FormerDuration != 0 {
		t.Errorf("after a release nobody is fenced: %+v", session)
	}
}

func TestADeletedLeaseShortensNoSession(t *testing.T) {
	b := newSessionBed(t, selfRegistered("a", v1alpha1.MemberActive))
	b.renew("a", "a-1", 9)
	b.renew("unknown", "unknown-1", 9)
	b.pass(time.Second)
	b.sessions.Deleted(t.Context(), b.lease("a", "a-1", 9))
	b.seen("a", time.Second)
	b.sessions.Deleted(t.Context(), b.lease("unknown", "unknown-1", 9))
	if session := b.of("unknown"); !session.Seen.IsZero() {
		t.Errorf("a session without member or Lease is kept: %+v", session)
	}
}

func TestAnOutageIsTakenOutOfSessions(t *testing.T) {
	b := newSessionBed(t, selfRegistered("late", v1alpha1.MemberActive), selfRegistered("a", v1alpha1.MemberActive))
	contact := b.sessions.contact
	contact.open()
	contact.answered()
	b.renew("late", "late-1", 9)
	b.pass(2 * time.Second)
	contact.answered()
	b.seen("late", 2*time.Second)
	b.pass(2 * time.Second)
	contact.answered()
	b.renew("a", "a-1", 9)
	b.pass(2 * time.Second)
	contact.answered() // late is overdue now, a was seen 2 s ago.
	if contact.Lost() {
		t.Error("an outage of 2 s counts")
	}
	b.pass(time.Minute)
	if !contact.Lost() {
		t.Error("a minute of silence is no outage")
	}
	b.seen("a", 2*time.Second)
	b.seen("late", 6*time.Second+time.Minute)
	b.pass(time.Minute)
	b.seen("a", 2*time.Second)
	contact.answered()
	b.pass(time.Second)
	b.seen("a", 3*time.Second)
	b.seen("late", 7*time.Second+2*time.Minute)

	contact.broken() // Answers, but no watch brings renewals.
	contact.answered()
	b.pass(20 * time.Second)
	contact.answered()
	b.seen("a", 2*time.Second)
	contact.open()
	contact.answered()
	b.seen("a", 2*time.Second)
	b.pass(time.Second)
	b.seen("a", 3*time.Second)
}

// Who was first seen, or renewed, within the silence loses nothing and gains only the rest of it.
func TestAnOutageHelpsOnlyWhoWasThere(t *testing.T) {
	b := newSessionBed(t, selfRegistered("a", v1alpha1.MemberActive))
	contact := b.sessions.contact
	contact.open()
	contact.answered()
	b.pass(time.Hour)
	b.renew("a", "a-1", 9)
	b.pass(3 * time.Second)
	contact.answered()
	b.seen("a", 0)
}

// What a watch has not brought yet is seen by a live read, before anyone is declared dead.
func TestALiveReadSeesTheNewestRenewal(t *testing.T) {
	b := newSessionBed(t, selfRegistered("a", v1alpha1.MemberActive))
	b.renew("a", "a-1", 9)
	b.pass(20 * time.Second)
	snapshot := b.snapshot()
	if got := snapshot.LastSeen["g.a"].Seen; got != b.clock.Now().Add(-20*time.Second) {
		t.Errorf("the cache's last renewal is of %s", got)
	}
	stored := selfRegistered("a", v1alpha1.MemberActive)
	stored.UID, stored.ResourceVersion = "a-uid", "1"
	b.server.objects[KeyOf(stored)] = stored
	need := coordinator.Live{Members: map[string]bool{"g.a": true}}
	read := func() coordinator.Session {
		t.Helper()
		if err := b.groupSource().ReadLive(t.Context(), &snapshot, need); err != nil {
			t.Fatal(err)
		}
		if !snapshot.Live.Members["g.a"] {
			t.Error("the member is not marked as read")
		}
		return snapshot.LastSeen["g.a"]
	}
	if got := read(); got.Seen != b.clock.Now().Add(-20*time.Second) {
		t.Errorf("without a Lease the last renewal is of %s", got.Seen)
	}
	lease := b.lease("a", "a-1", 9)
	b.server.objects[KeyOf(lease)] = lease
	if got := read(); got.Seen != b.clock.Now() {
		t.Errorf("the live Lease's last renewal is of %s", got.Seen)
	}
}
