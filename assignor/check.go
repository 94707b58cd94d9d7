package assignor

import (
	"errors"
	"fmt"
	"math/bits"
)

const (
	// maxCopies bounds the size of an input: what a mistaken number could ask for must not exhaust the memory.
	maxCopies = 1 << 26
	// maxLoad bounds the sum of all loads, so that twice a load and one weight more still fit an int64.
	maxLoad = 1 << 60
)

// checkTopic refuses numbers that mean nothing.
func checkTopic(t *Topic) error {
	switch {
	case t.Name == "":
		return errors.New("a topic has no name")
	case t.Partitions < 0:
		return fmt.Errorf("topic %q: %d partitions: must not be negative", t.Name, t.Partitions)
	case t.Replicas < 0:
		return fmt.Errorf("topic %q: %d replicas: must not be negative", t.Name, t.Replicas)
	case t.Weight < 0:
		return fmt.Errorf("topic %q: weight %d: must not be negative", t.Name, t.Weight)
	case t.Weights != nil && len(t.Weights) != int(t.Partitions):
		return fmt.Errorf("topic %q: %d weights for %d partitions: give one for each", t.Name, len(t.Weights), t.Partitions)
	}
	for p, w := range t.Weights {
		if w < 0 {
			return fmt.Errorf("topic %q: weight %d of partition %d: must not be negative", t.Name, w, p)
		}
	}
	return nil
}

func checkMember(m *Member) error {
	switch {
	case m.Name == "":
		return errors.New("a member has no name")
	case m.Capacity < 0:
		return fmt.Errorf("member %q: capacity %d: must not be negative", m.Name, m.Capacity)
	}
	return nil
}

// checkNames refuses what occurs twice; order sorts the names.
func checkNames(kind string, order []int32, name func(int32) string) error {
	for i := 1; i < len(order); i++ {
		if name(order[i]) == name(order[i-1]) {
			return fmt.Errorf("%s %q: the name is given twice", kind, name(order[i]))
		}
	}
	return nil
}

// checkSizes refuses inputs whose number of copies or total load is beyond the bounds.
func checkSizes(topics []Topic) error {
	var copies, load uint64
	for i := range topics {
		t := &topics[i]
		n := uint64(t.Partitions) * uint64(replicas(t))
		if copies += n; copies > maxCopies {
			return fmt.Errorf("topic %q: more than %d copies in all", t.Name, maxCopies)
		}
		high, l := bits.Mul64(partitionsLoad(t), uint64(replicas(t)))
		if load += l; high > 0 || l > maxLoad || load > maxLoad {
			return fmt.Errorf("topic %q: the load of all topics exceeds %d", t.Name, int64(maxLoad))
		}
	}
	return nil
}

// partitionsLoad is the load of one copy of every partition, or more than maxLoad.
func partitionsLoad(t *Topic) uint64 {
	if t.Weights == nil {
		high, l := bits.Mul64(uint64(weightOf(t, 0)), uint64(t.Partitions))
		if high > 0 {
			return maxLoad + 1
		}
		return l
	}
	var sum uint64
	for p := range t.Partitions {
		if sum += uint64(weightOf(t, p)); sum > maxLoad {
			return maxLoad + 1
		}
	}
	return sum
}

// checkSet refuses a coPartition set whose topics differ in size.
func checkSet(first, other *Topic) error {
	if first.Partitions != other.Partitions {
		return fmt.Errorf("topics %q and %q are in coPartition set %q: %d and %d partitions must be equal",
			first.Name, other.Name, first.CoPartition, first.Partitions, other.Partitions)
	}
	if replicas(first) != replicas(other) {
		return fmt.Errorf("topics %q and %q are in coPartition set %q: %d and %d replicas must be equal",
			first.Name, other.Name, first.CoPartition, replicas(first), replicas(other))
	}
	return nil
}

func checkPolicy(z ZonePolicy) error {
	switch z {
	case "", ZoneIgnore, ZonePrefer, ZoneSpread:
		return nil
	}
	return fmt.Errorf("zone policy %q: must be %s, %s or %s", z, ZoneIgnore, ZonePrefer, ZoneSpread)
}

func replicas(t *Topic) int32 { return max(t.Replicas, 1) }

// weightOf is the load of one copy of partition p.
func weightOf(t *Topic, p int32) int64 {
	if t.Weights != nil {
		return max(t.Weights[p], 1)
	}
	return max(t.Weight, 1)
}
