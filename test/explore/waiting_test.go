package explore

import (
	"slices"
	"testing"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// What steps that wait could hide would show where the leader is idle: there all that waited has been done. So the idle
// worlds must be the same whether steps are taken together or each by itself.
func TestWaitingHidesNothing(t *testing.T) {
	for _, c := range []struct {
		name           string
		layout         layout
		kind           kind
		policy         v1alpha1.HandoverPolicy
		events, faults int
		long           bool
	}{
		{"registered, any fault", layouts[1], registered, v1alpha1.HandoverExclusive, 1, 1, false},
		{"agent, any fault", layouts[2], agent, v1alpha1.HandoverAvailable, 1, 1, false},
		{"reader, any two faults", layouts[2], reader, v1alpha1.HandoverAvailable, 1, 2, false},
		{"registered, two events", layouts[0], registered, v1alpha1.HandoverAvailable, 2, 0, true},
		{"agent, two events", layouts[1], agent, v1alpha1.HandoverExclusive, 2, 0, true},
		{"reader, two events and any fault", layouts[0], reader, v1alpha1.HandoverAvailable, 2, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.long && testing.Short() {
				t.Skip("takes seconds")
			}
			s := c.layout.setup(c.kind, c.policy)
			s.events, s.faults = c.events, c.faults
			together := idleWorlds(t, s)
			s.together = false
			apart := idleWorlds(t, s)
			compareWorlds(t, apart, together, "is not found where steps wait")
			compareWorlds(t, together, apart, "is found only where steps wait")
			t.Logf("%d worlds", len(together))
		})
	}
}

// idleWorlds visits every world and keeps those in which the leader is idle, whatever a cache may show.
func idleWorlds(t *testing.T, s *setup) map[uint64]*world {
	t.Helper()
	s.script = nil
	start, err := s.begin()
	if err != nil {
		t.Fatal(err)
	}
	idle := map[uint64]*world{}
	search := newSearch(1 << 40)
	search.entered = func(w *world) {
		if w.idle() {
			seen := *w
			seen.plans, seen.members = slices.Clone(w.plans), slices.Clone(w.members)
			seen.caughtUp()
			idle[seen.key()] = w
		}
	}
	for _, e := range s.firsts(start) {
		s.script = []event{e}
		if r := search.from(start); r.violation != nil {
			t.Fatal(r.violation)
		}
	}
	return idle
}

func compareWorlds(t *testing.T, all, some map[uint64]*world, what string) {
	t.Helper()
	for key, w := range all {
		if some[key] == nil {
			t.Fatalf("this world %s:\n%s", what, w)
		}
	}
}
