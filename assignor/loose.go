package assignor

import (
	"math"
	"slices"
)

// canPolish hands crowded slots on where that is simple, and says whether an exchange could still make topics more even
// or bring a slot home: whether a slot that has changed its member is with one that has more of its group than some
// other, or is not at home.
func (u *uniform) canPolish() bool {
	if len(u.p.groups) == 1 && u.p.in.ZonePolicy != ZonePrefer {
		return false
	}
	count := make([]int32, len(u.p.members))
	leastBurden := 1 / float64(slices.Max(u.capacity))
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
		u.handOn(g, count)
		found := u.crowdedOrAbroad(g, count, leastBurden)
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

// crowdedOrAbroad is canPolish for one group. leastBurden is the burden of a slot for the member with the greatest capacity
// that has nothing of the group.
func (u *uniform) crowdedOrAbroad(g *group, count []int32, leastBurden float64) bool {
	densest := -1.0
	for s := g.slot; s < g.slot+g.parts*g.replicas; s++ {
		m := u.assign[s]
		if m < 0 || u.owner[s] == m || u.p.capacity[m] == 0 {
			continue
		}
		if !u.p.isHome(g, s, m) {
			return true
		}
		densest = max(densest, u.relief(count, m))
	}
	if densest <= leastBurden {
		return false
	}
	for m := range u.p.members {
		if u.top[m] > u.low[m] && u.burden(count, int32(m)) < densest {
			return true
		}
	}
	return false
}

// handOn gives slots of a group that have changed their member to one that has fewer of it, if the load of both is as good
// either way.
func (u *uniform) handOn(g *group, count []int32) {
	if len(u.p.groups) == 1 {
		return // who has fewer of the group has less load
	}
	least := -1.0 // no burden is less; not known at first
	for s := g.slot; s < g.slot+g.parts*g.replicas; s++ {
		m := u.assign[s]
		if m < 0 || u.owner[s] == m || count[m] < 2 {
			continue
		}
		if least < 0 {
			least = u.leastBurden(count)
		}
		if u.relief(count, m) <= least {
			continue
		}
		if to := u.lessCrowded(g, s, count); to >= 0 {
			least = -1
			u.assign[s] = to
			count[m]--
			count[to]++
			u.share[m]--
			u.share[to]++
		}
	}
}

// leastBurden is the least burden of a slot of the group for any member that may take one more.
func (u *uniform) leastBurden(count []int32) float64 {
	least := math.Inf(1)
	for m := range int32(len(u.share)) {
		if u.share[m] < u.top[m] {
			least = min(least, u.burden(count, m))
		}
	}
	return least
}

// lessCrowded finds the member that is to have s in place of who has it: of those to whom one more unit costs what it
// costs there, one that has least of the group; or -1.
func (u *uniform) lessCrowded(g *group, s int32, count []int32) int32 {
	from, best := u.assign[s], int32(-1)
	least := u.relief(count, from)
	for m := range int32(len(u.share)) {
		if u.share[m] >= u.top[m] || u.burden(count, m) >= least ||
			compareShares(gain(int64(u.share[m]), 1), u.capacity[m], loss(int64(u.share[from]), 1), u.capacity[from]) != 0 {
			continue
		}
		if !u.holdsPartition(g, s, m) && (u.p.isHome(g, s, m) || !u.p.isHome(g, s, from)) {
			best, least = m, u.burden(count, m)
		}
	}
	return best
}

// relief and burden are by how much one slot of a group less or more at m changes the unevenness of its topics.
func (u *uniform) relief(count []int32, m int32) float64 {
	return float64(2*count[m]-1) / float64(u.capacity[m])
}

func (u *uniform) burden(count []int32, m int32) float64 {
	return float64(2*count[m]+1) / float64(u.capacity[m])
}
