package assignor

// indexedHeap is a heap of members that knows where each stands, so that one whose load has changed finds its new place.
type indexedHeap struct {
	items  []int32
	at     []int32 // member -> its place in items, or -1
	before func(a, b int32) bool
	open   []int // places, of a search
}

func newIndexedHeap(members int, before func(a, b int32) bool) indexedHeap {
	return indexedHeap{at: filled(members, -1), before: before}
}

// add appends a member; order makes a heap of all.
func (h *indexedHeap) add(m int32) {
	h.at[m] = int32(len(h.items))
	h.items = append(h.items, m)
}

func (h *indexedHeap) order() {
	for i := len(h.items)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

func (h *indexedHeap) pop() {
	last := len(h.items) - 1
	h.swap(0, last)
	h.at[h.items[last]] = -1
	h.items = h.items[:last]
	h.sink(0)
}

// moved brings a member whose load has changed to its new place, if it is in the heap.
func (h *indexedHeap) moved(m int32) {
	i := int(h.at[m])
	if i < 0 {
		return
	}
	for i > 0 && h.before(m, h.items[(i-1)/2]) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	h.sink(i)
}

func (h *indexedHeap) sink(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if h.before(h.items[child], h.items[first]) {
				first = child
			}
		}
		if first == i {
			return
		}
		h.swap(i, first)
		i = first
	}
}

func (h *indexedHeap) swap(i, j int) {
	a, b := h.items[i], h.items[j]
	h.items[i], h.items[j] = b, a
	h.at[a], h.at[b] = int32(j), int32(i)
}

// firstThat is the first member that fits, or -1. Those before it are few: the search looks at them and at what stands
// directly below them.
func (h *indexedHeap) firstThat(fits func(m int32) bool) int32 {
	best := int32(-1)
	open := append(h.open[:0], 0)
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		if i >= len(h.items) || (best >= 0 && h.before(best, h.items[i])) {
			continue
		}
		if fits(h.items[i]) {
			best = h.items[i]
			continue
		}
		open = append(open, 2*i+2, 2*i+1)
	}
	h.open = open
	return best
}
