package assignor

// canPolish says whether an exchange could make topics more even or bring a slot home: whether a slot that has changed its
// member is with one that has more of its group than some other, or is not at home.
func (u *uniform) canPolish() bool {
	if len(u.p.groups) == 1 && u.p.in.ZonePolicy != ZonePrefer {
		return false
	}
	count := make([]int32, len(u.p.members))
	for i := range u.p.groups {
		g := &u.p.groups[i]
		if !u.row.has(int32(i)) {
			continue
		}
		slots := u.assign[g.slot : g.slot+g.parts*g.replicas]
		for _, m := range slots {
			if m >= 0 {
				count[m]++
			}
		}
		found := u.crowdedOrAbroad(g, count)
		for _, m := range slots {
			if m >= 0 {
				count[m] = 0
			}
		}
		if found {
			return true
		}
	}
	return false
}

// crowdedOrAbroad is canPolish for one group.
func (u *uniform) crowdedOrAbroad(g *group, count []int32) bool {
	densest := -1.0
	for s := g.slot; s < g.slot+g.parts*g.replicas; s++ {
		m := u.assign[s]
		if m < 0 || u.owner[s] == m || u.p.capacity[m] == 0 {
			continue
		}
		if !u.p.isHome(g, s, m) {
			return true
		}
		densest = max(densest, float64(2*count[m]-1)/float64(u.p.capacity[m]))
	}
	if densest < 0 {
		return false
	}
	for m := range u.p.members {
		if u.top[m] > u.low[m] && float64(2*count[m]+1)/float64(u.p.capacity[m]) < densest {
			return true
		}
	}
	return false
}
