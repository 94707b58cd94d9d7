package assignor

// topper makes loads even by moves of single slots: whoever has least gets one of the fullest that can give it one. It is
// quick where much has to move; what takes chains of members is left to the leveler.
type topper struct {
	*state
	weight int64
	ofKind bitset      // the kinds of slots that move
	full   indexedHeap // the fullest first
	empty  indexedHeap // those to whom one more unit costs least first
	from   []int32     // member -> kind after that which it was given last
}

// topUp moves slots of a weight as long as one move helps. It says whether it moved any.
func (st *state) topUp(weight int64, ofKind bitset) bool {
	tp := &topper{state: st, weight: weight, ofKind: ofKind, from: make([]int32, len(st.load))}
	tp.full = newIndexedHeap(len(st.load), tp.fuller)
	tp.empty = newIndexedHeap(len(st.load), func(a, b int32) bool { return st.costsLess(a, b, weight) })
	for m := range int32(len(st.load)) {
		if st.p.capacity[m] == 0 {
			continue
		}
		tp.full.add(m)
		if !st.p.away[m] {
			tp.empty.add(m)
		}
	}
	tp.full.order()
	tp.empty.order()
	moved := false
	for len(tp.empty.items) > 0 && tp.helps(tp.full.items[0], tp.empty.items[0], weight) {
		if !tp.giveOne(tp.empty.items[0]) {
			tp.empty.pop()
			continue
		}
		moved = true
	}
	return moved
}

func (tp *topper) fuller(a, b int32) bool {
	return compareShares(loss(tp.load[a], tp.weight), tp.p.capacity[a], loss(tp.load[b], tp.weight), tp.p.capacity[b]) > 0
}

// giveOne gives y, the first of the empty, a slot of the fullest that has one for it.
func (tp *topper) giveOne(y int32) bool {
	x := tp.full.firstThat(func(x int32) bool { return !tp.helps(x, y, tp.weight) || tp.slotFor(x, y) >= 0 })
	if x < 0 || !tp.helps(x, y, tp.weight) {
		return false
	}
	slot := tp.slotFor(x, y)
	tp.from[y] = tp.kindOf[slot] + 1
	tp.put(slot, y)
	for _, m := range [2]int32{x, y} {
		tp.full.moved(m)
		tp.empty.moved(m)
	}
	return true
}

// slotFor finds a slot of x for y. It begins with the kind after that which y got last, so that y gets some of each.
func (tp *topper) slotFor(x, y int32) int32 {
	n := int32(len(tp.kinds))
	for k := tp.nextKind(x, y, tp.from[y]); k < n; k = tp.nextKind(x, y, k+1) {
		if s := tp.pick(x, k, y); s >= 0 {
			return s
		}
	}
	for k := tp.nextKind(x, y, 0); k < min(n, tp.from[y]); k = tp.nextKind(x, y, k+1) {
		if s := tp.pick(x, k, y); s >= 0 {
			return s
		}
	}
	return -1
}

// nextKind is the first kind from k up of which x has slots and y may take some; or the number of kinds.
func (tp *topper) nextKind(x, y, k int32) int32 {
	return nextCommon(k, int32(len(tp.kinds)), tp.has[x], tp.may[y], tp.ofKind)
}
