package assignor

// state is an assignment that is being improved.
//
// The copies of a partition are treated as alike: whoever has had any of them and still has one counts as having kept
// it. Which copy index each gets is settled at the end, when those that have kept one get their own.
type state struct {
	p       *problem
	kinds   []kind
	kindOf  []int32 // slot -> kind
	groupOf []int32 // slot -> group
	assign  []int32 // slot -> member or -1
	load    []int64
	plain   bool              // no replicas and no sets: slots are copies, and nothing else is of their partition
	fixed   []bool            // slot: pinned; nil without pins
	split   map[int32][]int32 // slot whose pins lie apart -> the member of each topic's copy, or -1

	home []int32 // slot -> number of its home zone, or anywhere; nil without zonePolicy Prefer

	// The slots of a member that can move, by kind, and by whether it had them before: doubly linked lists.
	head       []int32 // (member*kinds + kind)*2 + kept
	next, prev []int32
	has        []bitset // member -> kinds of which it has slots that can move
	may        []bitset // member -> kinds of which it can be given slots

	budget int // exchanges that polishing may still look at
}

func newState(p *problem) *state {
	st := &state{p: p, assign: filled(p.nSlots, -1), load: make([]int64, len(p.members)), budget: polishBudget}
	st.plain = !p.paired && p.replicasAre(1)
	st.findKinds()
	if p.in.ZonePolicy == ZonePrefer {
		st.listHomes()
	}
	st.head = filled(len(p.members)*len(st.kinds)*2, -1)
	st.next, st.prev = filled(p.nSlots, -1), filled(p.nSlots, -1)
	st.has, st.may = bitsets(len(p.members), len(st.kinds)), bitsets(len(p.members), len(st.kinds))
	for k := range st.kinds {
		for _, m := range st.kinds[k].takers {
			st.may[m].add(int32(k))
		}
	}
	return st
}

// partition is the range of slots of one partition: from the first, in steps, to the end.
func (st *state) partition(s int32) (first, step, end int32) {
	g := &st.p.groups[st.groupOf[s]]
	if g.replicas == 1 {
		return s, g.parts, s + 1
	}
	return g.slot + (s-g.slot)%g.parts, g.parts, g.slot + g.parts*g.replicas
}

// holds says whether m has a copy of the partition of s.
func (st *state) holds(s, m int32) bool {
	first, step, end := st.partition(s)
	for i := first; i < end; i += step {
		if st.assign[i] == m {
			return true
		}
		if st.split != nil && contains(st.split[i], m) {
			return true
		}
	}
	return false
}

func contains(list []int32, m int32) bool {
	for _, x := range list {
		if x == m {
			return true
		}
	}
	return false
}

// kept is how many copies m would keep if it had a slot of the partition of s: topics of which it has owned the copy.
func (st *state) kept(s, m int32) int {
	if st.plain {
		if st.p.held[s] == m {
			return 1
		}
		return 0
	}
	g := &st.p.groups[st.groupOf[s]]
	first, step, end := st.partition(s)
	if len(g.topics) == 1 {
		for i := first; i < end; i += step {
			if st.p.held[g.copies+i-g.slot] == m {
				return 1
			}
		}
		return 0
	}
	most := 0
	for i := first; i < end; i += step {
		most = max(most, st.p.keptAt(g, i, m))
	}
	return most
}

// keptAt is the number of topics of which m has owned the copy of slot s.
func (p *problem) keptAt(g *group, s, m int32) int {
	n, size := 0, g.parts*g.replicas
	for i := g.copies + s - g.slot; i < g.copies+size*int32(len(g.topics)); i += size {
		if p.held[i] == m {
			n++
		}
	}
	return n
}

// ownsWhole says whether m has owned a copy of the partition of s of all topics of the set.
func (st *state) ownsWhole(s, m int32) bool {
	return st.kept(s, m) == len(st.p.groups[st.groupOf[s]].topics)
}

// allowed says whether the slot could move to m, which is not where it is.
func (st *state) allowed(s, m int32) bool {
	k := &st.kinds[st.kindOf[s]]
	if !k.may.has(m) || (st.p.away[m] && !st.ownsWhole(s, m)) {
		return false
	}
	if k.plain {
		return true
	}
	return !st.holds(s, m) && (!st.p.spread || st.assign[s] < 0 || st.keepsSpread(s, m))
}

// put gives a slot to a member, or with -1 takes it away.
func (st *state) put(s, m int32) {
	weight := st.kinds[st.kindOf[s]].weight
	if x := st.assign[s]; x >= 0 {
		st.unlink(s, x)
		st.load[x] -= weight
	}
	st.assign[s] = m
	if m >= 0 {
		st.link(s, m)
		st.load[m] += weight
	}
}

// list is the index in head of the list in which a slot stands at m.
func (st *state) list(s, m int32) int {
	i := (int(m)*len(st.kinds) + int(st.kindOf[s])) * 2
	if st.kept(s, m) > 0 {
		i++
	}
	return i
}

func (st *state) link(s, m int32) {
	if st.fixed != nil && st.fixed[s] {
		return
	}
	i := st.list(s, m)
	st.prev[s], st.next[s] = -1, st.head[i]
	if st.head[i] >= 0 {
		st.prev[st.head[i]] = s
	}
	st.head[i] = s
	st.has[m].add(st.kindOf[s])
}

func (st *state) unlink(s, m int32) {
	if st.prev[s] >= 0 {
		st.next[st.prev[s]] = st.next[s]
	} else {
		st.head[st.list(s, m)] = st.next[s]
	}
	if st.next[s] >= 0 {
		st.prev[st.next[s]] = st.prev[s]
	}
	if gained, kept := st.lists(m, st.kindOf[s]); gained < 0 && kept < 0 {
		st.has[m].remove(st.kindOf[s])
	}
}

// lists are the first slots of kind k that m can lose: one it did not have before, and one it had; or -1.
func (st *state) lists(m, k int32) (gained, kept int32) {
	i := (int(m)*len(st.kinds) + int(k)) * 2
	return st.head[i], st.head[i+1]
}

// pick finds a slot of kind k that can move from x to y, better one that x did not have before. It returns -1 for none.
func (st *state) pick(x, k, y int32) int32 {
	gained, kept := st.lists(x, k)
	for _, s := range []int32{gained, kept} {
		for ; s >= 0; s = st.next[s] {
			if st.allowed(s, y) {
				return s
			}
		}
	}
	return -1
}
