package assignor

// leveler makes loads even by moving one unit along a chain of members: the first, with much, ends with one unit less,
// the last, with little, has one more, and those between give one and get one. When there is no such chain that helps,
// then for units of one weight there is no better distribution at all.
type leveler struct {
	*state
	weight  int64  // moves only slots of this weight
	ofKind  bitset // the kinds of these slots
	owned   ownedSlots
	settled []bool // members that no chain from outside reaches, and among which no chain helps
	fullest int32  // the unsettled member with the greatest share

	seen      []int32 // member -> 1 + number of the search that reached it last
	open      bitset  // kinds of which there may be members with slots that are not reached
	wanted    bitset  // kinds of which the member at hand could be given slots, and that are open
	search    int32
	queue     []int32
	unreached []int32
	via, to   []int32 // the slot that the member would give, and to whom
}

func newLeveler(st *state) *leveler {
	n := len(st.load)
	return &leveler{
		state: st, owned: st.ownedByAway(), settled: make([]bool, n),
		seen: make([]int32, n), open: newBitset(len(st.kinds)), wanted: newBitset(len(st.kinds)),
		via: make([]int32, n), to: make([]int32, n),
	}
}

// level moves units of one weight until no chain of them helps. It says whether it moved anything.
func (lv *leveler) level(weight int64) bool {
	lv.weight, lv.ofKind = weight, lv.setOfKinds(weight)
	for m := range lv.settled {
		lv.settled[m] = lv.p.capacity[m] == 0
	}
	moved := lv.topUp(weight, lv.ofKind)
	for {
		least := lv.extremes()
		if least < 0 || !lv.helps(lv.fullest, least, weight) {
			return moved
		}
		from := lv.reach(least)
		if from >= 0 && lv.helps(from, least, weight) && lv.shift(from, least) {
			moved = true
			continue
		}
		for _, m := range lv.queue {
			lv.settled[m] = true
		}
	}
}

// kindsWeighing appends the kinds of slots with a weight.
func (st *state) kindsWeighing(weight int64, list []int32) []int32 {
	for k := range st.kinds {
		if st.kinds[k].weight == weight {
			list = append(list, int32(k))
		}
	}
	return list
}

// setOfKinds is the set of kinds of slots with a weight.
func (st *state) setOfKinds(weight int64) bitset {
	set := newBitset(len(st.kinds))
	for _, k := range st.kindsWeighing(weight, nil) {
		set.add(k)
	}
	return set
}

// extremes finds the unsettled member to which one more unit costs least, and the fullest.
func (lv *leveler) extremes() int32 {
	least := int32(-1)
	lv.fullest = -1
	for m := range int32(len(lv.load)) {
		if lv.settled[m] {
			continue
		}
		if least < 0 || lv.costsLess(m, least, lv.weight) {
			least = m
		}
		if lv.fullest < 0 || lv.fuller(m, lv.fullest) {
			lv.fullest = m
		}
	}
	return least
}

// fuller says whether taking a unit away relieves a more than b.
func (lv *leveler) fuller(a, b int32) bool {
	return compareShares(loss(lv.load[a], lv.weight), lv.p.capacity[a], loss(lv.load[b], lv.weight), lv.p.capacity[b]) > 0
}

// helps says whether loads get more even when weight goes from one member to another.
func (st *state) helps(from, to int32, weight int64) bool {
	return compareShares(loss(st.load[from], weight), st.p.capacity[from], gain(st.load[to], weight), st.p.capacity[to]) > 0
}

// reach finds all members from which a chain leads to the given one, or enough of them to know the fullest. It returns
// the fullest, or -1.
func (lv *leveler) reach(target int32) int32 {
	lv.search++
	copy(lv.open, lv.ofKind)
	lv.seen[target] = lv.search
	lv.queue = append(lv.queue[:0], target)
	lv.unreached = lv.unreached[:0]
	for m := range int32(len(lv.load)) {
		if !lv.settled[m] && m != target {
			lv.unreached = append(lv.unreached, m)
		}
	}
	best := int32(-1)
	for at := 0; at < len(lv.queue); {
		before := len(lv.queue)
		lv.extend(lv.queue[at])
		at++
		for _, x := range lv.queue[before:] {
			if best < 0 || lv.fuller(x, best) {
				best = x
			}
		}
		if best >= 0 && !lv.fuller(lv.fullest, best) {
			return best
		}
	}
	return best
}

