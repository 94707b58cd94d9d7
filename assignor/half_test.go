package assignor

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// halfApplied is the input when some of the moves of a result are made: of each copy that has another target than owner
// the owner may have lost it, and then the target may have got it.
func halfApplied(t choice, in Input, target [][][]int32) (half Input, moved int) {
	half = in
	half.Members = append([]Member(nil), in.Members...)
	for i := range half.Members {
		half.Members[i].Owned = nil
	}
	owners := ownersOf(in)
	for ti := range target {
		for c := range target[ti] {
			for p, to := range target[ti][c] {
				owner, token := owners[ti][c][p], int64(1)
				if owner != to {
					steps := t.between(0, 2, "steps done")
					if steps > 0 {
						if owner >= 0 && to >= 0 {
							moved++
						}
						owner = -1
					}
					if steps > 1 && to >= 0 && !ownsACopy(owners[ti], p, to) {
						owner, token = to, 2
					}
				}
				if owner >= 0 {
					m := &half.Members[owner]
					m.Owned = append(m.Owned, Ownership{Topic: in.Topics[ti].Name, Copy: int32(c), Partitions: []int32{int32(p)}, Token: token})
				}
			}
		}
	}
	return half, moved
}

// ownsACopy says whether m has owned a copy of partition p: then it is granted no other before it has lost that.
func ownsACopy(owners [][]int32, p int, m int32) bool {
	for c := range owners {
		if owners[c][p] == m {
			return true
		}
	}
	return false
}

// neverMovesMore checks that a result half applied and given back leads to no more moves in all: on small inputs by rapid,
// which shows the least that fails, and on greater ones.
func neverMovesMore(t *testing.T, sh shape) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		if err := movesMore(rapidChoice{t}, sh.draw(t)); err != nil {
			t.Fatal(err)
		}
	})
	sh.members, sh.partitions = 3*sh.members, 3*sh.partitions
	for seed := range 100 {
		if err := movesMore(seededChoice(seed), sh.example(seed)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func movesMore(t choice, in Input) error {
	first, err := Sticky(in)
	if err != nil {
		return err
	}
	half, moved := halfApplied(t, in, first.Target)
	second, err := Sticky(half)
	if err != nil {
		return err
	}
	if moved+second.Moved > first.Moved {
		return fmt.Errorf("first plan moves %d; %d were done, and then %d more\n%v\n%v", first.Moved, moved, second.Moved, first.Target, second.Target)
	}
	return nil
}

func TestHalfAppliedUniform(t *testing.T) {
	neverMovesMore(t, shape{members: 12, topics: 5, partitions: 20, replicas: 1, capacities: true, away: true, pins: true})
}

func TestHalfAppliedReplicas(t *testing.T) {
	neverMovesMore(t, shape{members: 8, topics: 4, partitions: 10, replicas: 4, capacities: true, away: true, pins: true})
}

func TestHalfAppliedSubscriptions(t *testing.T) {
	neverMovesMore(t, shape{members: 10, topics: 6, partitions: 10, replicas: 3, subscriptions: true, capacities: true, away: true, pins: true})
}

func TestHalfAppliedSpread(t *testing.T) {
	neverMovesMore(t, shape{
		members: 10, topics: 4, partitions: 10, replicas: 3, subscriptions: true, capacities: true, away: true,
		zones: true, policies: []ZonePolicy{ZoneSpread, ZonePrefer},
	})
}

func TestHalfAppliedSets(t *testing.T) {
	neverMovesMore(t, shape{members: 8, topics: 4, partitions: 8, replicas: 1, subscriptions: true, capacities: true, away: true, sets: true, allSets: true})
}
