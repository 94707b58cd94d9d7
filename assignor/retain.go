package assignor

// retainer brings slots back to those who had them before, without a change of any goal that comes first.
//
// It looks for rounds of moves in which every member gives as many slots of one weight as it gets, or in which two members
// whose loads are as good one way as the other change their part. As a graph: members, with an arc from x to y for a slot
// that can move from x to y, its cost the copies that are kept less; one node a kind, so that arcs need not be drawn for
// each two members; and one node for each level of load, through which a unit passes from a member that could as well have
// one more to one that could as well have one less. A negative cycle saves moves; when there is none, no fewer are possible.
type retainer struct {
	*state
	weight   int64
	kindsOf  []int32
	cost     []int       // node -> cost of the cheapest way to it found
	from     []int32     // node -> the node before it on that way, or -1
	via      []int32     // node -> the slot that moves there, or -1
	queue    []int32     // nodes whose cost has fallen
	queued   []bool      // node is in the queue
	levelOf  []int32     // member -> node of the level that one more unit brings it to
	leaving  []int32     // member -> level from which one unit less brings it down, or -1
	leavers  [][]int32   // level -> those members
	member   int32       // number of members; kinds and levels are numbered after them
	fallback []tentative // moves made, to be taken back
}

type tentative struct{ slot, from int32 }

// retain saves moves until no round of moves of slots of that weight saves any. It says whether it saved one.
func (st *state) retain(weight int64) bool {
	rt := &retainer{state: st, weight: weight, kindsOf: st.kindsWeighing(weight, nil), member: int32(len(st.load))}
	for saved := false; ; saved = true {
		rt.reset()
		if rt.atLeast() {
			return saved
		}
		cycle := rt.negativeCycle()
		if cycle == nil || !rt.turn(cycle) {
			return saved
		}
	}
}

// reset draws the levels anew and forgets all ways.
func (rt *retainer) reset() {
	rt.drawLevels()
	n := int(rt.firstLevel()) + len(rt.leavers)
	rt.cost, rt.queued = make([]int, n), make([]bool, n)
	rt.from, rt.via = filled(n, -1), filled(n, -1)
	rt.queue = rt.queue[:0]
}

// firstLevel is the node of level 0.
func (rt *retainer) firstLevel() int32 { return rt.member + int32(len(rt.kinds)) }

func (rt *retainer) drawLevels() {
	rt.leavers = rt.leavers[:0]
	rt.leaving, rt.levelOf = filled(rt.member, -1), filled(rt.member, -1)
	levels := map[[2]int64]int32{}
	for m := range rt.member {
		if rt.p.capacity[m] == 0 || !rt.hasUnit(m) {
			continue
		}
		key := reduced(loss(rt.load[m], rt.weight), rt.p.capacity[m])
		i, ok := levels[key]
		if !ok {
			i = int32(len(rt.leavers))
			levels[key] = i
			rt.leavers = append(rt.leavers, nil)
		}
		rt.leaving[m] = i
		rt.leavers[i] = append(rt.leavers[i], m)
	}
	for m := range rt.member {
		if rt.p.capacity[m] == 0 {
			continue
		}
		if i, ok := levels[reduced(gain(rt.load[m], rt.weight), rt.p.capacity[m])]; ok {
			rt.levelOf[m] = rt.firstLevel() + i
		}
	}
}

// hasUnit says whether m has a slot of the weight that it could lose.
func (rt *retainer) hasUnit(m int32) bool {
	for _, k := range rt.kindsOf {
		if gained, kept := rt.lists(m, k); gained >= 0 || kept >= 0 {
			return true
		}
	}
	return false
}

// reduced is a fraction in lowest terms.
func reduced(a, b int64) [2]int64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	if x < 0 {
		x = -x
	}
	return [2]int64{a / x, b / x}
}

// negativeCycle finds a round of moves that saves some: its nodes, backwards; nil if there is none.
func (rt *retainer) negativeCycle() []int32 {
	for m := range rt.member {
		rt.relaxReturns(m)
	}
	for len(rt.queue) > 0 {
		if cycle := rt.findCycle(); cycle != nil {
			return cycle
		}
		round := rt.queue
		rt.queue = nil
		for _, node := range round {
			rt.queued[node] = false
			rt.relax(node)
		}
	}
	return nil
}

