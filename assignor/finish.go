package assignor

import (
	"cmp"
	"slices"
)

// copies gives each copy of each topic its member.
func (st *state) copies() []int32 {
	for i := range st.p.groups {
		g := &st.p.groups[i]
		if g.replicas == 1 {
			continue
		}
		for s := g.slot; s < g.slot+g.parts; s++ {
			st.settleIndexes(g, s)
		}
	}
	copies := st.p.copiesOf(st.assign)
	for s, members := range st.split {
		g := &st.p.groups[st.groupOf[s]]
		for j, m := range members {
			copies[g.copies+int32(j)*g.parts*g.replicas+s-g.slot] = m
		}
	}
	return copies
}

// settleIndexes gives the members of a partition their copy indexes, so that as few copies as can be are taken from
// anybody: those that have had one get theirs; those that are left get first such as nobody has had, from the lowest up.
func (st *state) settleIndexes(g *group, first int32) {
	var members []int32
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

// settleSet is settleIndexes where the topics of a slot can have had different members. It goes pair by pair of slot and
// member. If every slot gets a member, copies that are not kept are taken anyway, and those pairs come first by which most
// are kept; else those by which the fewest are taken from others.
func (st *state) settleSet(g *group, first int32, members []int32) {
	type pair struct{ cost, kept, slot, member int32 }
	var pairs []pair
	free := 0
	for s := first; s < g.slot+g.parts*g.replicas; s += g.parts {
		if st.assign[s] >= 0 || st.split[s] != nil {
			continue
		}
		free++
		held := len(g.topics) - st.p.keptAt(g, s, -1)
		for _, m := range members {
			kept := st.p.keptAt(g, s, m)
			pairs = append(pairs, pair{int32(held - kept), int32(kept), s, m})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		if free == len(members) {
			a.cost, b.cost = 0, 0
		}
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(b.kept, a.kept), cmp.Compare(a.slot, b.slot))
	})
	for _, x := range pairs {
		if i := slices.Index(members, x.member); i >= 0 && st.assign[x.slot] < 0 {
			st.assign[x.slot] = x.member
			members = slices.Delete(members, i, i+1)
		}
	}
}
