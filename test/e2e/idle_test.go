package e2e_test

import (
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// idleFor is how long nothing may be written. Longer than any of the manager's own intervals: the second of an expiry, the
// window in which a pod's end waits for its successor, the coalescing of events.
const idleFor = 5 * time.Second

// Who has nothing to do writes nothing, neither while time passes nor after a restart, orderly or not.
//
// Not in parallel: it restarts the manager.
func TestIdle(t *testing.T) {
	s := newSandbox(t)
	exclusive := func(spec *v1alpha1.ConsumerGroupSpec) { spec.Handover.Policy = v1alpha1.HandoverExclusive }
	paused := func(spec *v1alpha1.ConsumerGroupSpec) { spec.Paused = true }
	s.create(newGroup(groupName, 24), newSet(setName, groupName, 6),
		newGroup(otherGroup, 6, exclusive), newDeployment("api", otherGroup, 2),
		newGroup("nobody", 3), newGroup("paused", 3, paused), newSet("waiting", "paused", 1),
		newGroup("crowded", 2, func(spec *v1alpha1.ConsumerGroupSpec) { spec.MaxMembers = 1 }), newSet("crowd", "crowded", 2))
	s.awaitSettled(groupName, 6)
	s.awaitSettled(otherGroup, 2)
	s.await("one member too many is rejected", func() bool {
		return ready(s.group("crowded")) && slices.ContainsFunc(s.members("crowded"), func(m *v1alpha1.GroupMember) bool {
			return m.Status.State == v1alpha1.MemberRejected
		})
	})
	s.await("who comes to a paused group waits", func() bool {
		return s.member("paused", "waiting-0").Status.State == v1alpha1.MemberPending
	})
	s.quiet(idleFor)

	mark, from := s.mark(), s.newest()
	t.Run("while time passes", func(t *testing.T) { s.stays(t, mark, from) })
	t.Run("after an orderly restart", func(t *testing.T) {
		if err := suite.running().stop(); err != nil {
			t.Fatal(err)
		}
		s.restarted(t)
		s.stays(t, mark, from)
	})
	t.Run("after a sudden death", func(t *testing.T) {
		if err := suite.running().kill(); err != nil {
			t.Fatal(err)
		}
		s.restarted(t)
		s.stays(t, mark, from)
	})
}

// restarted starts the manager and has it do something elsewhere, so that it has surely looked at what is here.
func (s *sandbox) restarted(t *testing.T) {
	t.Helper()
	if err := suite.startManager(t.Context()); err != nil {
		t.Fatal(err)
	}
	elsewhere := newSandbox(t)
	elsewhere.create(newGroup(groupName, 4), newSet(setName, groupName, 1))
	elsewhere.awaitSettled(groupName, 1)
}

// stays: for a while nothing is written here, nor has been since the mark.
func (s *sandbox) stays(t *testing.T, mark cluster.Mark, from int64) {
	t.Helper()
	s.t = t
	s.within(idleFor, "something is written", func() bool { return s.newest() != from })
	if writes := s.ourWrites(mark); len(writes) > 0 {
		t.Errorf("there was nothing to do, and the manager wrote\n%s", writes)
	}
	for _, v := range s.since(from) {
		t.Errorf("there was nothing to do, and %s%s", v, summary(v.object))
	}
}