// extend reaches the members that have a slot which y may take.
func (lv *leveler) extend(y int32) {
	if lv.p.away[y] {
		for _, s := range lv.owned.of(y) {
			x := lv.assign[s]
			if x >= 0 && !lv.settled[x] && lv.seen[x] != lv.search && lv.movable(s, lv.weight) && lv.allowed(s, y) {
				lv.visit(x, s, y)
			}
		}
		return
	}
	found := false
	for w := range lv.open {
		lv.wanted[w] = lv.open[w] & lv.may[y][w]
		found = found || lv.wanted[w] != 0
	}
	if found {
		lv.extendBy(y)
	}
}

// extendBy is extend for the kinds that are wanted.
func (lv *leveler) extendBy(y int32) {
	for w := range lv.open {
		lv.open[w] &^= lv.wanted[w]
	}
	left := lv.unreached[:0]
	for _, x := range lv.unreached {
		if lv.seen[x] == lv.search {
			continue
		}
		s := lv.slotFor(x, y)
		if s < 0 {
			left = append(left, x)
			continue
		}
		lv.visit(x, s, y)
		if !lv.fuller(lv.fullest, x) {
			return // that is as good as any
		}
	}
	lv.unreached = left
}

// slotFor finds a slot of x for y. A kind of which x has slots, and none for y, stays open for others.
func (lv *leveler) slotFor(x, y int32) int32 {
	n := int32(len(lv.kinds))
	for k := nextCommon(0, n, lv.has[x], lv.wanted, lv.ofKind); k < n; k = nextCommon(k+1, n, lv.has[x], lv.wanted, lv.ofKind) {
		if s := lv.pick(x, k, y); s >= 0 {
			return s
		}
		lv.open.add(k)
	}
	return -1
}

func (lv *leveler) visit(x, s, y int32) {
	lv.seen[x] = lv.search
	lv.via[x], lv.to[x] = s, y
	lv.queue = append(lv.queue, x)
}

// movable says whether the slot is of that weight, and not pinned.
func (st *state) movable(s int32, weight int64) bool {
	return st.kinds[st.kindOf[s]].weight == weight && (st.fixed == nil || !st.fixed[s])
}

// shift moves a unit along the chain that leads from a member to the target. Should two moves of the chain concern the
// same partition in a way that breaks a rule, it takes all of them back and says no.
func (lv *leveler) shift(from, target int32) bool {
	var chain []int32
	for x := from; x != target; x = lv.to[x] {
		chain = append(chain, x)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		x := chain[i]
		if lv.allowed(lv.via[x], lv.to[x]) {
			lv.put(lv.via[x], lv.to[x])
			continue
		}
		for _, done := range chain[i+1:] {
			lv.put(lv.via[done], done)
		}
		return false
	}
	return true
}

// ownedSlots lists for each away member the slots that it may have, which are those that it has owned.
type ownedSlots struct{ start, slots []int32 }

func (o *ownedSlots) of(m int32) []int32 {
	if o.start == nil {
		return nil
	}
	return o.slots[o.start[m]:o.start[m+1]]
}

// ownedByAway fills in the list. A slot is any one of its partition: where the copies are alike each is listed.
func (st *state) ownedByAway() ownedSlots {
	if !st.p.anyAway {
		return ownedSlots{}
	}
	lists := make([][]int32, len(st.load))
	total := 0
	for i := range st.p.groups {
		g := &st.p.groups[i]
		for j := range g.parts * g.replicas {
			m := st.p.held[g.copies+j]
			if m < 0 || !st.p.away[m] || !st.ownsWhole(g.slot+j, m) {
				continue
			}
			for s := g.slot + j%g.parts; s < g.slot+g.parts*g.replicas; s += g.parts {
				lists[m] = append(lists[m], s)
				total++
			}
		}
	}
	o := ownedSlots{start: make([]int32, 1, len(lists)+1), slots: make([]int32, 0, total)}
	for _, list := range lists {
		o.slots = append(o.slots, list...)
		o.start = append(o.start, int32(len(o.slots)))
	}
	return o
}
