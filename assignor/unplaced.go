package assignor

// unplaced lists the copies without a target, in the order of the input.
func (p *problem) unplaced(copies []int32) []Unplaced {
	if !hasNegative(copies) {
		return nil
	}
	number := make([]int32, len(p.topics))
	for t, i := range p.topics {
		number[i] = int32(t)
	}
	var list []Unplaced
	for _, t := range number {
		g := p.groupOf[t]
		reason := p.whyGroup(g)
		for i, end := p.copies[t], p.copies[t]+p.groups[g].parts*p.groups[g].replicas; i < end; i++ {
			if copies[i] >= 0 {
				continue
			}
			why := reason
			if p.pinnedSlot(&p.groups[g], i-p.copies[t]) {
				why = PinnedElsewhere
			}
			list = p.extend(list, t, i-p.copies[t], why)
		}
	}
	return list
}

func hasNegative(copies []int32) bool {
	for _, m := range copies {
		if m < 0 {
			return true
		}
	}
	return false
}

// extend adds a copy to the last run if it follows upon it, else begins a run. at = copy index * partitions + partition.
func (p *problem) extend(list []Unplaced, t, at int32, reason UnplacedReason) []Unplaced {
	parts := p.groups[p.groupOf[t]].parts
	c, part := at/parts, at%parts
	name := p.topic(t).Name
	if n := len(list) - 1; n >= 0 {
		last := &list[n]
		if last.Topic == name && last.Copy == c && last.Last == part-1 && last.Reason == reason {
			last.Last = part
			return list
		}
	}
	return append(list, Unplaced{Topic: name, Copy: c, First: part, Last: part, Reason: reason})
}

// whyGroup is the reason why a slot of the group can be without a target, where it is not a pin.
func (p *problem) whyGroup(g int32) UnplacedReason {
	if len(p.members) == 0 {
		return NoMembers
	}
	reason := NoSubscriber
	for m := range int32(len(p.members)) {
		switch {
		case !p.subscribes(m, g):
		case p.capacity[m] == 0:
			if reason == NoSubscriber {
				reason = AllParked
			}
		case !p.away[m]:
			return NotEnoughMembers
		default:
			reason = AllAway
		}
	}
	return reason
}

// pinnedSlot says whether one of the copies of a slot is pinned; at = copy index * partitions + partition.
func (p *problem) pinnedSlot(g *group, at int32) bool {
	if p.pinned == nil {
		return false
	}
	for j := range int32(len(g.topics)) {
		if p.pinned[g.copies+j*g.parts*g.replicas+at] {
			return true
		}
	}
	return false
}
