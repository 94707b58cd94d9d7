package assignor

import (
	"cmp"
	"math"
	"slices"
)

// dealer hands the free slots to the members below their share. These stand in a queue by the number of slots that they
// still lack, those that lack most first, so that no one is left at the end with a whole topic.
type dealer struct {
	*uniform
	lack       []int32
	front      int32   // the first in the queue or -1
	next, prev []int32 // the queue's links, -1 at its ends
	last       []int32 // number lacking -> the last in the queue that lacks so many, or -1
	count      []int32 // slots of the group at hand that each member has
}

// deal places all free slots. It returns false when the members that lack slots all hold the last ones' partitions.
func (u *uniform) deal() bool {
	d := &dealer{uniform: u}
	if !d.queueUp() {
		return true
	}
	alike := d.alike()
	var free []int32
	for i := range u.p.groups {
		g := &u.p.groups[i]
		if !u.row.has(int32(i)) {
			continue
		}
		free = slices.Grow(free[:0], u.countFree(g))
		for s := g.slot; s < g.slot+g.parts*g.replicas; s++ {
			if u.assign[s] < 0 {
				free = append(free, s)
			}
		}
		if alike {
			d.dealInTurn(free)
		} else if len(free) > 0 && !d.dealGroup(g, free) {
			return false
		}
	}
	return true
}

func (u *uniform) countFree(g *group) int {
	n := 0
	for _, m := range u.assign[g.slot : g.slot+g.parts*g.replicas] {
		if m < 0 {
			n++
		}
	}
	return n
}

// queueUp forms the queue and says whether anybody lacks anything.
func (d *dealer) queueUp() bool {
	n := int32(len(d.share))
	d.lack, d.front = make([]int32, n), -1
	var order []int32
	for m := range n {
		if d.lack[m] = d.share[m] - min(d.held[m], d.share[m]); d.lack[m] > 0 {
			order = append(order, m)
		}
	}
	if len(order) == 0 {
		return false
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(d.lack[b], d.lack[a]) })
	d.next, d.prev, d.count = filled(n, -1), filled(n, -1), make([]int32, n)
	d.last = filled(d.lack[order[0]]+1, -1)
	tail := int32(-1)
	for _, m := range order {
		d.insert(m, tail)
		tail = m
	}
	return true
}

// insert puts m behind another member, or to the front.
func (d *dealer) insert(m, behind int32) {
	d.prev[m] = behind
	if behind < 0 {
		d.next[m], d.front = d.front, m
	} else {
		d.next[m], d.next[behind] = d.next[behind], m
	}
	if d.next[m] >= 0 {
		d.prev[d.next[m]] = m
	}
	d.last[d.lack[m]] = m
}

// remove takes m out of the queue. It returns behind whom one would stand that lacks one slot less.
func (d *dealer) remove(m int32) (behind int32) {
	before, k := d.prev[m], d.lack[m]
	if before < 0 {
		d.front = d.next[m]
	} else {
		d.next[before] = d.next[m]
	}
	if d.next[m] >= 0 {
		d.prev[d.next[m]] = before
	}
	if d.last[k] == m {
		d.last[k] = -1
		if before >= 0 && d.lack[before] == k {
			d.last[k] = before
		}
	}
	for _, behind := range []int32{d.last[k-1], d.last[k]} {
		if behind >= 0 {
			return behind
		}
	}
	return before
}

func (d *dealer) give(s, m int32) {
	d.assign[s] = m
	d.count[m]++
	behind := d.remove(m)
	if d.lack[m]--; d.lack[m] > 0 {
		d.insert(m, behind)
	}
}

// alike says whether neither slots nor members differ in anything but their names: there is one group without other copies
// or homes, and all capacities are equal.
func (u *uniform) alike() bool {
	g := &u.p.groups[0]
	return len(u.p.groups) == 1 && g.replicas == 1 && len(g.homes) == 0 && slices.Min(u.capacity) == slices.Max(u.capacity)
}

