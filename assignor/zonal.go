package assignor

import "slices"

// zonal is zonePolicy Spread where it has a short exact answer: there are as many zones as replicas, so that each zone has
// one copy of each partition. Then zones have nothing to do with each other, and each is a uniform problem of its own.
type zonal struct {
	p      *problem
	member []int32 // member -> its number in its zone
	zones  []*uniform
	named  [][]int32 // zone -> number in the zone -> member
}

// solveZonal solves the zones one by one. It returns nil where one of them is not uniform, and where two members of a zone
// have had copies of the same partition, for then it matters which of them keeps it.
func solveZonal(p *problem) *zonal {
	if !p.spread || p.paired || p.pinned != nil || !p.replicasAre(p.nZones) {
		return nil
	}
	z := &zonal{p: p, member: make([]int32, len(p.members)), named: make([][]int32, p.nZones)}
	for m, zone := range p.zone {
		z.member[m] = int32(len(z.named[zone]))
		z.named[zone] = append(z.named[zone], int32(m))
	}
	held := z.heldByZone()
	if held == nil {
		return nil
	}
	for zone := range p.nZones {
		u := solveUniform(z.problemOf(zone, held[zone]))
		if u == nil || (zone > 0 && !slices.Equal(u.row, z.zones[0].row)) {
			return nil
		}
		z.zones = append(z.zones, u)
	}
	return z
}

// replicasAre says whether every group has that many replicas.
func (p *problem) replicasAre(n int32) bool {
	return !slices.ContainsFunc(p.groups, func(g group) bool { return g.replicas != n })
}

// heldByZone gives for each zone who in it has had each partition. It returns nil if there were two.
func (z *zonal) heldByZone() [][]int32 {
	held := make([][]int32, z.p.nZones)
	for zone := range held {
		held[zone] = filled(z.p.nSlots/z.p.nZones, -1)
	}
	for i := range z.p.groups {
		g := &z.p.groups[i]
		first := g.slot / g.replicas
		for s, m := range z.p.held[g.copies : g.copies+g.parts*g.replicas] {
			if m < 0 {
				continue
			}
			owner := &held[z.p.zone[m]][first+int32(s)%g.parts]
			if *owner >= 0 {
				return nil
			}
			*owner = z.member[m]
		}
	}
	return held
}

// problemOf is the problem of one zone: its members, and of each partition one copy.
func (z *zonal) problemOf(zone int32, held []int32) *problem {
	p := *z.p
	p.spread, p.nSlots, p.nCopies, p.held = false, int32(len(held)), int32(len(held)), held
	p.groups = slices.Clone(p.groups)
	for i := range p.groups {
		g := &p.groups[i]
		g.slot /= g.replicas
		g.copies, g.replicas = g.slot, 1
	}
	n := len(z.named[zone])
	p.members, p.capacity = make([]int32, n), make([]int64, n)
	p.away, p.class = make([]bool, n), make([]int32, n)
	for i, m := range z.named[zone] {
		p.members[i], p.capacity[i] = z.p.members[m], z.p.capacity[m]
		p.away[i], p.class[i] = z.p.away[m], z.p.class[m]
	}
	return &p
}

// canPolish is that of each zone.
func (z *zonal) canPolish() bool {
	rough := false
	for _, u := range z.zones {
		rough = u.canPolish() || rough
	}
	return rough
}

// slots gives each slot the member that one of the zones has for its partition: that which has had this copy, if it keeps
// one. The others get first such copies as nobody has had.
func (z *zonal) slots() []int32 {
	slots := filled(z.p.nSlots, -1)
	for i := range z.p.groups {
		g := &z.p.groups[i]
		first := g.slot / g.replicas
		for s := range g.parts * g.replicas {
			m := z.p.held[g.copies+s]
			if m >= 0 && z.zones[z.p.zone[m]].assign[first+s%g.parts] == z.member[m] {
				slots[g.slot+s] = m
			}
		}
		for zone, u := range z.zones {
			for part := range g.parts {
				if m := u.assign[first+part]; m >= 0 && m != u.owner[first+part] {
					slots[z.freeCopy(g, part, slots)] = z.named[zone][m]
				}
			}
		}
	}
	return slots
}

// freeCopy is the slot of the first free copy of a partition, of those that nobody has had if there is one.
func (z *zonal) freeCopy(g *group, part int32, slots []int32) int32 {
	free := int32(-1)
	for s := part; s < g.parts*g.replicas; s += g.parts {
		if slots[g.slot+s] >= 0 {
			continue
		}
		if z.p.held[g.copies+s] < 0 {
			return g.slot + s
		}
		if free < 0 {
			free = g.slot + s
		}
	}
	return free
}
