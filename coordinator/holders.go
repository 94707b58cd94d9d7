package coordinator

import (
	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// holders says, for every copy that somebody holds, is owed or is being revoked from, who has it. It is made only while
// a hand-over is going on.
type holders struct {
	topics map[string]*extent
	// assigned[copy] is the index of the member that has it in its assignment; none or several as below.
	assigned []int32
	// revoked[copy] are the revocations that name it.
	revoked map[int32][]revokedFrom
}

const (
	none    = -1
	several = -2
)

// extent is a topic's part of the numbering of copies.
type extent struct {
	base, copies, partitions int32
}

type revokedFrom struct {
	m   *member
	r   *v1alpha1.Revocation
	end ending
}

func (v *view) findHolders() *holders {
	h := &holders{topics: map[string]*extent{}, revoked: map[int32][]revokedFrom{}}
	h.measure(v)
	for _, m := range v.members {
		h.addAssignment(m)
		for i := range m.Status.Revoking {
			r := &m.Status.Revoking[i]
			h.addRevocation(revokedFrom{m, r, v.end(m, r)})
		}
	}
	return h
}

// measure numbers the copies: topics and sizes as they stand in the plan or in any list, whatever the spec says now.
func (h *holders) measure(v *view) {
	if v.plan != nil {
		for topic, copies := range v.plan.Target {
			for _, row := range copies {
				h.cover(topic, int32(len(copies)), int32(len(row)))
			}
		}
	}
	cover := func(list []v1alpha1.TopicPartitions) {
		for i := range list {
			for _, p := range list[i].Partitions {
				h.cover(list[i].Topic, list[i].Copy+1, p+1)
			}
		}
	}
	for _, m := range v.members {
		cover(assignmentOf(m))
		for i := range m.Status.Revoking {
			cover(m.Status.Revoking[i].TopicPartitions)
		}
	}
	var size int32
	for _, e := range h.topics {
		e.base = size
		size += e.copies * e.partitions
	}
	h.assigned = make([]int32, size)
	for i := range h.assigned {
		h.assigned[i] = none
	}
}

func (h *holders) cover(topic string, copies, partitions int32) {
	e := h.topics[topic]
	if e == nil {
		e = &extent{}
		h.topics[topic] = e
	}
	e.copies, e.partitions = max(e.copies, copies), max(e.partitions, partitions)
}

func (h *holders) number(topic string, copy, partition int32) int32 {
	e := h.topics[topic]
	return e.base + copy*e.partitions + partition
}

func (h *holders) addAssignment(m *member) {
	for _, tp := range assignmentOf(m) {
		for _, p := range tp.Partitions {
			n := h.number(tp.Topic, tp.Copy, p)
			if h.assigned[n] != none {
				h.assigned[n] = several
				continue
			}
			h.assigned[n] = int32(m.index)
		}
	}
}

func (h *holders) addRevocation(from revokedFrom) {
	for _, tp := range from.r.TopicPartitions {
		for _, p := range tp.Partitions {
			n := h.number(tp.Topic, tp.Copy, p)
			h.revoked[n] = append(h.revoked[n], from)
		}
	}
}

// freedom says whether a copy is free for a member.
type freedom int

const (
	held freedom = iota
	free
	// freeOnceWrittenOut: only revocations that are over stand in the way; they are written out first.
	freeOnceWrittenOut
)

// freeFor: no other member holds the copy, in its assignment or in a revocation in force; no other incarnation of the
// member does; and the member holds no other copy of that partition. Only a free copy is ever granted.
func (h *holders) freeFor(m *member, c copyKey) freedom {
	n := h.number(c.topic, c.copy, c.partition)
	if h.assigned[n] != none || h.holdsAnotherCopy(m, c) {
		return held
	}
	verdict := free
	for _, from := range h.revoked[n] {
		ours := from.m == m && from.r.MemberID == m.Status.MemberID
		switch {
		case from.end == inForce && !ours:
			return held
		case from.end == over && from.m != m:
			verdict = freeOnceWrittenOut
		}
	}
	return verdict
}

// eachOver visits the other members whose revocations of the copy are over: they are to be written out.
func (h *holders) eachOver(m *member, c copyKey, visit func(*member)) {
	for _, from := range h.revoked[h.number(c.topic, c.copy, c.partition)] {
		if from.end == over && from.m != m {
			visit(from.m)
		}
	}
}

// holdsAnotherCopy: the member has a copy of the partition under another index.
func (h *holders) holdsAnotherCopy(m *member, c copyKey) bool {
	e := h.topics[c.topic]
	for other := range e.copies {
		if other == c.copy {
			continue
		}
		n := h.number(c.topic, other, c.partition)
		if h.assigned[n] == several || h.assigned[n] == int32(m.index) {
			return true
		}
		for _, from := range h.revoked[n] {
			if from.m == m && from.end == inForce {
				return true
			}
		}
	}
	return false
}
