package assignor

import (
	"cmp"
	"slices"
)

// swapper makes loads more even where weights differ, by moves of single slots and by exchanges of a heavy slot for a
// lighter one, each time that by which the sum of the load goal falls most. An exchange changes loads as the move of a
// slot with the difference of the two weights would.
type swapper struct {
	*state
	order []int32 // members with a capacity, the fullest first
}

const (
	// swapWidth is how many of the fullest and of the emptiest members are looked at: all, in small groups.
	swapWidth = 16
	// swapRounds bounds the moves and exchanges made before loads are made even otherwise.
	swapRounds = 4096
)

// exchange is a slot that moves, one that moves the other way or -1, and what the sum of the load goal falls by.
type exchange struct {
	heavy, light int32
	to           int32 // where the heavy one goes
	fall         float64
}

// swap makes moves and exchanges as long as one helps. It says whether it made any.
func (st *state) swap() bool {
	sw := &swapper{state: st}
	for m := range int32(len(st.load)) {
		if st.p.capacity[m] > 0 {
			sw.order = append(sw.order, m)
		}
	}
	slices.SortFunc(sw.order, sw.compare)
	for round := range swapRounds {
		best := sw.best()
		if best.fall <= 0 {
			return round > 0
		}
		sw.make(best)
	}
	return true
}

// compare orders members by load for their capacity, the fullest first.
func (sw *swapper) compare(a, b int32) int {
	return cmp.Or(compareShares(sw.load[b], sw.p.capacity[b], sw.load[a], sw.p.capacity[a]), cmp.Compare(a, b))
}

// make makes an exchange and brings the two members to their new places in the order.
func (sw *swapper) make(x exchange) {
	from := sw.assign[x.heavy]
	sw.order = slices.DeleteFunc(sw.order, func(m int32) bool { return m == from || m == x.to })
	sw.put(x.heavy, x.to)
	if x.light >= 0 {
		sw.put(x.light, from)
	}
	for _, m := range [2]int32{from, x.to} {
		i, _ := slices.BinarySearchFunc(sw.order, m, sw.compare)
		sw.order = slices.Insert(sw.order, i, m)
	}
}

// best finds the best exchange of the fullest member for which there is one.
func (sw *swapper) best() exchange {
	for _, a := range sw.order[:min(swapWidth, len(sw.order))] {
		var best exchange
		for i := len(sw.order) - 1; i >= max(0, len(sw.order)-swapWidth) && sw.order[i] != a; i-- {
			if x := sw.between(a, sw.order[i]); x.fall > best.fall {
				best = x
			}
		}
		if best.fall > 0 {
			return best
		}
	}
	return exchange{}
}

// between finds the best move of a slot from a to b, alone or against a lighter one of b.
func (sw *swapper) between(a, b int32) exchange {
	best := exchange{to: b}
	for k := range int32(len(sw.kinds)) {
		heavy := sw.pick(a, k, b)
		if heavy < 0 {
			continue
		}
		for light := int32(-1); light < int32(len(sw.kinds)); light++ {
			if x := sw.against(heavy, b, light); x.fall > best.fall {
				best = x
			}
		}
	}
	return best
}

// against looks at the exchange of a slot for one of b of kind k, or with k = -1 for none. The fall is 0 if it is of no use.
func (sw *swapper) against(heavy, b, k int32) exchange {
	a, weight := sw.assign[heavy], sw.weightOf(heavy)
	if k >= 0 {
		weight -= sw.kinds[k].weight
	}
	if weight <= 0 || !sw.helps(a, b, weight) {
		return exchange{}
	}
	x := exchange{heavy: heavy, light: -1, to: b, fall: sw.fall(a, b, weight)}
	if k >= 0 {
		if x.light = sw.pick(b, k, a); x.light < 0 {
			return exchange{}
		}
	}
	return x
}

// fall is by how much the sum of the load goal falls when weight goes from a to b.
func (sw *swapper) fall(a, b int32, weight int64) float64 {
	return float64(weight) * (float64(loss(sw.load[a], weight))/float64(sw.p.capacity[a]) -
		float64(gain(sw.load[b], weight))/float64(sw.p.capacity[b]))
}
