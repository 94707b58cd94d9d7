package assignor

// shed takes from each member what it holds above its share, so that topics become as even as can be: first from the
// group of which the member has many and those who will get the slots have few.
func (u *uniform) shed() {
	over, gainers := u.overAndGainers()
	if len(over) == 0 {
		return
	}
	pool := u.countPool()
	start, slots := u.slotsOf(over)
	runs := runHeap{pool: pool, gainers: int64(gainers)}
	for i, m := range over {
		runs.reset(slots[start[i]:start[i+1]])
		for range u.held[m] - u.share[m] {
			u.assign[runs.shed()] = -1
		}
	}
}

// overAndGainers lists the members that hold more than their share, and counts those that hold less.
func (u *uniform) overAndGainers() (over []int32, gainers int) {
	for m := range u.share {
		switch {
		case u.held[m] > u.share[m]:
			over = append(over, int32(m))
		case u.held[m] < u.share[m]:
			gainers++
		}
	}
	return over, max(gainers, 1)
}

// countPool counts for each group the slots that those below their share hold or will be dealt.
func (u *uniform) countPool() []int64 {
	pool := make([]int64, len(u.p.groups))
	for i := range u.p.groups {
		g := &u.p.groups[i]
		if !u.row.has(int32(i)) {
			continue
		}
		for _, m := range u.assign[g.slot : g.slot+g.parts*g.replicas] {
			if m < 0 || u.held[m] < u.share[m] {
				pool[i]++
			}
		}
	}
	return pool
}

// slotsOf lists the slots that the members may have to give up: those of over[i] are slots[start[i]:start[i+1]].
func (u *uniform) slotsOf(over []int32) (start []int32, slots []slotOf) {
	place := filled(len(u.share), -1)
	start = make([]int32, len(over)+1)
	for i, m := range over {
		place[m] = int32(i)
		start[i+1] = start[i] + u.held[m] - u.low[m]
	}
	slots = make([]slotOf, start[len(over)])
	next := append([]int32(nil), start...)
	for i := range u.p.groups {
		g := &u.p.groups[i]
		for s := g.slot; s < g.slot+g.parts*g.replicas; s++ {
			m := u.assign[s]
			if m < 0 || place[m] < 0 || (u.p.pinned != nil && u.p.pinned[s]) {
				continue
			}
			slots[next[place[m]]] = slotOf{group: int32(i), slot: s}
			next[place[m]]++
		}
	}
	return start, slots
}

// slotOf is a slot with its group.
type slotOf struct{ group, slot int32 }

// run is the slots that one member holds of one group: from first to before end in its list.
type run struct{ group, first, end int32 }

// runHeap orders the runs of a member by how much topics become more even when it gives one slot up.
type runHeap struct {
	slots   []slotOf
	runs    []run
	pool    []int64
	gainers int64
}

func (h *runHeap) reset(slots []slotOf) {
	h.slots, h.runs = slots, h.runs[:0]
	for i, s := range slots {
		if i == 0 || slots[i-1].group != s.group {
			h.runs = append(h.runs, run{group: s.group, first: int32(i)})
		}
		h.runs[len(h.runs)-1].end = int32(i + 1)
	}
	heapify(h.runs, h.before)
}

// shed takes the highest slot of the first run.
func (h *runHeap) shed() int32 {
	r := &h.runs[0]
	r.end--
	s := h.slots[r.end].slot
	h.pool[r.group]++
	if r.end == r.first {
		h.runs = pop(h.runs, h.before)
	} else {
		sink(h.runs, 0, h.before)
	}
	return s
}

// surplus is what the member has of the group above the mean of those who will get it.
func (h *runHeap) surplus(r run) int64 { return int64(r.end-r.first)*h.gainers - h.pool[r.group] }

func (h *runHeap) before(a, b run) bool {
	if x, y := h.surplus(a), h.surplus(b); x != y {
		return x > y
	}
	return a.group < b.group
}
