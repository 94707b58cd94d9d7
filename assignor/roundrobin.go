package assignor

// RoundRobin deals the partitions of all topics to the members in turn.
//
// The rule is that of Kafka's round-robin assignor: members stand in a circle in the order of their names; topics are
// taken in the order of theirs, and of each the partitions from 0 up; each goes to the next member in the circle that
// subscribes to its topic, and the turn passes on from there.
//
// What Kafka does not have is added as simply as can be. A coPartition set is dealt as one topic, in the place of its
// first, to those that subscribe to all of it. The copies of a partition are dealt one after the other. Passed over are,
// beside those that do not subscribe: parked members, those that have another copy of the partition, and those that
// are away and do not own it. Pinned copies stay. Weights, capacities above 0 and zones do not matter. Which of a
// partition's copy indexes a member gets depends on which it had.
func RoundRobin(in Input) (Result, error) { return runSolver(in, solveRoundRobin) }

func solveRoundRobin(p *problem) []int32 {
	st := newState(p)
	if p.pinned != nil {
		st.fixPins()
	}
	turn := 0
	for i := range p.groups {
		g := &p.groups[i]
		for part := range g.parts {
			for s := g.slot + part; s < g.slot+g.parts*g.replicas; s += g.parts {
				if st.assign[s] < 0 && st.split[s] == nil {
					turn = st.dealInTurn(s, turn)
				}
			}
		}
	}
	return st.copies()
}

// dealInTurn gives a slot to the first member of the circle that may take it. It returns whose turn is next.
func (st *state) dealInTurn(s int32, turn int) int {
	n := len(st.p.members)
	for i := range n {
		m := (turn + i) % n
		if st.allowed(s, int32(m)) {
			st.put(s, int32(m))
			return (m + 1) % n
		}
	}
	return turn
}
