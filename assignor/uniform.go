package assignor

// uniform is the case that has a short exact answer: all members that take anything subscribe to the same groups, and
// all slots have the same weight. Then each member's share is known beforehand, whoever holds more gives up the
// difference and no more, and who holds less fills up.
type uniform struct {
	p      *problem
	row    bitset  // the groups that are shared out
	owner  []int32 // slot -> previous owner or -1
	assign []int32 // slot -> member or -1
	quotas
}

// solveUniform solves the uniform case. It returns nil for any other, and when its simple way ends before all slots are
// placed, which can happen only with replicas.
func solveUniform(p *problem) *uniform {
	u := &uniform{p: p}
	if !u.applies() || !u.findQuotas() {
		return nil
	}
	u.shed()
	if !u.deal() {
		return nil
	}
	return u
}

func (u *uniform) applies() bool {
	p := u.p
	if p.spread || (p.paired && p.pinned != nil) {
		return false
	}
	present := u.findRow()
	if present == 0 || !u.sameWeight(present) {
		return false
	}
	u.owner = p.held
	return !p.paired || u.findOwners()
}

// findRow finds what all takers subscribe to, and counts those that are not away; 0 stands for no common subscription.
func (u *uniform) findRow() (present int) {
	class := int32(-1)
	for m := range u.p.members {
		if u.p.capacity[m] == 0 || u.p.rows[u.p.class[m]].empty() {
			continue
		}
		if class < 0 {
			class = u.p.class[m]
		}
		if u.p.class[m] != class {
			return 0
		}
		if !u.p.away[m] {
			present++
		}
	}
	if class >= 0 {
		u.row = u.p.rows[class]
	}
	return present
}

// sameWeight also says no where a group has more replicas than there are members to take them, and where a pin could
// lie in a group that is not shared out.
func (u *uniform) sameWeight(present int) bool {
	weight := int64(0)
	for g := range u.p.groups {
		group := &u.p.groups[g]
		if !u.row.has(int32(g)) {
			if u.p.pinned != nil {
				return false
			}
			continue
		}
		if weight == 0 {
			weight = group.weight
		}
		if group.weights != nil || group.weight != weight || int(group.replicas) > present {
			return false
		}
	}
	return true
}

// findOwners finds the owner of each slot of sets. It says no where the topics of a slot have different owners, or where
// the groups differ in their number of topics, for then moves differ in what they cost.
func (u *uniform) findOwners() bool {
	p := u.p
	u.owner = make([]int32, p.nSlots)
	topics := 0
	for i := range p.groups {
		g := &p.groups[i]
		if !u.row.has(int32(i)) {
			continue
		}
		if topics == 0 {
			topics = len(g.topics)
		}
		if len(g.topics) != topics {
			return false
		}
		size := g.parts * g.replicas
		for s := range size {
			u.owner[g.slot+s] = p.held[g.copies+s]
			for j := range g.topics {
				if p.held[g.copies+int32(j)*size+s] != u.owner[g.slot+s] {
					return false
				}
			}
		}
	}
	return true
}

// findQuotas lets everybody keep what it may, and finds the shares.
func (u *uniform) findQuotas() bool {
	p := u.p
	n := len(p.members)
	u.capacity = p.capacity
	u.low, u.top, u.held = make([]int32, n), make([]int32, n), make([]int32, n)
	u.assign = filled(p.nSlots, -1)
	units, parts := int64(0), int32(0)
	for i := range p.groups {
		if g := &p.groups[i]; u.row.has(int32(i)) {
			units += int64(g.parts) * int64(g.replicas)
			parts += g.parts
			u.keep(g)
		}
	}
	for m := range p.members {
		switch {
		case p.capacity[m] == 0 || p.rows[p.class[m]].empty():
			u.top[m] = u.low[m]
		case p.away[m]:
			u.top[m] = u.held[m]
		default:
			u.top[m] = parts
		}
	}
	return u.fill(units)
}

// keep leaves the slots of a group with their owners, where these may keep them.
func (u *uniform) keep(g *group) {
	p := u.p
	for s := g.slot; s < g.slot+g.parts*g.replicas; s++ {
		m := u.owner[s]
		if m < 0 {
			continue
		}
		pinned := p.pinned != nil && p.pinned[s]
		if pinned {
			u.low[m]++
		}
		if pinned || (p.capacity[m] > 0 && !p.rows[p.class[m]].empty()) {
			u.held[m]++
			u.assign[s] = m
		}
	}
}
