package explore

import (
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

var (
	whole = flag.Bool("whole", false, "every sequence of two events with any two faults, however long it takes")
	seeds = flag.Uint64("seeds", 0, "number of random walks; 0: as many as fit the kind of run")
	first = flag.Uint64("seed", 1, "the first seed")
)

// bound is how far one exploration goes.
type bound struct {
	events, faults int
	limit          int // of states for each first event
}

// bounds of a run. What is not walked to the end says so.
func bounds() []bound {
	switch {
	case *whole:
		return []bound{{1, 1, 1 << 40}, {2, 0, 1 << 40}, {2, 1, 1 << 40}, {1, 2, 1 << 40}, {2, 2, 60_000_000}}
	case testing.Short():
		return []bound{{1, 0, 20_000}}
	}
	return []bound{{1, 1, 500_000}, {2, 0, 2_000}}
}

func TestEveryInterleaving(t *testing.T) {
	var states atomic.Int64
	for _, b := range bounds() {
		t.Run(fmt.Sprintf("%d events, %d faults", b.events, b.faults), func(t *testing.T) {
			for _, l := range layouts {
				for _, k := range []kind{registered, agent, reader} {
					for _, policy := range policies {
						s := l.setup(k, policy)
						s.events, s.faults = b.events, b.faults
						t.Run(fmt.Sprintf("%s, %s, %s", l.name, k, policy), func(t *testing.T) {
							t.Parallel()
							states.Add(int64(exploreAll(t, l.name, s, b)))
						})
					}
				}
			}
		})
	}
	t.Logf("%d states in all", states.Load())
}

// exploreAll explores from each first event, and reports one line for all, or with -whole a line for each.
func exploreAll(t *testing.T, layoutName string, s *setup, b bound) int {
	start, err := s.begin()
	if err != nil {
		t.Fatal(err)
	}
	total := result{exhausted: true}
	begun := time.Now()
	for _, e := range s.firsts(start) {
		s.script = []event{e}
		r := exhaust(start, b.limit)
		if *whole {
			t.Logf("%s first: %s", e, r)
		}
		total.add(r)
		if r.violation != nil {
			t.Fatalf("%s first: %s", e, tell(start, r))
		}
	}
	t.Logf("%s, %s: %s, %s", layoutName, s, total, time.Since(begun).Round(time.Millisecond))
	return total.states
}

// tell prefers the shortest trace, if one is found within reason.
func tell(start *world, r result) *trace {
	const limit = 500_000
	if shorter := shortest(start, limit); shorter.violation != nil {
		return shorter.violation
	}
	return r.violation
}
