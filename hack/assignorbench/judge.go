package main

import (
	"cmp"
	"slices"

	"github.com/rollcall-dev/rollcall/assignor"
)

// verdict is what can be counted of an assignment.
type verdict struct {
	Moved    int     `json:"moved"`    // copies taken from one member for another
	Least    int     `json:"least"`    // of these, how many the loads demand
	Spread   int64   `json:"spread"`   // the greatest load less the least
	Unplaced int     `json:"unplaced"` // copies without a member
	Quality  float64 `json:"quality"`  // the input's own figure
}

// assignment is who has what: target[t][c][p] is the index of a member, or -1, as in assignor.Result.
type assignment [][][]int32

// judge counts. With equal loads to be had the least number of moves is that of the input; else that of the loads found.
func judge(in *assignor.Input, f *feature, target assignment) verdict {
	held := previous(in)
	v := verdict{Moved: moved(held, target), Unplaced: unplaced(target)}
	loads := loadsOf(in, target)
	v.Spread = slices.Max(loads) - slices.Min(loads)
	if f.exact {
		v.Least = leastMoves(in, held)
	} else {
		v.Least = movesOfShares(in, held, target)
	}
	if f.quality != nil {
		v.Quality = f.quality.of(in, target)
	}
	return v
}

// previous is the ownership before, in the shape of an assignment.
func previous(in *assignor.Input) assignment {
	held, number := blank(in), map[string]int{}
	for t := range in.Topics {
		number[in.Topics[t].Name] = t
	}
	for m := range in.Members {
		for _, o := range in.Members[m].Owned {
			for _, p := range o.Partitions {
				held[number[o.Topic]][o.Copy][p] = int32(m)
			}
		}
	}
	return held
}

// blank has -1 for every copy of the input.
func blank(in *assignor.Input) assignment {
	target := make(assignment, len(in.Topics))
	for t := range in.Topics {
		for range max(in.Topics[t].Replicas, 1) {
			row := make([]int32, in.Topics[t].Partitions)
			for p := range row {
				row[p] = -1
			}
			target[t] = append(target[t], row)
		}
	}
	return target
}

// each calls f with every copy and its member.
func (a assignment) each(f func(t, c, p int, m int32)) {
	for t := range a {
		for c := range a[t] {
			for p, m := range a[t][c] {
				f(t, c, p, m)
			}
		}
	}
}

func moved(held, target assignment) int {
	n := 0
	target.each(func(t, c, p int, m int32) {
		if was := held[t][c][p]; m >= 0 && was >= 0 && was != m {
			n++
		}
	})
	return n
}

func unplaced(target assignment) int {
	n := 0
	target.each(func(_, _, _ int, m int32) {
		if m < 0 {
			n++
		}
	})
	return n
}

func loadsOf(in *assignor.Input, target assignment) []int64 {
	loads := make([]int64, len(in.Members))
	target.each(func(t, _, p int, m int32) {
		if m < 0 {
			return
		}
		weight := max(in.Topics[t].Weight, 1)
		if in.Topics[t].Weights != nil {
			weight = in.Topics[t].Weights[p]
		}
		loads[m] += weight
	})
	return loads
}

func counts(in *assignor.Input, a assignment) []int {
	n := make([]int, len(in.Members))
	a.each(func(_, _, _ int, m int32) {
		if m >= 0 {
			n[m]++
		}
	})
	return n
}

// leastMoves is the sum over members of what each holds above its share, where shares are equal: those that hold most
// have the shares that are greater by one.
func leastMoves(in *assignor.Input, held assignment) int {
	total := 0
	held.each(func(_, _, _ int, _ int32) { total++ })
	has := counts(in, held)
	slices.SortFunc(has, func(a, b int) int { return cmp.Compare(b, a) })
	least := 0
	for i, n := range has {
		share := total / len(has)
		if i < total%len(has) {
			share++
		}
		least += max(0, n-share)
	}
	return least
}

// movesOfShares is the same with the shares that the assignment gives the members.
func movesOfShares(in *assignor.Input, held, target assignment) int {
	least, shares := 0, counts(in, target)
	for m, n := range counts(in, held) {
		least += max(0, n-shares[m])
	}
	return least
}