// dealInTurn gives each member in the queue a slot, and again, until all have their share.
func (d *dealer) dealInTurn(free []int32) {
	var order []int32
	for m := d.front; m >= 0; m = d.next[m] {
		order = append(order, m)
	}
	for len(order) > 0 && len(free) > 0 {
		round := order[:min(len(order), len(free))]
		left := order[:0]
		for i, m := range round {
			d.assign[free[i]] = m
			if d.lack[m]--; d.lack[m] > 0 {
				left = append(left, m)
			}
		}
		free = free[len(round):]
		order = append(left, order[len(round):]...)
	}
}

// dealGroup gives the free slots of a group first to those who have fewest of it for their capacity.
func (d *dealer) dealGroup(g *group, free []int32) bool {
	slots := d.assign[g.slot : g.slot+g.parts*g.replicas]
	for _, m := range slots {
		if m >= 0 {
			d.count[m]++
		}
	}
	for level := d.lowest(); len(free) > 0 && !math.IsInf(level, 1); {
		free, level = d.sweep(g, free, level)
	}
	for _, m := range slots {
		if m >= 0 {
			d.count[m] = 0
		}
	}
	return len(free) == 0
}

// density is what m has of the group at hand for its capacity.
func (d *dealer) density(m int32) float64 { return float64(d.count[m]) / float64(d.capacity[m]) }

// lowest is the least density of all that lack anything, or zero when it is likely to be.
func (d *dealer) lowest() float64 {
	level := math.Inf(1)
	for m := d.front; m >= 0 && level > 0; m = d.next[m] {
		level = min(level, d.density(m))
	}
	return level
}

// sweep gives slots to members up to a density. It returns the slots left and the next density at which there is a
// member, or infinity.
func (d *dealer) sweep(g *group, free []int32, level float64) (left []int32, next float64) {
	left, next = free[:0], math.Inf(1)
	start := d.front // all before it are done with at this level
	for i, s := range free {
		m := start
		for m >= 0 {
			density := d.density(m)
			if density <= level && !d.holdsPartition(g, s, m) {
				break
			}
			following := d.next[m]
			if density > level {
				next = min(next, density)
				if m == start {
					start = following
				}
			}
			m = following
		}
		if m >= 0 {
			m = d.atHomeFirst(g, s, m, level)
			if m == start {
				start = d.next[m]
			}
			if d.give(s, m); d.lack[m] > 0 {
				next = min(next, d.density(m))
			}
			continue
		}
		if start < 0 {
			return rejoin(left, free[i:]), next
		}
		left = append(left, s)
	}
	return left, next
}

// rejoin puts the rest behind what was left, without copying it where nothing was.
func rejoin(left, rest []int32) []int32 {
	if len(left) == 0 {
		return rest
	}
	return append(left, rest...)
}

// homeSearch bounds how far behind the first in the queue a member of a slot's home zone is looked for.
const homeSearch = 32

// atHomeFirst is a member near m in the queue that could as well have the slot and is at home, else m.
func (d *dealer) atHomeFirst(g *group, s, m int32, level float64) int32 {
	if d.p.in.ZonePolicy != ZonePrefer {
		return m
	}
	x := m
	for range homeSearch {
		if x < 0 {
			return m
		}
		if d.density(x) <= level && !d.holdsPartition(g, s, x) && d.p.isHome(g, s, x) {
			return x
		}
		x = d.next[x]
	}
	return m
}

// holdsPartition says whether m has a copy of the partition of slot s.
func (u *uniform) holdsPartition(g *group, s, m int32) bool {
	if g.replicas == 1 {
		return false
	}
	for i := g.slot + (s-g.slot)%g.parts; i < g.slot+g.parts*g.replicas; i += g.parts {
		if u.assign[i] == m {
			return true
		}
	}
	return false
}
