package assignor

import (
	"math/bits"
	"slices"
)

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(i int32) bool { return b[i>>6]&(1<<(i&63)) != 0 }

func (b bitset) add(i int32) { b[i>>6] |= 1 << (i & 63) }

func (b bitset) remove(i int32) { b[i>>6] &^= 1 << (i & 63) }

// bitsets makes many sets of numbers below n.
func bitsets(sets, n int) []bitset {
	words := (n + 63) / 64
	list, backing := make([]bitset, sets), make(bitset, sets*words)
	for i := range list {
		list[i], backing = backing[:words:words], backing[words:]
	}
	return list
}

// nextCommon is the first number from i up that is in all three sets, or n if there is none below n.
func nextCommon(i, n int32, a, b, c bitset) int32 {
	if i >= n {
		return n
	}
	w := i >> 6
	common := a[w] & b[w] & c[w] &^ (1<<(i&63) - 1)
	for common == 0 {
		if w++; int(w) == len(a) {
			return n
		}
		common = a[w] & b[w] & c[w]
	}
	return w<<6 + int32(bits.TrailingZeros64(common))
}

func (b bitset) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

func (b bitset) hash() uint64 {
	h := uint64(14695981039346656037)
	for _, w := range b {
		h = (h ^ w) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// subscriptions says who subscribes to what. Members that subscribe to the same groups are of one class.
type subscriptions struct {
	class []int32
	rows  []bitset // class -> the groups all of whose topics it subscribes to
}

// subscribes says whether member m subscribes to all topics of group g.
func (s *subscriptions) subscribes(m, g int32) bool { return s.rows[s.class[m]].has(g) }

// takes says whether m, were it not away, could be given slots of group g.
func (p *problem) takes(m, g int32) bool { return p.capacity[m] > 0 && p.subscribes(m, g) }

// subscribe fills in the subscriptions.
func (p *problem) subscribe() {
	p.class = make([]int32, len(p.members))
	byHash := map[uint64][]int32{}
	var last []string // a list is mostly the same as that of the member before
	lastClass := int32(-1)
	for m, i := range p.members {
		topics := p.in.Members[i].Topics
		if lastClass < 0 || !slices.Equal(topics, last) {
			last, lastClass = topics, p.classOf(p.row(topics), byHash)
		}
		p.class[m] = lastClass
	}
}

// classOf finds the class with that row, or makes one.
func (p *problem) classOf(row bitset, byHash map[uint64][]int32) int32 {
	h := row.hash()
	for _, c := range byHash[h] {
		if slices.Equal(p.rows[c], row) {
			return c
		}
	}
	c := int32(len(p.rows))
	p.rows = append(p.rows, row)
	byHash[h] = append(byHash[h], c)
	return c
}

// row is the set of groups all of whose topics are in the list; an empty list means all.
func (p *problem) row(topics []string) bitset {
	row := newBitset(len(p.groups))
	if len(topics) == 0 {
		for g := range p.groups {
			row.add(int32(g))
		}
		return row
	}
	subscribed := newBitset(len(p.topics))
	for _, name := range topics {
		if t, ok := p.number[name]; ok {
			subscribed.add(t)
		}
	}
	for g := range p.groups {
		if !slices.ContainsFunc(p.groups[g].topics, func(t int32) bool { return !subscribed.has(t) }) {
			row.add(int32(g))
		}
	}
	return row
}
