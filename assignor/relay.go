package assignor

// relay is two moves of slots of different weights: from one member to a second, and from that to a third.
type relay struct {
	first, second int32 // the slots
	middle, end   int32 // the second and the third member
	fall          float64
}

const (
	// relayMembers bounds the groups in which relays are looked for: all threes of members are tried.
	relayMembers = 64
	// relayKinds bounds the kinds of slots likewise.
	relayKinds = 64
)

// passOn makes the relay that lowers the sum of the load goal most, where loads can not be made more even otherwise. It
// says whether there was one.
func (st *state) passOn() bool {
	if len(st.load) > relayMembers || len(st.kinds) > relayKinds {
		return false
	}
	var best relay
	for a := range int32(len(st.load)) {
		for b := range int32(len(st.load)) {
			if a != b && st.p.capacity[a] > 0 && st.p.capacity[b] > 0 {
				st.relayFrom(a, b, &best)
			}
		}
	}
	if best.fall <= 0 {
		return false
	}
	st.put(best.second, best.end)
	st.put(best.first, best.middle)
	return true
}

// relayFrom looks for a better relay that begins with a move from a to b.
func (st *state) relayFrom(a, b int32, best *relay) {
	for ka := range int32(len(st.kinds)) {
		first := st.pick(a, ka, b)
		if first < 0 {
			continue
		}
		for kb := range int32(len(st.kinds)) {
			if st.kinds[ka].weight == st.kinds[kb].weight {
				continue
			}
			for c := range int32(len(st.load)) {
				if c == a || c == b || st.p.capacity[c] == 0 {
					continue
				}
				fall := st.relayFall(a, b, c, st.kinds[ka].weight, st.kinds[kb].weight)
				if fall <= best.fall {
					continue
				}
				if second := st.pick(b, kb, c); second >= 0 && !st.samePartition(first, second) {
					*best = relay{first: first, second: second, middle: b, end: c, fall: fall}
				}
			}
		}
	}
}

// relayFall is what the sum of the load goal falls by when a gives weight to b and b gives other weight to c; 0 if so little
// that it could be a matter of rounding.
func (st *state) relayFall(a, b, c int32, toB, toC int64) float64 {
	before := st.cost(a, 0) + st.cost(b, 0) + st.cost(c, 0)
	fall := before - st.cost(a, -toB) - st.cost(b, toB-toC) - st.cost(c, toC)
	if fall < before*1e-9 {
		return 0
	}
	return fall
}

// cost is what m adds to the sum of the load goal with more weight.
func (st *state) cost(m int32, more int64) float64 {
	load := float64(st.load[m] + more)
	return load * load / float64(st.p.capacity[m])
}
