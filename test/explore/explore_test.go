package explore

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

var (
	whole  = flag.Bool("whole", false, "every sequence of two events with any two faults, however long it takes")
	seeds  = flag.Uint64("seeds", 0, "number of random walks; 0: as many as fit the kind of run")
	record = flag.String("record", "", "with -whole: a file to which each result is appended at once")
	first  = flag.Uint64("seed", 1, "the first seed")
)

// bound is how far one exploration goes.
type bound struct {
	events, faults int
	limit          int // of states that are remembered
}

// bounds of a run. What is not walked to the end says so.
func bounds() []bound {
	switch {
	case *whole:
		return []bound{{1, 1, 1 << 40}, {2, 0, 1 << 40}, {2, 1, 1 << 40}, {1, 2, 1 << 40}, {2, 2, 600_000_000}}
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

// exploreAll explores from each first event, and reports one line for all, or with -whole a line for each. What was visited
// from one first event need not be visited from another.
func exploreAll(t *testing.T, layoutName string, s *setup, b bound) int {
	start, err := s.begin()
	if err != nil {
		t.Fatal(err)
	}
	total := result{exhausted: true}
	begun := time.Now()
	search := newSearch(b.limit)
	for _, e := range s.firsts(start) {
		s.script = []event{e}
		each := time.Now()
		r := search.from(start)
		if *whole {
			report(t, fmt.Sprintf("%s, %s, %s first: %s", layoutName, s, e, r), each)
		}
		total.add(r)
		if r.violation != nil {
			t.Fatalf("%s first: %s", e, tell(start, r))
		}
		if !r.exhausted {
			search = newSearch(b.limit) // What it began it did not finish.
		}
	}
	report(t, fmt.Sprintf("%s, %s: %s", layoutName, s, total), begun)
	return total.states
}

// report logs a line, to a file as well if there is one: a run of hours may be ended before the test is.
func report(t *testing.T, line string, since time.Time) {
	line = fmt.Sprintf("%s, %s", line, time.Since(since).Round(time.Millisecond))
	t.Log(line)
	if *record == "" {
		return
	}
	file, err := os.OpenFile(*record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fmt.Fprintln(file, line)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// tell prefers the shortest trace, if one is found within reason.
func tell(start *world, r result) *trace {
	const limit = 500_000
	if shorter := shortest(start, limit); shorter.violation != nil {
		return shorter.violation
	}
	return r.violation
}
