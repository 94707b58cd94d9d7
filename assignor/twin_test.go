package assignor

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The twin: an assignor that tries everything. It shares no code with the real one and knows the goals from the manual.

// score is what an assignment is worth, goal by goal, each the smaller the better.
type score struct {
	Unplaced, SharedZones int
	Unevenness            int64 // sum of load²/capacity, times 6
	Moves                 int
	TopicUnevenness       int64 // sum of count²/capacity of each topic, times 6
	NotAtHome             int
}

func (s score) first(goals int) [6]int64 {
	all := [6]int64{int64(s.Unplaced), int64(s.SharedZones), s.Unevenness, int64(s.Moves), s.TopicUnevenness, int64(s.NotAtHome)}
	for i := goals; i < 6; i++ {
		all[i] = 0
	}
	return all
}

// judge scores a target; it fails the test if a hard rule is broken.
func judge(in Input, target [][][]int32) (score, error) {
	if err := hardRules(in, target); err != nil {
		return score{}, err
	}
	var s score
	owners := ownersOf(in)
	loads := make([]int64, len(in.Members))
	for t, topic := range in.Topics {
		counts := make([]int64, len(in.Members))
		for c := range target[t] {
			for p, m := range target[t][c] {
				if m < 0 {
					s.Unplaced++
					continue
				}
				loads[m] += testWeight(topic, p)
				counts[m]++
				if o := owners[t][c][p]; o >= 0 && o != m {
					s.Moves++
				}
				if in.ZonePolicy == ZonePrefer && len(topic.Zones) > 0 && in.Members[m].Zone != topic.Zones[p%len(topic.Zones)] {
					s.NotAtHome++
				}
				if in.ZonePolicy == ZoneSpread {
					for _, lower := range target[t][:c] {
						if lower[p] >= 0 && in.Members[lower[p]].Zone == in.Members[m].Zone {
							s.SharedZones++
							break
						}
					}
				}
			}
		}
		for m, n := range counts {
			if c := in.Members[m].Capacity; c > 0 {
				s.TopicUnevenness += n * n * 6 / c
			}
		}
	}
	for m, l := range loads {
		if c := in.Members[m].Capacity; c > 0 {
			s.Unevenness += l * l * 6 / c
		}
	}
	return s, nil
}

func testWeight(topic Topic, p int) int64 {
	if topic.Weights != nil {
		return max(topic.Weights[p], 1)
	}
	return max(topic.Weight, 1)
}

func hardRules(in Input, target [][][]int32) error {
	owners := ownersOf(in)
	for t, topic := range in.Topics {
		for c := range target[t] {
			for p, m := range target[t][c] {
				pin := pinOf(in, topic.Name, c, p)
				if pin >= 0 && int(m) != pin {
					return fmt.Errorf("%s copy %d of %d is pinned to %d and goes to %d", topic.Name, c, p, pin, m)
				}
				if m < 0 {
					continue
				}
				for _, lower := range target[t][:c] {
					if lower[p] == m {
						return fmt.Errorf("%s: two copies of %d at %d", topic.Name, p, m)
					}
				}
				if pin >= 0 {
					continue
				}
				if err := mayTake(in, owners, t, c, p, int(m)); err != nil {
					return err
				}
				for u, other := range in.Topics {
					if topic.CoPartition != "" && other.CoPartition == topic.CoPartition && target[u][c][p] != m &&
						!anyPin(in, topic.CoPartition, c, p) {
						return fmt.Errorf("%s and %s: partition %d is torn apart", topic.Name, other.Name, p)
					}
				}
			}
		}
	}
	return nil
}

func mayTake(in Input, owners [][][]int32, t, c, p, m int) error {
	member := in.Members[m]
	if member.Capacity == 0 {
		return fmt.Errorf("member %d is parked and gets %s %d", m, in.Topics[t].Name, p)
	}
	for u, other := range in.Topics {
		if u != t && (other.CoPartition == "" || other.CoPartition != in.Topics[t].CoPartition) {
			continue
		}
		if len(member.Topics) > 0 && !slices.Contains(member.Topics, other.Name) {
			return fmt.Errorf("member %d does not subscribe to %s", m, other.Name)
		}
		if member.Away && owners[u][c][p] != int32(m) && !anyPin(in, other.CoPartition, c, p) {
			return fmt.Errorf("member %d is away and gets %s copy %d of %d", m, other.Name, c, p)
		}
	}
	return nil
}

