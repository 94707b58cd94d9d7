package assignor

import "slices"

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

// settleIndexes gives the members of a partition their copy indexes: first those that have had one get theirs, of a
// set those first that keep most; then those that are left, first such as are taken from nobody, from the lowest up.
func (st *state) settleIndexes(g *group, first int32) {
	var members []int32
	end := g.slot + g.parts*g.replicas
	for s := first; s < end; s += g.parts {
		if m := st.assign[s]; m >= 0 && (st.fixed == nil || !st.fixed[s]) {
			members = append(members, m)
			st.assign[s] = -1
		}
	}
	for most := len(g.topics); most > 0; most-- {
		members = st.takeIndexes(g, first, members, func(s, m int32) bool { return st.p.keptAt(g, s, m) == most })
	}
	for taken := 0; taken <= len(g.topics); taken++ {
		members = st.takeIndexes(g, first, members, func(s, m int32) bool {
			return len(g.topics)-st.p.keptAt(g, s, -1) == taken
		})
	}
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
