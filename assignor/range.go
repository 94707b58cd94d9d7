package assignor

// Range gives each subscriber of a topic a run of consecutive partitions, topic by topic.
//
// The rule is that of Kafka's range assignor: the subscribers of a topic stand in the order of their names; with n
// partitions and k subscribers each gets n/k of them, and the first n mod k get one more. Since it looks at each topic by
// itself, topics with as many partitions and the same subscribers are divided alike; topics of a coPartition set are
// divided among those that subscribe to all of them.
//
// What Kafka does not have is added as simply as can be. Copy c of a partition goes to the c-th subscriber after the
// one that has copy 0. Parked members are no subscribers. Pinned copies stay. What would go to an away member that does
// not own it, or to a member that has another copy, is dealt in turn to those that may take it. Weights, capacities above
// 0 and zones do not matter. Which of a partition's copy indexes a member gets depends on which it had.
func Range(in Input) (Result, error) { return runSolver(in, solveRange) }

func solveRange(p *problem) []int32 {
	st := newState(p)
	if p.pinned != nil {
		st.fixPins()
	}
	for g := range p.groups {
		r := ranger{state: st, group: &p.groups[g], subscribers: p.subscribers(int32(g))}
		r.divide()
	}
	return st.copies()
}

// subscribers lists the members that take part in the division of a group, away or not.
func (p *problem) subscribers(g int32) []int32 {
	var list []int32
	for m := range int32(len(p.members)) {
		if p.takes(m, g) {
			list = append(list, m)
		}
	}
	return list
}

// ranger divides one group.
type ranger struct {
	*state
	group       *group
	subscribers []int32
	turn        int // of those that are dealt what is left over
}

func (r *ranger) divide() {
	k := int32(len(r.subscribers))
	if k == 0 {
		return
	}
	for c := range min(r.group.replicas, k) {
		for part := range r.group.parts {
			s := r.group.slot + c*r.group.parts + part
			if r.assign[s] >= 0 || r.split[s] != nil {
				continue
			}
			m := r.subscribers[(r.runOf(part)+c)%k]
			if !r.allowed(s, m) {
				m = r.next(s)
			}
			if m >= 0 {
				r.put(s, m)
			}
		}
	}
}

// runOf is the number of the subscriber in whose run a partition lies.
func (r *ranger) runOf(part int32) int32 {
	k := int32(len(r.subscribers))
	size, longer := r.group.parts/k, r.group.parts%k
	if part < longer*(size+1) {
		return part / (size + 1)
	}
	return longer + (part-longer*(size+1))/size
}

// next deals a slot to the next subscriber that may take it, or returns -1.
func (r *ranger) next(s int32) int32 {
	for range r.subscribers {
		m := r.subscribers[r.turn%len(r.subscribers)]
		r.turn++
		if r.allowed(s, m) {
			return m
		}
	}
	return -1
}
