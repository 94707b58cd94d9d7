package assignor

import "slices"

// solver assigns each copy of a problem to the number of a member, or -1.
type solver func(*problem) []int32

// run checks the input, solves it and reports.
func runSolver(in Input, solve solver) (Result, error) {
	p, err := newProblem(&in)
	if err != nil {
		return Result{}, err
	}
	copies := solve(p)
	var r Result
	r.Moved = p.moved(copies)
	loads := p.loads(copies)
	r.Loads = p.byInput(loads)
	r.Short = p.short(copies, loads, solve)
	r.Unplaced = p.unplaced(copies)
	for _, i := range p.ignored {
		r.Ignored = append(r.Ignored, Ignored{Member: int(p.members[i.member]), Copies: i.copies, Reason: i.reason})
	}
	slices.SortStableFunc(r.Ignored, func(a, b Ignored) int { return a.Member - b.Member })
	r.Target = p.target(copies)
	return r, nil
}

func (p *problem) moved(copies []int32) int {
	n := 0
	for i, m := range copies {
		if m >= 0 && p.held[i] >= 0 && p.held[i] != m {
			n++
		}
	}
	return n
}

// loads sums what each member has.
func (p *problem) loads(copies []int32) []int64 {
	loads := make([]int64, len(p.members))
	for t := range p.topics {
		topic, g := p.topic(int32(t)), &p.groups[p.groupOf[t]]
		weight, part := max(topic.Weight, 1), int32(0)
		for _, m := range copies[p.copies[t] : p.copies[t]+g.parts*g.replicas] {
			if topic.Weights != nil {
				weight = weightOf(topic, part)
				if part++; part == g.parts {
					part = 0
				}
			}
			if m >= 0 {
				loads[m] += weight
			}
		}
	}
	return loads
}

func (p *problem) byInput(loads []int64) []int64 {
	sorted := make([]int64, len(loads))
	for m, i := range p.members {
		sorted[i] = loads[m]
	}
	return sorted
}

// short runs the solver once more, with the target as what is held and nobody away.
func (p *problem) short(copies []int32, loads []int64, solve solver) []int {
	if !p.anyAway {
		return nil
	}
	back := *p
	back.held = copies
	back.away = make([]bool, len(p.members))
	back.anyAway = false
	var short []int
	for m, load := range back.loads(solve(&back)) {
		if p.away[m] && load > loads[m] {
			short = append(short, int(p.members[m]))
		}
	}
	slices.Sort(short)
	return short
}

// target gives the result its shape. It may overwrite copies.
func (p *problem) target(copies []int32) [][][]int32 {
	for i, m := range copies {
		if m >= 0 {
			copies[i] = p.members[m]
		}
	}
	rows := 0
	for t := range p.topics {
		rows += int(p.groups[p.groupOf[t]].replicas)
	}
	backing := make([][]int32, rows)
	target := make([][][]int32, len(p.topics))
	for t, i := range p.topics {
		g := &p.groups[p.groupOf[t]]
		target[i], backing = backing[:g.replicas:g.replicas], backing[g.replicas:]
		for c := range g.replicas {
			from, to := p.copies[t]+c*g.parts, p.copies[t]+(c+1)*g.parts
			target[i][c] = copies[from:to:to]
		}
	}
	return target
}
