package sim

import (
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/test/referee"
)

const (
	// maxPasses bounds how often everybody may react to each other at one instant.
	maxPasses = 200
	// longestRest is how long Finally lets time pass.
	longestRest = time.Hour
)

// World is an API server, the operator, the members' processes and pods, and one clock.
type World struct {
	Store *Store
	// Faults of the operator's writes and reads.
	Faults Faults

	clock   virtualClock
	flags   Flags
	manager *Manager
	terms   int
	uuids   int
	// successorAt is when the next manager starts after one froze; zero when none is awaited.
	successorAt time.Time
	// dark is when the API server became unreachable; zero while it is reachable. delayed is what the cluster could not tell it.
	dark       time.Time
	delayed    []func() error
	publishOff bool

	// clusterSaw is the version up to which the rest of Kubernetes has done its part.
	clusterSaw int64

	processes []*Process
	pods      map[string]*Pod
	nodes     map[string]string
	events    []Event
	referees  map[string]*referee.Referee
	plans     planCache
	failures  []error
}

// Flags of the manager.
type Flags struct {
	SessionMin, SessionMax time.Duration
	NoForcedRebalance      bool
	NoStaticMembership     bool
}

// Event that the operator sent.
type Event struct {
	Time                   time.Time
	About, Reason, Message string
	Warning                bool
}

// virtualClock is the one clock of a world.
type virtualClock struct{ now time.Time }

// Now is the present instant.
func (c *virtualClock) Now() time.Time { return c.now }

// Since is the time from then to now.
func (c *virtualClock) Since(then time.Time) time.Duration { return c.now.Sub(then) }

// NewWorld has a running operator and nothing else.
func NewWorld() *World {
	w := &World{
		clock:    virtualClock{now: Start},
		flags:    Flags{SessionMin: 6 * time.Second, SessionMax: 30 * time.Minute},
		pods:     map[string]*Pod{},
		nodes:    map[string]string{},
		referees: map[string]*referee.Referee{},
		plans:    planCache{},
	}
	w.Store = NewStore(w.clock.Now)
	w.Store.OnWrite(w.judgeWrite)
	w.startManager()
	return w
}

// Now is the present instant.
func (w *World) Now() time.Time { return w.clock.now }

// Events that were sent so far, oldest first.
func (w *World) Events() []Event { return w.events }

// Err joins all that went wrong with the world itself, above all broken invariants.
func (w *World) Err() error { return errors.Join(w.failures...) }

func (w *World) fail(err error) {
	if err != nil {
		w.failures = append(w.failures, fmt.Errorf("at %s: %w", clockText(w.Now()), err))
	}
}

func (w *World) isDark() bool { return !w.dark.IsZero() }

// uuid is a new one; the same calls give the same sequence.
func (w *World) uuid() string {
	w.uuids++
	return fmt.Sprintf("%08x-1111-4111-8111-%012x", w.uuids, w.uuids)
}

// Settle lets everybody react to everybody until nobody has anything to do, without time passing.
func (w *World) Settle() {
	for range maxPasses {
		if !w.pass() {
			w.judgeSettled()
			return
		}
	}
	w.fail(fmt.Errorf("the world does not come to rest at one instant within %d passes", maxPasses))
}

// Act lets everybody react to what was just done, and those renew whose renewal is overdue by it (a process that was
// frozen, or whose session has become shorter).
func (w *World) Act() {
	w.Settle()
	if w.renew() {
		w.Settle()
	}
}

// pass lets each act once, and says whether anybody did.
func (w *World) pass() bool {
	before := w.Store.Version()
	acted := w.haltOverdue()
	acted = w.startSuccessor() || acted
	acted = w.operate() || acted
	acted = w.clusterActs() || acted
	acted = w.processesReact() || acted
	return acted || w.Store.Version() != before
}

// Advance lets time pass. What is due happens in the order of its instant: deadlines first, then the world's own timers,
// then deadlines again.
func (w *World) Advance(d time.Duration) {
	target := w.Now().Add(d)
	for {
		due := w.nextDue()
		if due.IsZero() || due.After(target) {
			break
		}
		w.instant(due)
	}
	w.instant(target)
}

func (w *World) instant(at time.Time) {
	if at.After(w.clock.now) {
		w.clock.now = at
	}
	w.Act()
}

// nextDue is the earliest instant at which anything happens by itself; zero when nothing will.
func (w *World) nextDue() time.Time {
	due := earliest(w.successorAt, w.operatorDue())
	for _, process := range w.processes {
		due = earliest(due, process.nextHalt(), process.nextBeat())
	}
	return due
}

// earliest of those that are not zero.
func earliest(instants ...time.Time) time.Time {
	var first time.Time
	for _, instant := range instants {
		if !instant.IsZero() && (first.IsZero() || instant.Before(first)) {
			first = instant
		}
	}
	return first
}

// Finally lets time pass until nothing is due any more but renewals and the deadlines that they move.
func (w *World) Finally() {
	w.Faults.end(w.Store)
	limit := w.Now().Add(longestRest)
	w.instant(w.Now())
	for {
		due := w.dueBesidesRenewals()
		if due.IsZero() {
			w.judgeRest()
			return
		}
		if due.After(limit) {
			w.fail(fmt.Errorf("something is still due after %s, at %s", longestRest, clockText(due)))
			return
		}
		w.instant(earliest(due, w.nextDue()))
	}
}

// dueBesidesRenewals is the earliest instant at which something happens although every process goes on renewing.
func (w *World) dueBesidesRenewals() time.Time {
	due := earliest(w.successorAt, w.operatorDueIfRenewed())
	for _, process := range w.processes {
		if !process.beating() || w.isDark() {
			due = earliest(due, process.nextHalt())
		}
	}
	return due
}
