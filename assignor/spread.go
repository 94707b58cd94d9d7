package assignor

// inZone counts the copies of the partition of s, except one, that are in a zone.
func (st *state) inZone(s, zone, except int32) int {
	n := 0
	first, step, end := st.partition(s)
	for i := first; i < end; i += step {
		if i == except {
			continue
		}
		if m := st.assign[i]; m >= 0 && st.p.zone[m] == zone {
			n++
		}
		for _, m := range st.split[i] {
			if m >= 0 && st.p.zone[m] == zone {
				n++
				break
			}
		}
	}
	return n
}

// keepsSpread says whether the partition has copies in no fewer zones after a move of s to m.
func (st *state) keepsSpread(s, m int32) bool {
	from, to := st.p.zone[st.assign[s]], st.p.zone[m]
	return from == to || st.inZone(s, to, s) == 0 || st.inZone(s, from, s) > 0
}

// spreadOut moves copies that share a zone to zones that have none. A partition's spread depends on no other partition,
// and one move at a time reaches the best.
func (st *state) spreadOut() {
	zonesOf := make([]bitset, len(st.kinds))
	for k := range st.kinds {
		zonesOf[k] = newBitset(int(st.p.nZones))
		for _, m := range st.kinds[k].takers {
			zonesOf[k].add(st.p.zone[m])
		}
	}
	for i := range st.p.groups {
		g := &st.p.groups[i]
		if g.replicas == 1 {
			continue
		}
		for s := g.slot; s < g.slot+g.parts; s++ {
			for st.spreadOne(s, zonesOf[st.kindOf[s]]) {
			}
		}
	}
}

// spreadOne makes one move that brings the partition of s into one more zone, if there is one.
func (st *state) spreadOne(s int32, zones bitset) bool {
	moving := st.crowded(s)
	if moving < 0 || !st.hasFreeZone(s, zones) {
		return false
	}
	to := int32(-1)
	for _, m := range st.kinds[st.kindOf[s]].takers {
		if st.holds(s, m) || st.inZone(s, st.p.zone[m], -1) > 0 {
			continue
		}
		if to < 0 || st.costsLess(m, to, st.kinds[st.kindOf[s]].weight) {
			to = m
		}
	}
	if to >= 0 {
		st.put(moving, to)
	}
	return to >= 0
}

// crowded finds the copy of the partition that should leave a zone with several: one that was not kept, else that of the
// member with most load. It returns -1 if none can move.
func (st *state) crowded(s int32) int32 {
	best := int32(-1)
	first, step, end := st.partition(s)
	for i := first; i < end; i += step {
		m := st.assign[i]
		if m < 0 || (st.fixed != nil && st.fixed[i]) || st.inZone(s, st.p.zone[m], i) == 0 {
			continue
		}
		if best < 0 || st.ratherMoves(i, best) {
			best = i
		}
	}
	return best
}

func (st *state) ratherMoves(a, b int32) bool {
	x, y := st.assign[a], st.assign[b]
	if keptA, keptB := st.kept(a, x), st.kept(b, y); keptA != keptB {
		return keptA < keptB
	}
	return compareShares(st.load[x], st.p.capacity[x], st.load[y], st.p.capacity[y]) > 0
}

// hasFreeZone says whether one of the zones has no copy of the partition of s.
func (st *state) hasFreeZone(s int32, zones bitset) bool {
	for z := range st.p.nZones {
		if zones.has(z) && st.inZone(s, z, -1) == 0 {
			return true
		}
	}
	return false
}

// costsLess says whether a unit of weight w costs a less than b.
func (st *state) costsLess(a, b int32, w int64) bool {
	return compareShares(gain(st.load[a], w), st.p.capacity[a], gain(st.load[b], w), st.p.capacity[b]) < 0
}
