package assignor

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRate(t *testing.T) {
	for name, sh := range map[string]shape{
		"topic weights":     {members: 8, topics: 5, partitions: 8, replicas: 1, weights: true},
		"topic weights r2":  {members: 8, topics: 5, partitions: 8, replicas: 2, weights: true},
		"partition weights": {members: 8, topics: 5, partitions: 8, replicas: 1, weights: true, partitionWeights: true},
		"all":               {members: 8, topics: 5, partitions: 8, replicas: 2, weights: true, partitionWeights: true, subscriptions: true, capacities: true, away: true, sets: true},
	} {
		n, bad, over, idem, better, worse := 0, 0, 0, 0, 0, 0
		rapid.Check(t, func(t *rapid.T) {
			in := sh.draw(t)
			first, _ := Sticky(in)
			half, moved := halfApplied(t, in, first.Target)
			second, _ := Sticky(half)
			n++
			if x := moved + second.Moved - first.Moved; x > 0 {
				bad++
				a, _ := judge(in, first.Target)
				b, _ := judge(in, second.Target)
				if b.Unevenness < a.Unevenness {
					better++
				} else if b.Unevenness > a.Unevenness {
					worse++
				}
				over += x
			}
			in2 := in
			in2 = holding(in, first)
			third, _ := Sticky(in2)
			if third.Moved > 0 {
				idem++
			}
		})
		t.Logf("%s: %d of %d, %d more; not a fixpoint %d", name, bad, n, over, idem)
		t.Log(better, worse)
	}
}
