package assignor

// atHome says whether m is in the home zone of the partition of s.
func (st *state) atHome(s, m int32) bool {
	return st.home == nil || st.home[s] == anywhere || st.home[s] == st.p.zone[m]
}

// anywhere is the home of a slot that is at home in all zones.
const anywhere = -2

// listHomes lists the home zone of each slot.
func (st *state) listHomes() {
	st.home = filled(st.p.nSlots, anywhere)
	for i := range st.p.groups {
		g := &st.p.groups[i]
		if len(g.homes) == 0 {
			continue
		}
		for s := range g.parts * g.replicas {
			st.home[g.slot+s] = g.homes[int(s%g.parts)%len(g.homes)]
		}
	}
}

// isHome says whether m is in the home zone of the partition of s, or nobody cares: without zonePolicy Prefer or where the
// topic has no home zones. Of a set the first topic that has any counts.
func (p *problem) isHome(g *group, s, m int32) bool {
	if len(g.homes) == 0 {
		return true
	}
	return p.zone[m] == g.homes[int((s-g.slot)%g.parts)%len(g.homes)]
}

// findHomes numbers the home zones of a group; -1 stands for a zone without members.
func (p *problem) findHomes(g *group) {
	for _, t := range g.topics {
		for _, zone := range p.topic(t).Zones {
			number, ok := p.zones[zone]
			if !ok {
				number = -1
			}
			g.homes = append(g.homes, number)
		}
		if len(g.homes) > 0 {
			return
		}
	}
}
