package assignor

import "math"

// polisher makes topics more even, and where they are as even one way as the other brings slots home. It exchanges slots
// of one weight between two members, or hands one on to a member that could as well have it, and touches nothing that
// goals before these have settled: as many copies are kept as before.
type polisher struct {
	*state
	counts [][]int32      // group -> member -> slots; made when first asked for
	least  []float64      // group -> the least that one more slot of it adds to unevenness; negative if not known
	abroad []int32        // member -> slots that are not at home there
	stuck  map[place]bool // at which no slot that nobody has had can be exchanged
}

// place is a member's slots of one group that have the same home. Where they have no other copies they are alike: if nothing
// helps one of them, nothing helps the others until something moves.
type place struct{ group, member, home int32 }

func (po *polisher) placeOf(s int32) place {
	home := int32(anywhere)
	if po.home != nil {
		home = po.home[s]
	}
	return place{po.groupOf[s], po.assign[s], home}
}

// polishBudget bounds the time for a problem: how many exchanges are looked at.
const polishBudget = 1 << 18

// polish improves the last two goals as far as single exchanges can, within its bounds. It says whether it changed anything.
func (st *state) polish() bool {
	po := &polisher{state: st, stuck: map[place]bool{}, counts: make([][]int32, len(st.p.groups)), least: make([]float64, len(st.p.groups))}
	for g := range po.least {
		po.least[g] = -1
	}
	po.countAbroad()
	loose := st.loose() // one slot of each exchange is such a slot
	changed := false
	for better := true; better && po.budget > 0; {
		better = false
		for _, s := range loose {
			if st.kept(s, st.assign[s]) == 0 && po.improveOne(s) {
				better, changed = true, true
			}
		}
	}
	return changed
}

func (po *polisher) countAbroad() {
	po.abroad = make([]int32, len(po.load))
	if po.home == nil {
		return
	}
	for s, m := range po.assign {
		if m >= 0 && !po.atHome(int32(s), m) {
			po.abroad[m]++
		}
	}
}

// improveOne makes the first exchange of the slot s that helps: against any slot of one that has had s, or against one that
// its member has gained. The latter is left to the other slot if s itself would be no better off.
func (po *polisher) improveOne(s int32) bool {
	owners := po.ownersOf(s)
	for _, m := range owners {
		if po.exchange(s, m, true) {
			return true
		}
	}
	if po.atHome(s, po.assign[s]) && !po.crowded(s) || po.stuck[po.placeOf(s)] {
		return false
	}
	if po.improveWithTaker(s) {
		return true
	}
	if po.kinds[po.kindOf[s]].plain && len(owners) == 0 && po.budget > 0 {
		po.stuck[po.placeOf(s)] = true
	}
	return false
}

// improveWithTaker hands s on to, or exchanges it with, the first taker with whom that helps.
func (po *polisher) improveWithTaker(s int32) bool {
	for _, m := range po.kinds[po.kindOf[s]].takers {
		if po.budget--; po.budget <= 0 {
			return false
		}
		if m == po.assign[s] || (po.change(s, m) > -1e-9 && po.homecoming(s, m) <= 0) {
			continue
		}
		if po.handOn(s, m) || po.exchange(s, m, false) {
			return true
		}
	}
	return false
}

// crowded says whether topics would be more even with s at another member.
func (po *polisher) crowded(s int32) bool {
	g := po.groupOf[s]
	row := po.row(g)
	if po.least[g] < 0 {
		po.least[g] = math.Inf(1)
		for _, m := range po.kinds[po.kindOf[s]].takers {
			po.least[g] = min(po.least[g], float64(2*row[m]+1)/float64(po.p.capacity[m]))
		}
		po.budget -= len(row) / 8
	}
	m := po.assign[s]
	return float64(2*row[m]-1)/float64(po.p.capacity[m]) > po.least[g]
}

