package explore

import (
	"fmt"
	"math/rand/v2"
)

// walk takes a number of steps at random, in a group of any size and with any number of events and faults, then lets the
// group come to rest. The same seed walks the same way.
func (s *setup) walk(seed uint64, length int) *trace {
	s.events, s.faults, s.fine = length, length, true
	chance := rand.New(rand.NewPCG(seed, 0))
	w, err := s.begin()
	t := &trace{lines: []string{fmt.Sprintf("seed %d: %s begins", seed, s)}, last: w, err: err}
	for range length {
		if t.err != nil {
			return t
		}
		by, next := w.anyStep(chance)
		if next == nil {
			continue
		}
		t.lines = append(t.lines, w.describe(by))
		t.last, t.err = next, next.judge()
		w = next
	}
	if t.err == nil {
		s.events, s.faults = 0, 0
		t.last, t.err = w.run()
	}
	return t
}

// anyStep prefers the world's own course: a group that never gets anywhere shows little.
func (w *world) anyStep(chance *rand.Rand) (step, *world) {
	var own, events, faults []step
	for _, s := range w.steps() {
		switch {
		case s.own():
			own = append(own, s)
		case s.fault():
			faults = append(faults, s)
		default:
			events = append(events, s)
		}
	}
	choices := own
	switch roll := chance.IntN(100); {
	case roll < 12 || len(own) == 0:
		choices = events
	case roll < 18 && len(faults) > 0:
		choices = faults
	}
	if len(choices) == 0 {
		return step{}, nil
	}
	by := choices[chance.IntN(len(choices))]
	return by, w.take(by)
}
