package assignor

// atLeast says whether fewer moves are impossible because of the loads alone: no member can keep more units than its load
// leaves room for. It is quick, and in simple cases it spares the search.
func (rt *retainer) atLeast() bool {
	if rt.p.paired {
		return false
	}
	held, units, lost := rt.countUnits()
	least := int32(0)
	savers := make([]int32, len(rt.leavers)) // level -> members that could keep one more with the unit they have above it
	for m := range rt.member {
		room := units[m]
		if rt.leaving[m] >= 0 {
			room--
		}
		least += max(0, held[m]-room)
		if rt.leaving[m] >= 0 && held[m] > room {
			savers[rt.leaving[m]]++
			room++
		}
		if rt.levelOf[m] >= 0 && held[m] > room {
			savers[rt.levelOf[m]-rt.firstLevel()]++
		}
	}
	for i, list := range rt.leavers {
		least -= min(int32(len(list)), savers[i])
	}
	return lost <= least
}

// countUnits counts the slots of the weight that each member held and could keep, those that each has now and could lose,
// and how many are lost to those that held them.
func (rt *retainer) countUnits() (held, units []int32, lost int32) {
	held, units = make([]int32, rt.member), make([]int32, rt.member)
	for s, m := range rt.assign {
		k := &rt.kinds[rt.kindOf[s]]
		if k.weight != rt.weight || (rt.fixed != nil && rt.fixed[s]) {
			continue
		}
		if m >= 0 {
			units[m]++
		}
		if owner := rt.p.held[s]; owner >= 0 && k.may.has(owner) {
			held[owner]++
			if m != owner && !rt.holds(int32(s), owner) {
				lost++
			}
		}
	}
	return held, units, lost
}