func pinOf(in Input, topic string, c, p int) int {
	for m, member := range in.Members {
		for _, o := range member.Pinned {
			if o.Topic == topic && int(o.Copy) == c && slices.Contains(o.Partitions, int32(p)) {
				return m
			}
		}
	}
	return -1
}

func anyPin(in Input, set string, c, p int) bool {
	for _, topic := range in.Topics {
		if set != "" && topic.CoPartition == set && pinOf(in, topic.Name, c, p) >= 0 {
			return true
		}
	}
	return false
}

// best is the least score over all assignments, by the first goals. Pins and sets must not occur together.
func best(in Input, goals int) score {
	target := make([][][]int32, len(in.Topics))
	for t, topic := range in.Topics {
		for range max(topic.Replicas, 1) {
			target[t] = append(target[t], filled(topic.Partitions, -1))
		}
	}
	owners := ownersOf(in)
	found, best := false, score{}
	var try func(t, c, p int)
	try = func(t, c, p int) {
		switch {
		case t == len(in.Topics):
			s, err := judge(in, target)
			if err != nil {
				return
			}
			if a, b := s.first(goals), best.first(goals); !found || slices.Compare(a[:], b[:]) < 0 {
				found, best = true, s
			}
			return
		case c == len(target[t]):
			try(t+1, 0, 0)
			return
		case p == len(target[t][c]):
			try(t, c+1, 0)
			return
		}
		for m := -1; m < len(in.Members); m++ {
			if pin := pinOf(in, in.Topics[t].Name, c, p); pin >= 0 && pin != m {
				continue
			} else if pin < 0 && m >= 0 && mayTake(in, owners, t, c, p, m) != nil {
				continue
			}
			if leader := setLeader(in, t); leader < t && target[leader][c][p] != int32(m) {
				continue
			}
			target[t][c][p] = int32(m)
			try(t, c, p+1)
		}
		target[t][c][p] = -1
	}
	try(0, 0, 0)
	return best
}

// setLeader is the first topic of the set of t.
func setLeader(in Input, t int) int {
	for u, topic := range in.Topics[:t] {
		if topic.CoPartition != "" && topic.CoPartition == in.Topics[t].CoPartition {
			return u
		}
	}
	return t
}

func compareWithTwin(t *testing.T, sh shape, goals int) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		if err := twinSaysTheSame(sh.draw(t), goals); err != nil {
			t.Fatal(err)
		}
	})
	for seed := range 40 {
		if err := twinSaysTheSame(sh.example(seed), goals); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func twinSaysTheSame(in Input, goals int) error {
	r, err := Sticky(in)
	if err != nil {
		return err
	}
	got, err := judge(in, r.Target)
	if err != nil {
		return err
	}
	if r.Moved != got.Moves {
		return fmt.Errorf("reports %d moves, made %d", r.Moved, got.Moves)
	}
	if want := best(in, goals); got.first(goals) != want.first(goals) {
		return fmt.Errorf("got %+v, best is %+v; target %v", got, want, r.Target)
	}
	return nil
}

func TestUniformIsExact(t *testing.T) {
	compareWithTwin(t, shape{members: 4, topics: 3, partitions: 4, replicas: 1, slots: 7}, 4)
}

func TestReplicasAreExact(t *testing.T) {
	compareWithTwin(t, shape{members: 4, topics: 2, partitions: 2, replicas: 3, slots: 6}, 4)
}

func TestAwayAndParkedAreExact(t *testing.T) {
	compareWithTwin(t, shape{members: 4, topics: 2, partitions: 3, replicas: 2, slots: 6, away: true, capacities: true, pins: true}, 4)
}

func TestSubscriptionsAreExact(t *testing.T) {
	compareWithTwin(t, shape{members: 4, topics: 3, partitions: 3, replicas: 2, slots: 6, subscriptions: true, away: true, capacities: true, pins: true}, 4)
}

func TestSpreadIsExact(t *testing.T) {
	compareWithTwin(t, shape{
		members: 4, topics: 2, partitions: 3, replicas: 3, slots: 6, subscriptions: true, capacities: true, pins: true, away: true,
		zones: true, policies: []ZonePolicy{ZoneSpread},
	}, 4)
}

func TestSetsAreExact(t *testing.T) {
	compareWithTwin(t, shape{members: 4, topics: 3, partitions: 3, replicas: 2, slots: 9, subscriptions: true, capacities: true, away: true, sets: true, allSets: true}, 4)
}
