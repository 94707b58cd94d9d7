package assignor

import (
	"cmp"
	"slices"
)

// Sticky moves as little as an even load allows.
func Sticky(in Input) (Result, error) { return runSolver(in, solveSticky) }

func solveSticky(p *problem) []int32 {
	slots, settled := solveQuickly(p)
	if slots == nil {
		return solveGeneral(p)
	}
	if settled {
		return p.copiesOf(slots)
	}
	st := newState(p)
	if p.pinned != nil {
		st.fixPins()
	}
	for s, m := range slots {
		if m >= 0 && st.assign[s] < 0 {
			st.put(int32(s), m)
		}
	}
	st.polish()
	return st.copies()
}

// solveQuickly solves the cases that have a short exact answer. It says whether no exchange can make the last two goals
// better. Any other case has no slots.
func solveQuickly(p *problem) (slots []int32, settled bool) {
	if p.spread {
		if z := solveZonal(p); z != nil {
			settled = !z.canPolish()
			return z.slots(), settled
		}
		return nil, false
	}
	if u := solveUniform(p); u != nil {
		return u.assign, !u.canPolish()
	}
	return nil, false
}

// solveGeneral solves any problem, goal by goal: each step leaves what those before it have reached.
func solveGeneral(p *problem) []int32 {
	st := newState(p)
	st.keep()
	st.place()
	if p.spread {
		st.spreadOut()
	}
	weights := st.weights()
	st.improve(weights)
	for st.polish() && len(weights) > 1 {
		st.improve(weights)
	}
	return st.copies()
}

// improve makes loads even, then saves moves. With one weight each is exact at once; with several a round of moves that
// saves some can make way for a better load. Each step is for the better by the order of the goals, so it comes to an end.
func (st *state) improve(weights []int64) {
	for saved := true; saved; {
		st.levelAll(weights)
		saved = false
		for _, w := range weights {
			saved = st.retain(w) || saved
		}
		saved = len(weights) > 1 && (st.save() || saved)
	}
}

// weights lists the weights that slots have, the greatest first.
func (st *state) weights() []int64 {
	var weights []int64
	for k := range st.kinds {
		weights = append(weights, st.kinds[k].weight)
	}
	slices.SortFunc(weights, func(a, b int64) int { return cmp.Compare(b, a) })
	return slices.Compact(weights)
}

// levelAll makes loads even. Each change lowers the sum that the load goal is about, so it comes to an end.
func (st *state) levelAll(weights []int64) {
	lv := newLeveler(st)
	if len(weights) == 1 {
		lv.level(weights[0])
		return
	}
	for moved := true; moved; {
		st.swap()
		moved = false
		for _, w := range weights {
			moved = lv.level(w) || moved
		}
		moved = moved || st.passOn()
	}
}

// copiesOf gives each copy the member of its slot.
func (p *problem) copiesOf(slots []int32) []int32 {
	if !p.paired {
		return slots
	}
	copies := make([]int32, p.nCopies)
	for i := range p.groups {
		g := &p.groups[i]
		size := g.parts * g.replicas
		for j := range g.topics {
			copy(copies[g.copies+int32(j)*size:], slots[g.slot:g.slot+size])
		}
	}
	return copies
}
