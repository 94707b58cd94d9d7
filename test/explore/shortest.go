package explore

// node is a world found by going broad first, and how it was reached.
type node struct {
	parent int
	by     step
}

// shortest looks for a violation by the shortest way there is, going broad first: memory holds whole worlds, of one
// length of path at a time. It gives up at a number of states.
func shortest(from *world, limit int) result {
	b := breadth{visited: map[uint64]bool{from.key(): true}, nodes: []node{{parent: -1}}, start: from}
	b.result.exhausted = true
	edge := []found{{0, from}}
	for len(edge) > 0 && b.result.violation == nil {
		b.result.depth++
		edge = b.further(edge, limit)
	}
	b.result.states = len(b.visited)
	return b.result
}

type breadth struct {
	start   *world
	visited map[uint64]bool
	nodes   []node
	result  result
}

type found struct {
	node  int
	world *world
}

// further takes all steps from all worlds at the edge.
func (b *breadth) further(edge []found, limit int) []found {
	var next []found
	for i, at := range edge {
		edge[i].world = nil
		course := false
		key := at.world.key()
		for _, by := range at.world.steps() {
			reached := at.world.take(by)
			if reached == nil {
				continue
			}
			b.result.steps++
			if err := reached.check(); err != nil {
				b.violated(at, by, reached, err)
				return nil
			}
			reachedKey := reached.key()
			course = course || by.own() && reachedKey != key
			if b.visited[reachedKey] {
				continue
			}
			if err := reached.settled(); err != nil {
				b.violated(at, by, reached, err)
				return nil
			}
			if len(b.visited) >= limit {
				b.result.exhausted = false
				return nil
			}
			b.visited[reachedKey] = true
			b.nodes = append(b.nodes, node{at.node, by})
			next = append(next, found{len(b.nodes) - 1, reached})
		}
		if course {
			continue
		}
		if err := at.world.referee.Rest(at.world.view(), "the last step"); err != nil {
			b.violated(at, step{}, nil, err)
			return nil
		}
	}
	return next
}

// violated walks the path again to tell it.
func (b *breadth) violated(at found, by step, reached *world, err error) {
	var path []step
	for i := at.node; b.nodes[i].parent >= 0; i = b.nodes[i].parent {
		path = append([]step{b.nodes[i].by}, path...)
	}
	if reached != nil {
		path = append(path, by)
	}
	t := &trace{err: err}
	w := b.start
	for _, s := range path {
		t.lines = append(t.lines, w.describe(s))
		w = w.take(s)
		_ = w.check() // The referee must have seen every step.
	}
	t.last = w
	b.result.violation = t
}