// relax follows all arcs from a node.
func (rt *retainer) relax(node int32) {
	switch {
	case node < rt.member:
		rt.relaxReturns(node)
		rt.relaxGifts(node)
		if rt.levelOf[node] >= 0 {
			rt.reachNode(rt.levelOf[node], node, -1, rt.cost[node])
		}
	case node < rt.firstLevel():
		for _, y := range rt.kinds[node-rt.member].takers {
			rt.reachNode(y, node, -1, rt.cost[node])
		}
	default:
		for _, y := range rt.leavers[node-rt.firstLevel()] {
			rt.reachNode(y, node, -1, rt.cost[node])
		}
	}
}

// relaxReturns follows the arcs from x to those who have had a slot that x has.
func (rt *retainer) relaxReturns(x int32) {
	for _, k := range rt.kindsOf {
		gained, kept := rt.lists(x, k)
		for _, s := range [2]int32{gained, kept} {
			for ; s >= 0; s = rt.next[s] {
				rt.relaxReturn(x, s)
			}
		}
	}
}

func (rt *retainer) relaxReturn(x, s int32) {
	g := &rt.p.groups[rt.groupOf[s]]
	first, step, end := rt.partition(s)
	for j := range int32(len(g.topics)) {
		topic := g.copies + j*g.parts*g.replicas - g.slot
		for i := first; i < end; i += step {
			y := rt.p.held[topic+i]
			if y >= 0 && y != x && rt.allowed(s, y) {
				rt.reachNode(y, x, s, rt.cost[x]+rt.kept(s, x)-rt.kept(s, y))
			}
		}
	}
}

// relaxGifts follows the arcs from x to all who may take a slot that x has.
func (rt *retainer) relaxGifts(x int32) {
	for _, k := range rt.kindsOf {
		s, cost := rt.cheapest(x, k)
		if s < 0 {
			continue
		}
		if rt.kinds[k].plain {
			rt.reachNode(rt.member+k, x, s, rt.cost[x]+cost)
			continue
		}
		for _, y := range rt.kinds[k].takers {
			if rt.cost[x]+cost >= rt.cost[y] {
				continue
			}
			if s := rt.pick(x, k, y); s >= 0 {
				rt.reachNode(y, x, s, rt.cost[x]+rt.kept(s, x))
			}
		}
	}
}

// cheapest is the slot of a kind whose loss costs x least, and what it costs.
func (rt *retainer) cheapest(x, k int32) (slot int32, cost int) {
	gained, kept := rt.lists(x, k)
	if gained >= 0 {
		return gained, 0
	}
	slot = kept
	for s := kept; s >= 0; s = rt.next[s] {
		if c := rt.kept(s, x); slot == s || c < cost {
			slot, cost = s, c
		}
	}
	return slot, cost
}

func (rt *retainer) reachNode(node, from, via int32, cost int) {
	if cost >= rt.cost[node] {
		return
	}
	rt.cost[node], rt.from[node], rt.via[node] = cost, from, via
	if !rt.queued[node] {
		rt.queued[node] = true
		rt.queue = append(rt.queue, node)
	}
}

// findCycle finds a cycle among the ways found so far: on such a one costs would fall for ever.
func (rt *retainer) findCycle() []int32 {
	mark := make([]int32, len(rt.from)) // 1 + the node at which the walk began
	for _, start := range rt.queue {
		node := start
		for node >= 0 && mark[node] == 0 {
			mark[node] = start + 1
			node = rt.from[node]
		}
		if node < 0 || mark[node] != start+1 {
			continue
		}
		cycle := []int32{node}
		for at := rt.from[node]; at != node; at = rt.from[at] {
			cycle = append(cycle, at)
		}
		return cycle
	}
	return nil
}

// turn makes the moves of a cycle. Should two of them concern the same partition in a way that breaks a rule, it takes all
// of them back and says no.
func (rt *retainer) turn(cycle []int32) bool {
	rt.fallback = rt.fallback[:0]
	for i, node := range cycle {
		from := cycle[(i+1)%len(cycle)]
		if node >= rt.member || from >= rt.firstLevel() {
			continue
		}
		s := rt.via[node]
		if from >= rt.member {
			s = rt.via[from]
		}
		if !rt.allowed(s, node) {
			for i := len(rt.fallback) - 1; i >= 0; i-- {
				rt.put(rt.fallback[i].slot, rt.fallback[i].from)
			}
			return false
		}
		rt.fallback = append(rt.fallback, tentative{slot: s, from: rt.assign[s]})
		rt.put(s, node)
	}
	return true
}
