package assignor

import (
	"fmt"
	"slices"
	"testing"
)

// leastMoves is the fewest moves by which loads can become even, with equal weights, capacities and subscriptions: what
// members hold above their share, where those that hold most get the larger shares.
func leastMoves(in Input) int {
	total := 0
	for _, t := range in.Topics {
		total += int(t.Partitions) * int(min(max(t.Replicas, 1), int32(len(in.Members))))
	}
	owners := ownersOf(in)
	held := make([]int, len(in.Members))
	for t := range owners {
		for c := range owners[t] {
			for _, m := range owners[t][c] {
				if m >= 0 {
					held[m]++
				}
			}
		}
	}
	slices.SortFunc(held, func(a, b int) int { return b - a })
	least := 0
	for i, h := range held {
		share := total / len(held)
		if i < total%len(held) {
			share++
		}
		least += max(0, h-share)
	}
	return least
}

func spreadOf(loads []int64) int64 { return slices.Max(loads) - slices.Min(loads) }

// Groups of up to 60 members and 600 partitions, owned by anybody at random.
func TestUniformLoadsAndMoves(t *testing.T) {
	for seed := range 1000 {
		in := shape{members: 60, topics: 12, partitions: 50, replicas: 1}.example(seed)
		r, err := Sticky(in)
		if err != nil {
			t.Fatal(err)
		}
		if d, least := spreadOf(r.Loads), leastMoves(in); d > 1 || r.Moved != least {
			t.Fatalf("seed %d: loads differ by %d; moved %d, %d are enough", seed, d, r.Moved, least)
		}
	}
}

// change makes one thing happen to a group: a join, a leave, or a topic that comes, goes, grows or shrinks.
func change(t choice, in *Input, step int) {
	switch what := t.between(0, 5, "what happens"); {
	case what <= 1 || len(in.Members) == 1:
		in.Members = append(in.Members, Member{Name: fmt.Sprintf("m%d", t.between(0, 9, "digit")*1000+step), Capacity: 1})
	case what <= 3:
		i := t.between(0, len(in.Members)-1, "who leaves")
		in.Members = slices.Delete(slices.Clone(in.Members), i, i+1)
	case what == 4 && len(in.Topics) > 1:
		i := t.between(0, len(in.Topics)-1, "which topic goes")
		in.Topics = slices.Delete(slices.Clone(in.Topics), i, i+1)
	case what == 4:
		in.Topics = append(slices.Clone(in.Topics), Topic{Name: fmt.Sprintf("t%d", step), Partitions: int32(t.between(1, 30, "partitions"))})
	default:
		i := t.between(0, len(in.Topics)-1, "which topic changes")
		in.Topics = slices.Clone(in.Topics)
		in.Topics[i].Partitions = int32(t.between(1, 30, "partitions"))
	}
}

// In a sequence of 200 changes no step moves more than it must.
func TestSequence(t *testing.T) {
	for seed := range 5 {
		chance := seededChoice(seed)
		in := shape{members: 10, topics: 6, partitions: 30, replicas: 1}.example(seed)
		for step := range 200 {
			change(chance, &in, step)
			r, err := Sticky(in)
			if err != nil {
				t.Fatal(err)
			}
			if d, least := spreadOf(r.Loads), leastMoves(in); d > 1 || r.Moved != least {
				t.Fatalf("seed %d, step %d: loads differ by %d; moved %d, %d are enough", seed, step, d, r.Moved, least)
			}
			in = holding(in, r)
		}
	}
}
