package explore

import (
	"fmt"
	"slices"

	"github.com/rollcall-dev/rollcall/test/referee"
)

// result of a search.
type result struct {
	states, steps int
	depth         int
	exhausted     bool
	violation     *trace
}

func (r result) String() string {
	return fmt.Sprintf("%d states, %d steps, depth %d, exhausted: %t", r.states, r.steps, r.depth, r.exhausted)
}

// add sums up explorations that begin with different events.
func (r *result) add(o result) {
	r.states += o.states
	r.steps += o.steps
	r.depth = max(r.depth, o.depth)
	r.exhausted = r.exhausted && o.exhausted
}

// search walks from a world to all that can be reached, deep first: memory holds one path, and the keys of all worlds.
type search struct {
	limit   int // of states
	visited keySet
	// onPath are the keys of the path, with their places on it.
	onPath map[uint64]int
	path   []frame
	// via are the steps, after the one taken, by which there was only one way on.
	via    []step
	result result
	// entered is told of each world, if a test wants to know.
	entered func(*world)
}

// frame is a world on the present path, and the steps from it that are left.
type frame struct {
	world *world
	key   uint64
	by    step
	left  []step
	// course: some step of the world's own course leads elsewhere.
	course bool
	// wrote: by was more than the passing of time.
	wrote bool
	// via are the steps after by that led on to world.
	via []step
}

func newSearch(limit int) *search { return &search{limit: limit, onPath: map[uint64]int{}} }

// from visits every world that can be reached from one and was not visited before.
func (s *search) from(start *world) result {
	before := s.visited.len()
	s.result, s.via = result{exhausted: true}, nil
	if key := start.key(); s.visited.add(key) {
		s.enter(start, key, step{})
	}
	for len(s.path) > 0 && s.result.violation == nil {
		if s.visited.len() >= s.limit {
			s.result.exhausted = false
			break
		}
		s.advance()
	}
	s.result.states = s.visited.len() - before
	return s.result
}

// advance takes the next step from the end of the path, or goes back.
func (s *search) advance() {
	top := &s.path[len(s.path)-1]
	if len(top.left) == 0 {
		s.leave(top)
		return
	}
	by := top.left[0]
	top.left = top.left[1:]
	if next := top.world.take(by); next != nil {
		s.follow(top, next, by)
	}
}

func (s *search) follow(top *frame, next *world, by step) {
	s.via = nil
	if !s.passes(&next, by) {
		return
	}
	key := next.key()
	if by.own() && key != top.key {
		top.course = true
	}
	if _, circle := s.onPath[key]; circle {
		if by.own() && key != top.key {
			s.circle(next, key, by)
		}
		return
	}
	if !s.visited.add(key) {
		return
	}
	if err := next.settled(); err != nil {
		s.violated(next, by, err)
		return
	}
	s.enter(next, key, by)
}

// passes checks a world that a step led to, and goes on as long as there is only the leader's next write to follow.
func (s *search) passes(next **world, by step) bool {
	for {
		s.result.steps++
		if err := (*next).check(); err != nil {
			s.violated(*next, by, err)
			return false
		}
		only, passing := (*next).onlyWrites()
		if !passing {
			return true
		}
		s.via = append(s.via, only)
		*next = (*next).take(only)
	}
}

// circle: the world's own course has come back to where it was. If only time has passed the group is at rest; otherwise it
// would go round for ever.
func (s *search) circle(next *world, key uint64, by step) {
	i := s.onPath[key]
	for _, f := range s.path[i+1:] {
		if f.wrote {
			s.violated(next, by, fmt.Errorf("invariant 7: the group never comes to rest: this is where it was after step %d", i))
			return
		}
	}
	if by.kind != stepTick {
		s.violated(next, by, fmt.Errorf("invariant 7: the group never comes to rest: this is where it was after step %d", i))
		return
	}
	if err := next.referee.Rest(next.view(), "this step"); err != nil {
		s.violated(next, by, err)
	}
}

func (s *search) enter(w *world, key uint64, by step) {
	if s.entered != nil {
		s.entered(w)
	}
	s.onPath[key] = len(s.path)
	s.path = append(s.path, frame{world: w, key: key, by: by, via: s.via, left: w.steps(), wrote: by.kind != stepTick})
	s.result.depth = max(s.result.depth, len(s.path))
}

// leave goes back from a world all of whose steps have been taken. Where none of its own course led elsewhere it is at rest.
func (s *search) leave(top *frame) {
	if !top.course {
		if err := top.world.referee.Rest(top.world.view(), "this step"); err != nil {
			s.path = s.path[:len(s.path)-1]
			s.violated(top.world, top.by, err)
			return
		}
	}
	delete(s.onPath, top.key)
	s.path[len(s.path)-1] = frame{}
	s.path = s.path[:len(s.path)-1]
}

func (s *search) violated(last *world, by step, err error) {
	t := &trace{last: last, err: err}
	for i := 1; i < len(s.path); i++ {
		t.tell(s.path[i-1].world, s.path[i].by, s.path[i].via)
	}
	if len(s.path) > 0 {
		t.tell(s.path[len(s.path)-1].world, by, s.via)
	}
	s.result.violation = t
}

// check asks the referee about a world that was just reached; it must see every step, also to worlds seen before.
func (w *world) check() error { return w.referee.Check(w.view(), "this step") }

// settled asks the referee about a world in which the leader has nothing to do at this instant.
func (w *world) settled() error {
	if !w.quiet() {
		return w.improper
	}
	return w.referee.Settled(w.view(), "this step")
}

func (w *world) judge() error {
	if err := w.check(); err != nil {
		return err
	}
	return w.settled()
}

// begin is the Stable group that an exploration begins with.
func (s *setup) begin() (*world, error) {
	s.memo = newMemo()
	w := &world{setup: s, now: beginning, referee: referee.New()}
	events, faults := s.events, s.faults
	s.events, s.faults = 0, 0
	defer func() { s.events, s.faults = events, faults }()
	w.succeed()
	w.createGroup()
	for _, name := range s.initial {
		w.happens(event{what: joins, who: name})
	}
	if err := w.judge(); err != nil {
		return nil, err
	}
	return w.run()
}

// run follows the world's own course, always the first step there is, until it is at rest.
func (w *world) run() (*world, error) {
	const bound = 5000
	for range bound {
		steps := w.steps()
		i := slices.IndexFunc(steps, step.own)
		if i < 0 {
			return w, w.referee.Rest(w.view(), "the last step")
		}
		next := w.take(steps[i])
		if err := next.judge(); err != nil {
			return next, fmt.Errorf("%s: %w", w.describe(steps[i]), err)
		}
		if next.key() == w.key() {
			return next, next.referee.Rest(next.view(), "the last step")
		}
		w = next
	}
	return w, fmt.Errorf("invariant 7: the group does not come to rest within %d steps:\n%s", bound, w)
}
