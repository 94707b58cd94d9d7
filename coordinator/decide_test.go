package coordinator

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func (b *bed) expect(state v1alpha1.GroupState, generation int64, shares string) {
	b.t.Helper()
	if st := b.group.Status; st.State != state || st.Generation != generation || b.shares() != shares {
		b.t.Fatalf("got %s generation %d %q, want %s generation %d %q", st.State, st.Generation, b.shares(), state, generation, shares)
	}
}

func TestPodsJoinScaleAndRestart(t *testing.T) {
	b := newBed(t)
	b.pod("web-0")
	b.pod("web-1")
	b.settle()
	b.expect(v1alpha1.GroupStable, 1, "web-0:Active:3 web-1:Active:3 ")

	// A restart keeps the cached assignment: one status write, no group write.
	b.writes = nil
	m := b.members["g.web-1"].DeepCopy()
	m.Spec.Incarnation = "pod-2"
	m.Spec.Presence = &v1alpha1.Presence{State: v1alpha1.Away, Reason: v1alpha1.PresenceReplacing, Since: micro(b.now)}
	b.members[m.Name] = m
	b.settle()
	b.expect(v1alpha1.GroupStable, 1, "web-0:Active:3 web-1:Active:3 ")
	if len(b.writes) != 1 {
		t.Fatalf("a restart cost %d writes: %+v", len(b.writes), b.writes)
	}
	m = b.members["g.web-1"].DeepCopy()
	m.Spec.Presence = &v1alpha1.Presence{State: v1alpha1.Present, Reason: v1alpha1.PresenceReady, Since: micro(b.now)}
	b.members[m.Name] = m
	b.writes = nil
	b.settle()
	if len(b.writes) != 0 {
		t.Fatalf("a quick return cost %d writes", len(b.writes))
	}

	// Scale up: what is taken is pending until the old owner is known to have stopped.
	b.pod("web-2")
	b.settle()
	b.expect(v1alpha1.GroupAwaitingSync, 2, "web-0:Active:2 web-1:Active:2 web-2:Active:0 ")
	for _, name := range []string{"g.web-0", "g.web-1"} {
		m := b.members[name].DeepCopy()
		m.Spec.Acknowledged = &v1alpha1.Acknowledged{MemberID: m.Status.MemberID, Revision: m.Status.Revision}
		b.members[name] = m
	}
	b.settle()
	b.expect(v1alpha1.GroupStable, 2, "web-0:Active:2 web-1:Active:2 web-2:Active:2 ")

	// Scale down: it works to its end, then its copies move and its object goes.
	m = b.members["g.web-2"].DeepCopy()
	m.Spec.Presence = &v1alpha1.Presence{State: v1alpha1.Leaving, Reason: v1alpha1.PresencePodGoing, Since: micro(b.now)}
	b.members[m.Name] = m
	b.settle()
	b.expect(v1alpha1.GroupAwaitingSync, 3, "web-0:Active:2 web-1:Active:2 web-2:Leaving:2 ")
	m = b.members["g.web-2"].DeepCopy()
	m.Spec.Presence.Stopped = true
	b.members[m.Name] = m
	b.settle()
	b.expect(v1alpha1.GroupStable, 3, "web-0:Active:3 web-1:Active:3 ")
}

func TestAwayPastItsDeadlineIsDeadAndHandedOverASecondLater(t *testing.T) {
	b := newBed(t)
	b.pod("web-0")
	b.pod("web-1")
	b.settle()
	m := b.members["g.web-1"].DeepCopy()
	m.Spec.Presence = &v1alpha1.Presence{State: v1alpha1.Away, Reason: v1alpha1.PresenceNotReady, Since: micro(b.now)}
	b.members[m.Name] = m
	start := b.now
	for _, step := range []struct {
		after  time.Duration
		shares string
	}{
		{10 * time.Second, "web-0:Active:3 web-1:Unavailable:3 "},
		{45 * time.Second, "web-0:Active:3 web-1:Dead:0 "},
		{46 * time.Second, "web-0:Active:6 web-1:Dead:0 "},
	} {
		wake := b.settle()
		if want := start.Add(step.after); !wake.Equal(want) {
			t.Fatalf("woke at +%s, want +%s", wake.Sub(start), step.after)
		}
		b.now = wake
		b.settle()
		if b.shares() != step.shares {
			t.Fatalf("after %s: %q, want %q", step.after, b.shares(), step.shares)
		}
	}
	b.expect(v1alpha1.GroupStable, 2, "web-0:Active:6 web-1:Dead:0 ")
}

func TestWhoIsRefusedStaysBehindThoseWhoAskedWithIt(t *testing.T) {
	b := newBed(t)
	b.group.Spec.MaxMembers = 1
	b.pod("web-0")
	b.pod("web-1")
	for range 50 {
		d := Decide(b.snapshot())
		if len(d.Batches) == 0 {
			break
		}
		for _, w := range d.Batches[0].Writes {
			b.apply(w)
		}
		b.now = b.now.Add(time.Millisecond) // time passes between two decisions
	}
	b.expect(v1alpha1.GroupStable, 1, "web-0:Active:6 web-1:Rejected:0 ")
}

// A status edited by hand, or restored from a backup, may lack what its state implies.
func TestAStatusThatLacksItsLeaveIsNoCrash(t *testing.T) {
	for _, state := range []v1alpha1.MemberState{v1alpha1.MemberDead, v1alpha1.MemberLeaving, v1alpha1.MemberRejected} {
		b := newBed(t)
		b.pod("web-0")
		b.pod("web-1")
		b.settle()
		m := b.members["g.web-1"].DeepCopy()
		m.Status.State = state
		m.Spec.Presence = &v1alpha1.Presence{State: v1alpha1.Away, Reason: v1alpha1.PresenceGone, Since: micro(b.now)}
		b.members[m.Name] = m
		for wake := b.settle(); !wake.IsZero(); wake = b.settle() {
			b.now = wake
		}
		if st := b.group.Status; st.State != v1alpha1.GroupStable || b.members["g.web-0"].Status.AssignedPartitions != 6 {
			t.Errorf("%s: %s %q", state, st.State, b.shares())
		}
	}
}

// Where admission is not installed nobody has looked at who asked, and the outcome says so.
func TestTheOutcomeOfARebalanceSaysWhetherItWasAuthorized(t *testing.T) {
	for creator, says := range map[string]bool{"": true, "jane": false} {
		b := newBed(t)
		b.pod("web-0")
		b.settle()
		b.group.Annotations = map[string]string{v1alpha1.RebalanceAnnotation: "r1"}
		if creator != "" {
			b.group.Annotations[v1alpha1.CreatorAnnotation] = creator
		}
		b.settle()
		request := b.group.Status.RebalanceRequest
		if request == nil || request.Outcome != v1alpha1.RequestAccepted || strings.Contains(request.Message, "authorization is off") != says {
			t.Errorf("created by %q: %+v", creator, request)
		}
	}
}
