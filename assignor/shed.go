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
	var runs runHeap
	for i, m := range over {
		runs.reset(u.p, slots[start[i]:start[i+1]], pool, int64(gainers))
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
func (u *uniform) slotsOf(over []int32) (start, slots []int32) {
	place := filled(len(u.share), -1)
	start = make([]int32, len(over)+1)
	for i, m := range over {
		place[m] = int32(i)
		start[i+1] = start[i] + u.held[m] - u.low[m]
	}
	slots = make([]int32, start[len(over)])
	next := append([]int32(nil), start...)
	for s, m := range u.assign {
		if m < 0 || place[m] < 0 || (u.p.pinned != nil && u.p.pinned[s]) {
			continue
		}
		i := place[m]
		slots[next[i]] = int32(s)
		next[i]++
	}
	return start, slots
}

// run is the slots that one member holds of one group.
type run struct {
	group int32
	slots []int32
}

// runHeap orders the runs of a member by how much topics become more even when it gives one slot up.
type runHeap struct {
	runs    []run
	pool    []int64
	gainers int64
}

func (h *runHeap) reset(p *problem, slots []int32, pool []int64, gainers int64) {
	h.runs, h.pool, h.gainers = h.runs[:0], pool, gainers
	g := int32(0)
	for from := 0; from < len(slots); {
		for slots[from] >= p.groups[g].slot+p.groups[g].parts*p.groups[g].replicas {
			g++
		}
		end := p.groups[g].slot + p.groups[g].parts*p.groups[g].replicas
		to := from
		for to < len(slots) && slots[to] < end {
			to++
		}
		h.runs = append(h.runs, run{group: g, slots: slots[from:to]})
		from = to
	}
	heapify(h.runs, h.before)
}

// shed takes the highest slot of the first run.
func (h *runHeap) shed() int32 {
	r := &h.runs[0]
	s := r.slots[len(r.slots)-1]
	r.slots = r.slots[:len(r.slots)-1]
	h.pool[r.group]++
	if len(r.slots) == 0 {
		h.runs = pop(h.runs, h.before)
	} else {
		sink(h.runs, 0, h.before)
	}
	return s
}

// surplus is what the member has of the group above the mean of those who will get it.
func (h *runHeap) surplus(r run) int64 { return int64(len(r.slots))*h.gainers - h.pool[r.group] }

func (h *runHeap) before(a, b run) bool {
	if x, y := h.surplus(a), h.surplus(b); x != y {
		return x > y
	}
	return a.group < b.group
}
