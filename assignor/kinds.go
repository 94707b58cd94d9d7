package assignor

// kind is slots that are alike: the same members may take them, and they have the same weight.
type kind struct {
	weight int64
	plain  bool    // no other copies of the same partitions: whoever may take one slot may take all
	may    bitset  // the members that may take them, away or not
	takers []int32 // those of them that are not away
	only   int32   // the group that all of them are of, or -1
}

// findKinds sorts all slots by kind.
func (st *state) findKinds() {
	p := st.p
	st.kindOf = make([]int32, p.nSlots)
	st.groupOf = make([]int32, p.nSlots)
	columns := st.columns()
	known := map[kindKey]int32{}
	for i := range p.groups {
		g := &p.groups[i]
		if g.weights != nil {
			st.kindsByPartition(known, columns[i], int32(i))
			continue
		}
		number := st.kindNumber(known, kindKey{columns[i], g.weight, g.replicas == 1}, int32(i))
		for s := g.slot; s < g.slot+g.parts*g.replicas; s++ {
			st.kindOf[s], st.groupOf[s] = number, int32(i)
		}
	}
}

// kindsByPartition finds the kinds of the slots of a group with different weights.
func (st *state) kindsByPartition(known map[kindKey]int32, column, group int32) {
	g := &st.p.groups[group]
	number, last := int32(-1), int64(0)
	for s := range g.parts * g.replicas {
		if w := g.weights[s%g.parts]; number < 0 || w != last {
			number, last = st.kindNumber(known, kindKey{column, w, g.replicas == 1}, group), w
		}
		st.kindOf[g.slot+s], st.groupOf[g.slot+s] = number, group
	}
}

// kindKey tells kinds apart.
type kindKey struct {
	column int32
	weight int64
	plain  bool
}

// kindNumber finds the kind, or makes it as the kind of slots of group g.
func (st *state) kindNumber(known map[kindKey]int32, key kindKey, g int32) int32 {
	number, ok := known[key]
	if !ok {
		number = int32(len(st.kinds))
		known[key] = number
		st.kinds = append(st.kinds, st.newKind(g, key.weight, key.plain))
	} else if st.kinds[number].only != g {
		st.kinds[number].only = -1
	}
	return number
}

// columns numbers the sets of members that may take a group: groups with the same number have the same.
func (st *state) columns() []int32 {
	p := st.p
	used := newBitset(len(p.rows))
	for m := range p.members {
		if p.capacity[m] > 0 {
			used.add(p.class[m])
		}
	}
	columns := make([]int32, len(p.groups))
	byHash := map[uint64][]int32{} // the first groups with a hash
	for g := range columns {
		column := newBitset(len(p.rows))
		for c := range p.rows {
			if used.has(int32(c)) && p.rows[c].has(int32(g)) {
				column.add(int32(c))
			}
		}
		h := column.hash()
		columns[g] = int32(g)
		for _, other := range byHash[h] {
			if st.sameColumn(int32(g), other, used) {
				columns[g] = other
				break
			}
		}
		if columns[g] == int32(g) {
			byHash[h] = append(byHash[h], int32(g))
		}
	}
	return columns
}

func (st *state) sameColumn(a, b int32, used bitset) bool {
	for c, row := range st.p.rows {
		if used.has(int32(c)) && row.has(a) != row.has(b) {
			return false
		}
	}
	return true
}

func (st *state) newKind(g int32, weight int64, plain bool) kind {
	k := kind{weight: weight, plain: plain, only: g, may: newBitset(len(st.p.members))}
	for m := range int32(len(st.p.members)) {
		if st.p.takes(m, g) {
			k.may.add(m)
			if !st.p.away[m] {
				k.takers = append(k.takers, m)
			}
		}
	}
	return k
}
