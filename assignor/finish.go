package assignor

import "slices"

// copies gives each copy of each topic its member.
func (st *state) copies() []int32 {
	st.settle()
	copies := st.p.copiesOf(st.assign)
	for s, members := range st.split {
		g := &st.p.groups[st.groupOf[s]]
		for j, m := range members {
			copies[g.copies+int32(j)*g.parts*g.replicas+s-g.slot] = m
		}
	}
	return copies
}

// settle settles the copy indexes of all partitions.
func (st *state) settle() {
	var buffer []int32
	for i := range st.p.groups {
		g := &st.p.groups[i]
		if g.replicas == 1 {
			continue
		}
		buffer = slices.Grow(buffer[:0], int(g.replicas))
		for s := g.slot; s < g.slot+g.parts; s++ {
			st.settleIndexes(g, s, buffer)
		}
	}
}

// settleIndexes gives the members of a partition their copy indexes, so that as few copies as can be are taken from
// anybody: those that have had one get theirs; those that are left get first such as nobody has had, from the lowest up.
// The members of the partition are listed in members, which is empty and has room for them.
func (st *state) settleIndexes(g *group, first int32, members []int32) {
	end := g.slot + g.parts*g.replicas
	for s := first; s < end; s += g.parts {
		if m := st.assign[s]; m >= 0 && (st.fixed == nil || !st.fixed[s]) {
			members = append(members, m)
			st.assign[s] = -1
		}
	}
	if len(g.topics) > 1 {
		st.settleSet(g, first, members)
		return
	}
	held := st.p.held[g.copies : g.copies+g.parts*g.replicas]
	members = st.takeIndexes(g, first, members, func(s, m int32) bool { return held[s-g.slot] == m })
	members = st.takeIndexes(g, first, members, func(s, _ int32) bool { return held[s-g.slot] < 0 })
	st.takeIndexes(g, first, members, func(_, _ int32) bool { return true })
}

// takeIndexes gives each free slot of a partition to the first member that fits. It returns the members that are left.
func (st *state) takeIndexes(g *group, first int32, members []int32, fits func(s, m int32) bool) []int32 {
	for s := first; s < g.slot+g.parts*g.replicas; s += g.parts {
		if st.assign[s] >= 0 || st.split[s] != nil {
			continue
		}
		if i := slices.IndexFunc(members, func(m int32) bool { return fits(s, m) }); i >= 0 {
			st.assign[s] = members[i]
			members = slices.Delete(members, i, i+1)
		}
	}
	return members
}

// settleSet is settleIndexes where the topics of a slot can have had different members. What counts is, in this order, how
// many copies are taken from others, how many are kept, and that low indexes are used.
func (st *state) settleSet(g *group, first int32, members []int32) {
	var free []int32
	for s := first; s < g.slot+g.parts*g.replicas; s += g.parts {
		if st.assign[s] < 0 && st.split[s] == nil {
			free = append(free, s)
		}
	}
	topics := len(g.topics)
	cost := make([][]int64, len(members))
	for i, m := range members {
		cost[i] = make([]int64, len(free))
		for j, s := range free {
			held, kept := topics-st.p.keptAt(g, s, -1), st.p.keptAt(g, s, m)
			perSlot := topics*len(free) + 1
			cost[i][j] = (int64(held-kept)*int64(perSlot)+int64(topics-kept))*int64(len(free)*len(free)) + int64(j)
		}
	}
	for i, j := range match(cost) {
		st.assign[free[j]] = members[i]
	}
}
