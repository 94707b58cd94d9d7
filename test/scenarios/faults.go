package scenarios

import (
	"errors"
	"fmt"

	"github.com/rollcall-dev/rollcall/test/sim"
)

// fault is what is added to a run after one of its writes.
type fault struct {
	name string
	add  func(*sim.World)
	// applied of an unanswered write that was added.
	applied bool
}

// faults that are added, one in each run.
var faults = []fault{
	{name: "a crash", add: func(w *sim.World) { w.Faults.Crash(0) }},
	{name: "a stale read", add: func(w *sim.World) { w.Faults.Stale(1) }},
	{name: "a write without answer, lost,", add: func(w *sim.World) { w.Faults.Fail(1, sim.FailTimeout) }},
	{name: "a write without answer, applied,", add: func(w *sim.World) { w.Faults.Fail(1, sim.FailTimeout) }, applied: true},
}

// maxFaultsShown bounds how many failures of one file are shown.
const maxFaultsShown = 3

// PlayWithFaults plays a script again and again, each time with one more fault after one of its writes. What it expects after
// `finally` must hold all the same, and no invariant may break.
func PlayWithFaults(script *Script) error {
	writes := 0
	counting := newSimWorld(nil)
	if err := Play(script, counting, CheckEnd); err != nil {
		return err
	}
	writes = min(counting.Faults.Sent(), maxFaultyWrites)
	var errs []error
	for after := 1; after <= writes; after++ {
		for _, added := range faults {
			if err := playWithFault(script, after, added); err != nil {
				errs = append(errs, err)
			}
			if len(errs) == maxFaultsShown {
				return errors.Join(errs...)
			}
		}
	}
	return errors.Join(errs...)
}

func playWithFault(script *Script, after int, added fault) error {
	return eachOutcome(maxOutcomesUnderFault, func(o *outcomes) error {
		// The fault's own write is asked about first, unless the script's are pending: each way is tried in any case.
		own := false
		world := newSimWorld(func() bool {
			if own {
				own = false
				return added.applied
			}
			return o.next()
		})
		world.Faults.AfterWrite = func(n int) {
			if n == after {
				added.add(world.World)
				own = true
			}
		}
		if err := Play(script, world, CheckEnd); err != nil {
			return fmt.Errorf("with %s after write %d: %w", added.name, after, err)
		}
		return nil
	})
}
