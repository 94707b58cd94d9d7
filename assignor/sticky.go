package assignor

import (
	"cmp"
	"slices"
)

// Sticky moves as little as an even load allows.
func Sticky(in Input) (Result, error) { return runSolver(in, solveSticky) }

func solveSticky(p *problem) []int32 {
	if slots := solveUniform(p); slots != nil {
		return p.copiesOf(slots)
	}
	return solveGeneral(p)
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
	st.levelAll(weights)
	for _, w := range weights {
		st.retain(w)
	}
	return st.copies()
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

// levelAll makes loads even. Each move lowers the sum that the load goal is about, so it comes to an end.
func (st *state) levelAll(weights []int64) {
	lv := newLeveler(st)
	for moved := true; moved; {
		moved = false
		for _, w := range weights {
			moved = lv.level(w) || moved
		}
		moved = moved && len(weights) > 1
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
