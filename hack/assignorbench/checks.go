package main

import (
	"errors"
	"fmt"
)

const (
	// timesFaster is what is asked for at the point that headline matches, against franz-go's sticky balancer.
	timesFaster = 10
	// outputMultiple bounds what is allocated, as a multiple of the output's size.
	outputMultiple = 8
	// allocationBase is what a run may allocate whatever its size, in bytes.
	allocationBase = 64 << 10
)

// checks says where the assignor misses what it promises.
func checks(rows []row) error {
	var missed []error
	for _, r := range rows {
		missed = append(missed, checkCounts(r), checkSpeed(r), checkAllocation(r))
	}
	return errors.Join(missed...)
}

// checkCounts asks for the least number of moves and for even loads where these are known.
func checkCounts(r row) error {
	v := r.outcomes[rollcallName].verdict
	switch {
	case v.Unplaced > 0:
		return fmt.Errorf("%v: %d copies have no member", r.point, v.Unplaced)
	case r.point.feature.exact && v.Moved != v.Least:
		return fmt.Errorf("%v: %d copies move, the least is %d", r.point, v.Moved, v.Least)
	case r.point.feature.exact && v.Spread > 1:
		return fmt.Errorf("%v: loads differ by %d", r.point, v.Spread)
	}
	return nil
}

// headline says whether the point is one at which the assignor is to be so many times faster.
func headline(p point) bool {
	return p.size == size{members: 2000, partitions: 100000} && p.feature.name == plain
}

// checkSpeed asks that the assignor is never slower where all do the same work.
func checkSpeed(r row) error {
	if r.point.feature.blind {
		return nil
	}
	ours := r.outcomes[rollcallName].time()
	for _, name := range []string{franzName, franzCooperativeName} {
		if o := r.outcomes[name]; o != nil && ours > o.time() {
			theirs := o.time()
			return fmt.Errorf("%v: %v is slower than %s with %v", r.point, ours, name, theirs)
		}
	}
	if theirs := r.outcomes[franzName].time(); headline(r.point) && theirs < timesFaster*ours {
		return fmt.Errorf("%v: %v is only %.1f times as fast as franz-go with %v", r.point, ours, ratio(r), theirs)
	}
	return nil
}

// ratio is how many times as long franz-go's sticky balancer takes.
func ratio(r row) float64 {
	return float64(r.outcomes[franzName].time()) / float64(r.outcomes[rollcallName].time())
}

// checkAllocation bounds what plain inputs take.
func checkAllocation(r row) error {
	if r.point.feature.name != plain {
		return nil
	}
	allowed := uint64(allocationBase + outputMultiple*outputSize(r.point))
	if bytes := r.outcomes[rollcallName].bytes(); bytes > allowed {
		return fmt.Errorf("%v: %d bytes allocated, %d allowed", r.point, bytes, allowed)
	}
	return nil
}

// outputSize is the size of a result in bytes: four for the member of each copy, eight for each member's load.
func outputSize(p point) int { return 4*p.size.partitions + 8*p.size.members }
