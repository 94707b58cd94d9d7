package assignor

import (
	"cmp"
	"slices"
)

// keep leaves all slots where they were, as far as the hard rules allow.
func (st *state) keep() {
	if st.p.pinned != nil {
		st.fixPins()
	}
	for i := range st.p.groups {
		g := &st.p.groups[i]
		for s := g.slot; s < g.slot+g.parts*g.replicas; s++ {
			if st.assign[s] >= 0 || st.split[s] != nil {
				continue
			}
			if m := st.keeper(g, s); m >= 0 {
				st.put(s, m)
			}
		}
	}
}

// keeper is the previous owner that may keep the slot: of a set the one that keeps most of it, then the first by name.
func (st *state) keeper(g *group, s int32) int32 {
	best, most, size := int32(-1), 0, g.parts*g.replicas
	for j := range int32(len(g.topics)) {
		m := st.p.held[g.copies+j*size+s-g.slot]
		if m < 0 || m == best || !st.allowed(s, m) {
			continue
		}
		if n := st.p.keptAt(g, s, m); n > most || (n == most && m < best) {
			best, most = m, n
		}
	}
	return best
}

// placer places slots that nobody has.
type placer struct {
	*state
	heaps [][]int32 // of the members that may take the kind at hand: one a zone, or one for all if there are many zones
	kind  *kind
	turn  []int32 // member -> when it was last given something: of equals the one whose turn is longest ago is next
	now   int32
	open  []int // places in a heap, of a search
}

// zoneHeaps is how many zones have heaps of their own. With more zones a member of one that is free is soon found without.
const zoneHeaps = 16

// place gives every slot without a member to one, if any may take it: the heaviest first, and of these first what the
// fewest may take.
func (st *state) place() {
	byKind := st.unplacedByKind()
	order := make([]int32, 0, len(st.kinds))
	for k := range st.kinds {
		if len(byKind[k]) > 0 && len(st.kinds[k].takers) > 0 {
			order = append(order, int32(k))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		x, y := &st.kinds[a], &st.kinds[b]
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(len(x.takers), len(y.takers)))
	})
	heaps := max(st.p.nZones, 1)
	if heaps > zoneHeaps {
		heaps = 1
	}
	pl := placer{state: st, heaps: make([][]int32, heaps), turn: make([]int32, len(st.load))}
	for _, k := range order {
		pl.begin(&st.kinds[k])
		for _, s := range byKind[k] {
			pl.placeOne(s)
		}
	}
}

func (st *state) unplacedByKind() [][]int32 {
	byKind := make([][]int32, len(st.kinds))
	for s, m := range st.assign {
		if m < 0 && st.split[int32(s)] == nil {
			k := st.kindOf[s]
			byKind[k] = append(byKind[k], int32(s))
		}
	}
	return byKind
}

func (pl *placer) begin(k *kind) {
	pl.kind = k
	for i := range pl.heaps {
		pl.heaps[i] = pl.heaps[i][:0]
	}
	for _, m := range k.takers {
		i := 0
		if len(pl.heaps) > 1 {
			i = int(pl.p.zone[m])
		}
		pl.heaps[i] = append(pl.heaps[i], m)
	}
	for _, heap := range pl.heaps {
		heapify(heap, pl.before)
	}
}

// placeOne gives a slot to the best of the heaps' first members.
func (pl *placer) placeOne(s int32) {
	if pl.kind.plain && len(pl.heaps) == 1 {
		pl.give(s, pl.heaps[0], 0)
		return
	}
	best, bestHeap := int32(-1), []int32(nil)
	for _, heap := range pl.heaps {
		m := pl.firstFor(s, heap)
		if m >= 0 && (best < 0 || pl.better(s, m, best)) {
			best, bestHeap = m, heap
		}
	}
	if best < 0 {
		return
	}
	pl.give(s, bestHeap, slices.Index(bestHeap, best))
}

// give gives a slot to the member at a place of a heap.
func (pl *placer) give(s int32, heap []int32, at int) {
	m := heap[at]
	pl.put(s, m)
	pl.now++
	pl.turn[m] = pl.now
	sink(heap, at, pl.before)
}

// firstFor is the next member of a heap that may have s: with Spread and a heap for all zones, one in a zone that has no
// copy of the partition, if there is any.
func (pl *placer) firstFor(s int32, heap []int32) int32 {
	if pl.kind.plain {
		return pl.firstThat(heap, func(int32) bool { return true })
	}
	if pl.p.spread && len(pl.heaps) == 1 {
		m := pl.firstThat(heap, func(m int32) bool { return !pl.holds(s, m) && pl.inZone(s, pl.p.zone[m], -1) == 0 })
		if m >= 0 {
			return m
		}
	}
	return pl.firstThat(heap, func(m int32) bool { return !pl.holds(s, m) })
}

// firstThat is the first member of a heap that fits. Those before it are few: the search looks at them and at what stands
// directly below them.
func (pl *placer) firstThat(heap []int32, fits func(m int32) bool) int32 {
	best := int32(-1)
	open := append(pl.open[:0], 0)
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		if i >= len(heap) || (best >= 0 && pl.before(best, heap[i])) {
			continue
		}
		if fits(heap[i]) {
			best = heap[i]
			continue
		}
		open = append(open, 2*i+2, 2*i+1)
	}
	pl.open = open
	return best
}

// better compares members of different zones for a slot: a zone that has no copy of the partition (Spread), then the
// lesser load, then the home zone.
func (pl *placer) better(s, a, b int32) bool {
	if pl.p.spread && !pl.kind.plain {
		freeA, freeB := pl.inZone(s, pl.p.zone[a], -1) == 0, pl.inZone(s, pl.p.zone[b], -1) == 0
		if freeA != freeB {
			return freeA
		}
	}
	if pl.costsLess(a, b, pl.kind.weight) != pl.costsLess(b, a, pl.kind.weight) {
		return pl.costsLess(a, b, pl.kind.weight)
	}
	if homeA, homeB := pl.atHome(s, a), pl.atHome(s, b); homeA != homeB {
		return homeA
	}
	return pl.before(a, b)
}

// before says whether a comes before b: who has less, then whose turn it is, then by name.
func (pl *placer) before(a, b int32) bool {
	w := pl.kind.weight
	c := compareShares(gain(pl.load[a], w), pl.p.capacity[a], gain(pl.load[b], w), pl.p.capacity[b])
	switch {
	case c != 0:
		return c < 0
	case pl.turn[a] != pl.turn[b]:
		return pl.turn[a] < pl.turn[b]
	}
	return a < b
}
