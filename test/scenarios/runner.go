package scenarios

import (
	"fmt"
)

const (
	// maxOutcomes bounds the runs of a file whose writes get no answer: each may have been applied or not.
	maxOutcomes = 64
	// maxOutcomesUnderFault bounds them for each added fault.
	maxOutcomesUnderFault = 4
	// maxFaultyWrites is after how many of a file's writes faults are added.
	maxFaultyWrites = 20
)

// SkipReason says why a script cannot be played in a world; empty when it can.
func (s *Script) SkipReason(world string) string {
	if !s.Fits(world) {
		return fmt.Sprintf("not for the world %s", world)
	}
	if world == "live" {
		return liveSkipReason(s)
	}
	return ""
}

// PlaySim plays a script in memory, once for each way in which its unanswered writes may have ended, at most 64.
func PlaySim(script *Script) error {
	return eachOutcome(maxOutcomes, func(o *outcomes) error {
		if err := Play(script, newSimWorld(o.next), CheckAll); err != nil {
			return fmt.Errorf("%w%s", err, o)
		}
		return nil
	})
}

// outcomes is one way in which unanswered writes end: whether each was applied. What is not laid down was not.
type outcomes struct {
	laidDown []bool
	asked    int
}

func (o *outcomes) next() bool {
	o.asked++
	return o.asked <= len(o.laidDown) && o.laidDown[o.asked-1]
}

// String says which of several ways it was; empty when nothing was asked.
func (o *outcomes) String() string {
	if o.asked == 0 {
		return ""
	}
	applied := make([]bool, o.asked)
	copy(applied, o.laidDown)
	return fmt.Sprintf("  unanswered writes were applied: %v\n", applied)
}

// eachOutcome plays until all ways have been tried, or the limit is reached: the next way differs from the last at the
// latest question that has not been answered both ways.
func eachOutcome(limit int, play func(*outcomes) error) error {
	var laidDown []bool
	for range limit {
		o := &outcomes{laidDown: laidDown}
		if err := play(o); err != nil {
			return err
		}
		tried := make([]bool, o.asked)
		copy(tried, laidDown)
		for len(tried) > 0 && tried[len(tried)-1] {
			tried = tried[:len(tried)-1]
		}
		if len(tried) == 0 {
			return nil
		}
		tried[len(tried)-1] = true
		laidDown = tried
	}
	return nil
}
