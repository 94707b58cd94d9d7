package assignor

// fixPins puts pinned slots where they must stay.
//
// Of a coPartition set a pin holds the whole slot, if its holder may take the rest. If it may not, or if the topics of a
// slot are pinned to different members, the slot is split: pinned copies stay, and the others follow one of the pins,
// or have no target.
func (st *state) fixPins() {
	st.fixed = make([]bool, st.p.nSlots)
	for i := range st.p.groups {
		g := &st.p.groups[i]
		for part := range g.parts {
			st.fixPartition(int32(i), g.slot+part)
		}
	}
}

func (st *state) fixPartition(g, first int32) {
	group := &st.p.groups[g]
	for s := first; s < group.slot+group.parts*group.replicas; s += group.parts {
		holders := st.pinHolders(group, s)
		if len(holders) == 0 {
			continue
		}
		if len(holders) == 1 && st.takesWhole(g, s, holders[0]) && !st.pinnedTwice(group, s, holders[0]) {
			st.fixed[s] = true
			st.put(s, holders[0])
			continue
		}
		st.splitSlot(g, s, holders)
	}
}

// pinHolders lists the members to which copies of the slot are pinned.
func (st *state) pinHolders(g *group, s int32) []int32 {
	var holders []int32
	for j := range int32(len(g.topics)) {
		i := g.copies + j*g.parts*g.replicas + s - g.slot
		if st.p.pinned[i] && !contains(holders, st.p.held[i]) {
			holders = append(holders, st.p.held[i])
		}
	}
	return holders
}

// takesWhole says whether a pin's holder may have all copies of the slot.
func (st *state) takesWhole(g, s, m int32) bool {
	group := &st.p.groups[g]
	pinned := 0
	for j := range int32(len(group.topics)) {
		if st.p.pinned[group.copies+j*group.parts*group.replicas+s-group.slot] {
			pinned++
		}
	}
	if pinned == len(group.topics) {
		return true
	}
	return st.p.takes(m, g) && (!st.p.away[m] || st.p.keptAt(group, s, m) == len(group.topics))
}

// pinnedTwice says whether m has pins in two slots of one partition, which topics of a set can have at different indexes.
func (st *state) pinnedTwice(g *group, s, m int32) bool {
	for other := g.slot + (s-g.slot)%g.parts; other < g.slot+g.parts*g.replicas; other += g.parts {
		if other != s && contains(st.pinHolders(g, other), m) {
			return true
		}
	}
	return false
}

// splitSlot settles each topic's copy of the slot by itself.
func (st *state) splitSlot(g, s int32, holders []int32) {
	group := &st.p.groups[g]
	members := filled(len(group.topics), -1)
	if st.split == nil {
		st.split = map[int32][]int32{}
	}
	st.split[s] = members
	part := (s - group.slot) % group.parts
	for j, t := range group.topics {
		i := group.copies + int32(j)*group.parts*group.replicas + s - group.slot
		if st.p.pinned[i] {
			members[j] = st.p.held[i]
		} else {
			members[j] = st.follows(g, s, j, holders)
		}
		if members[j] >= 0 {
			st.load[members[j]] += weightOf(st.p.topic(t), part)
		}
	}
}

// follows chooses the pin's holder that takes the j-th topic's copy of a split slot: the one that has owned it, else the
// first by name; or -1.
func (st *state) follows(g, s int32, j int, holders []int32) int32 {
	group := &st.p.groups[g]
	topic := group.copies + int32(j)*group.parts*group.replicas
	owner := st.p.held[topic+s-group.slot]
	best := int32(-1)
	for _, m := range holders {
		if !st.p.takes(m, g) || (st.p.away[m] && owner != m) || st.hasTopicPinned(group, topic, s, m) {
			continue
		}
		if best < 0 || m == owner || (best != owner && m < best) {
			best = m
		}
	}
	return best
}

// hasTopicPinned says whether m has a copy of the same topic's partition already, or must keep one.
func (st *state) hasTopicPinned(g *group, topic, s, m int32) bool {
	for other := g.slot + (s-g.slot)%g.parts; other < g.slot+g.parts*g.replicas; other += g.parts {
		if other == s {
			continue
		}
		i := topic + other - g.slot
		if st.assign[other] == m || contains(st.split[other], m) || (st.p.pinned[i] && st.p.held[i] == m) {
			return true
		}
	}
	return false
}
