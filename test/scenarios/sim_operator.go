package scenarios

import (
	"fmt"
	"strconv"
	"time"

	"github.com/rollcall-dev/rollcall/test/sim"
)

func (w *simWorld) publish(command *Command) error {
	w.PublishRuns(command.Args[0] == "on")
	return nil
}

func (w *simWorld) crash(command *Command) error {
	after, _ := command.integer("after")
	w.Crash(int(after))
	return nil
}

func (w *simWorld) freeze(command *Command) error {
	after, _ := command.integer("after")
	takeover, _ := command.duration("for")
	w.Faults.Freeze(int(after), takeover)
	return nil
}

func (w *simWorld) thaw(*Command) error {
	w.Thaw()
	return nil
}

func (w *simWorld) failWrites(command *Command) error {
	writes, _ := command.integer("writes")
	failure := sim.FailConflict
	if value, given := command.Get("error"); given {
		failure = sim.WriteFailure(value)
	}
	w.Faults.Fail(int(writes), failure)
	return nil
}

func (w *simWorld) stale(command *Command) error {
	reads, err := strconv.Atoi(command.Args[0])
	w.Faults.Stale(reads)
	return err
}

func (w *simWorld) makeDark(*Command) error {
	w.Dark()
	return nil
}

func (w *simWorld) makeLight(*Command) error { return w.Light() }

func (w *simWorld) advance(command *Command) error {
	d, err := time.ParseDuration(command.Args[0])
	w.Advance(d)
	return err
}

func (w *simWorld) untilQuiet(*Command) error {
	w.Finally()
	return nil
}

// setFlags changes flags of the manager, by their names.
func (w *simWorld) setFlags(command *Command) error {
	var err error
	w.SetFlags(func(flags *sim.Flags) {
		for _, option := range command.Options {
			if err == nil {
				err = setFlag(flags, option)
			}
		}
	})
	return err
}

func setFlag(flags *sim.Flags, option Option) error {
	var err error
	switch option.Key {
	case "static-membership":
		flags.NoStaticMembership, err = no(option.Value)
	case "forced-rebalance":
		flags.NoForcedRebalance, err = no(option.Value)
	case "session-timeout-min":
		flags.SessionMin, err = time.ParseDuration(option.Value)
	case "session-timeout-max":
		flags.SessionMax, err = time.ParseDuration(option.Value)
	default:
		err = fmt.Errorf("the manager has no flag %s that a scenario may set", option.Key)
	}
	return err
}

// no reads a flag of which the opposite is kept.
func no(value string) (bool, error) {
	is, err := strconv.ParseBool(value)
	return !is, err
}
