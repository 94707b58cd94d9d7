package main

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"
)

const (
	// rounds is how often each contestant is measured at a point; the median counts.
	rounds = 5
	// shortRun is how long a round is to last at least: what is shorter is repeated, and the mean counts.
	shortRun = 3 * time.Millisecond
	// mostRepeats bounds these repetitions.
	mostRepeats = 256
	// longRun is what is measured only once.
	longRun = time.Second
)

// sample is one round. What counts is the processor time of the process: unlike the time that passes it does not depend
// on what else the machine does. The work of the garbage collector is in it.
type sample struct {
	Time   time.Duration `json:"time"`
	Passed time.Duration `json:"passed"`
	Bytes  uint64        `json:"bytes"` // allocated
}

// outcome is what a contestant came to at a point. Without samples it did not finish, for that reason.
type outcome struct {
	samples []sample
	verdict verdict
	failure string
}

func (o *outcome) time() time.Duration {
	return median(o.samples, func(s sample) time.Duration { return s.Time })
}

func (o *outcome) passed() time.Duration {
	return median(o.samples, func(s sample) time.Duration { return s.Passed })
}

func (o *outcome) bytes() uint64 {
	return median(o.samples, func(s sample) uint64 { return s.Bytes })
}

func median[T time.Duration | uint64](samples []sample, of func(sample) T) T {
	values := make([]T, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// measured is a contestant in the middle of its rounds.
type measured struct {
	contestant
	repeats int
	outcome outcome
}

// contest measures contestants in turn, round by round, so that what else the machine does meets all of them alike.
func contest(p point, judged func(assignment) verdict, contestants ...contestant) (map[string]*outcome, error) {
	all := make([]*measured, len(contestants))
	for i, c := range contestants {
		if c.name() == franzCooperativeName && all[i-1].done() {
			all = all[:i] // the sticky balancer takes long, and this one does the same and more
			break
		}
		all[i] = &measured{contestant: c}
		target, err := all[i].warmUp()
		if err != nil {
			return nil, fmt.Errorf("%s at %v: %w", c.name(), p, err)
		}
		all[i].outcome.verdict = judged(target)
	}
	for round := range rounds {
		for i := range all {
			m := all[(i+round)%len(all)]
			if m.done() {
				continue
			}
			if err := m.round(); err != nil {
				return nil, fmt.Errorf("%s at %v: %w", m.name(), p, err)
			}
		}
	}
	outcomes := map[string]*outcome{}
	for _, m := range all {
		outcomes[m.name()] = &m.outcome
	}
	return outcomes, nil
}

// warmUp runs the contestant once for its assignment, and to know how often to repeat it in a round. What takes long stays
// the only sample.
func (m *measured) warmUp() (assignment, error) {
	m.repeats = 1
	run, result := m.attempt()
	if err := m.sample(run); err != nil {
		return nil, err
	}
	target, err := result()
	if once := m.outcome.samples[0].Time; once < longRun {
		m.outcome.samples = nil
		m.repeats = int(min(mostRepeats, 1+shortRun/max(once, 1)))
	}
	return target, err
}

// done says whether the contestant has all its samples.
func (m *measured) done() bool {
	n := len(m.outcome.samples)
	return n == rounds || (n > 0 && m.outcome.samples[0].Time >= longRun)
}

// round takes one sample of as many runs as make it long enough.
func (m *measured) round() error {
	runs := make([]func() error, m.repeats)
	for i := range runs {
		runs[i], _ = m.attempt()
	}
	return m.sample(runs...)
}

// sample measures runs. It starts with an empty heap, and leaves to the runs the garbage that they make themselves.
func (m *measured) sample(runs ...func() error) error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, used := time.Now(), processorTime()
	for _, run := range runs {
		if err := run(); err != nil {
			return err
		}
	}
	used, passed := processorTime()-used, time.Since(start)
	runtime.ReadMemStats(&after)
	n := len(runs)
	m.outcome.samples = append(m.outcome.samples, sample{
		Time:   used / time.Duration(n),
		Passed: passed / time.Duration(n),
		Bytes:  (after.TotalAlloc - before.TotalAlloc) / uint64(n),
	})
	return nil
}

// processorTime is what the process has used of all processors.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(fmt.Sprintf("getrusage of the own process: %v", err))
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
