package assignor

import (
	"testing"

	"pgregory.net/rapid"
)

func TestGap(t *testing.T) {
	for name, sh := range map[string]shape{
		"topic weights":     {members: 3, topics: 4, partitions: 3, replicas: 1, weights: true, slots: 8},
		"partition weights": {members: 3, topics: 4, partitions: 4, replicas: 1, weights: true, partitionWeights: true, slots: 8},
		"all":               {members: 3, topics: 4, partitions: 3, replicas: 2, weights: true, partitionWeights: true, subscriptions: true, capacities: true, slots: 8},
	} {
		n, badLoad, badMoves, moreMoves := 0, 0, 0, 0
		worst, sum := 1.0, 0.0
		rapid.Check(t, func(t *rapid.T) {
			in := sh.draw(t)
			r, _ := Sticky(in)
			got, err := judge(in, r.Target)
			if err != nil {
				t.Fatal(err)
			}
			want := best(in, 4)
			if got.Unplaced != want.Unplaced {
				t.Fatal("unplaced")
			}
			n++
			if got.Unevenness != want.Unevenness {
				badLoad++
				x := float64(got.Unevenness) / float64(want.Unevenness)
				worst = max(worst, x)
				sum += x - 1
			} else if got.Moves != want.Moves {
				badMoves++
				moreMoves += got.Moves - want.Moves
			}
		})
		t.Logf("%s: of %d: uneven %d (worst %.3f mean %.5f), moves %d (by %d)", name, n, badLoad, worst, sum/float64(n), badMoves, moreMoves)
	}
}