// handOn gives s to m, if the load of both is as good either way.
func (po *polisher) handOn(s, m int32) bool {
	x := po.assign[s]
	if !po.gainsBy(po.change(s, m), po.homecoming(s, m)) || po.kept(s, m) != 0 || !po.allowed(s, m) {
		return false
	}
	weight := po.kinds[po.kindOf[s]].weight
	if compareShares(loss(po.load[x], weight), po.p.capacity[x], gain(po.load[m], weight), po.p.capacity[m]) != 0 {
		return false
	}
	po.move(s, m)
	return true
}

// exchange swaps s for a slot of m: one that m had before too, or with all unset only one that it has gained.
func (po *polisher) exchange(s, m int32, all bool) bool {
	x := po.assign[s]
	if m == x {
		return false
	}
	for k := range po.kinds {
		if po.budget--; !po.exchangeable(s, m, int32(k)) {
			continue
		}
		gained, kept := po.lists(m, int32(k))
		if !all {
			kept = -1
		}
		for _, other := range [2]int32{gained, kept} {
			for ; other >= 0 && po.budget > 0; other = po.next[other] {
				po.budget--
				if po.swapHelps(s, other) {
					po.move(s, m)
					po.move(other, x)
					return true
				}
			}
		}
	}
	return false
}

// exchangeable says whether it can make sense to exchange s for a slot of kind k of m. Within a group it makes none, save
// that it can bring a slot home if m has one that is not.
func (po *polisher) exchangeable(s, m, k int32) bool {
	kind := &po.kinds[k]
	return kind.weight == po.kinds[po.kindOf[s]].weight && kind.may.has(po.assign[s]) &&
		(kind.only != po.groupOf[s] || !kind.plain || po.abroad[m] > 0)
}

// swapHelps says whether two slots should change places.
func (po *polisher) swapHelps(a, b int32) bool {
	x, y := po.assign[a], po.assign[b]
	if po.groupOf[a] == po.groupOf[b] {
		if !po.gainsBy(0, po.homecoming(a, y)+po.homecoming(b, x)) {
			return false
		}
	} else if !po.gainsBy(po.change(a, y)+po.change(b, x), po.homecoming(a, y)+po.homecoming(b, x)) {
		return false
	}
	if po.kept(a, x)+po.kept(b, y) != po.kept(a, y)+po.kept(b, x) {
		return false
	}
	return po.allowed(a, y) && po.allowed(b, x)
}

// gainsBy says whether a change is for the better: topics more even, or as even and more slots at home.
func (po *polisher) gainsBy(unevenness float64, home int) bool {
	return unevenness < -1e-9 || (unevenness < 1e-9 && home > 0)
}

// change is what a move of s to m adds to the unevenness of its topics: the sum of count²/capacity.
func (po *polisher) change(s, m int32) float64 {
	x := po.assign[s]
	row := po.row(po.groupOf[s])
	topics := float64(len(po.p.groups[po.groupOf[s]].topics))
	return topics * (float64(2*row[m]+1)/float64(po.p.capacity[m]) - float64(2*row[x]-1)/float64(po.p.capacity[x]))
}

// row counts the slots of a group that each member has.
func (po *polisher) row(g int32) []int32 {
	if po.counts[g] == nil {
		row, group := make([]int32, len(po.load)), &po.p.groups[g]
		for _, m := range po.assign[group.slot : group.slot+group.parts*group.replicas] {
			if m >= 0 {
				row[m]++
			}
		}
		po.counts[g] = row
		po.budget -= len(row) / 8
	}
	return po.counts[g]
}

// homecoming is 1 if a move of s to m brings it home, -1 if it takes it from there.
func (po *polisher) homecoming(s, m int32) int {
	switch now, then := po.atHome(s, po.assign[s]), po.atHome(s, m); {
	case then && !now:
		return 1
	case now && !then:
		return -1
	}
	return 0
}

func (po *polisher) move(s, m int32) {
	x, row := po.assign[s], po.row(po.groupOf[s])
	row[x]--
	row[m]++
	if !po.atHome(s, x) {
		po.abroad[x]--
	}
	if !po.atHome(s, m) {
		po.abroad[m]++
	}
	po.least[po.groupOf[s]] = -1
	clear(po.stuck)
	po.put(s, m)
}
