package assignor

// atHome says whether m is in the home zone of the partition of s: of a set, of the first of its topics that has one.
func (st *state) atHome(s, m int32) bool {
	if st.p.in.ZonePolicy != ZonePrefer {
		return false
	}
	g := &st.p.groups[st.groupOf[s]]
	for _, t := range g.topics {
		if zones := st.p.topic(t).Zones; len(zones) > 0 {
			home := zones[int((s-g.slot)%g.parts)%len(zones)]
			return st.p.in.Members[st.p.members[m]].Zone == home
		}
	}
	return false
}
