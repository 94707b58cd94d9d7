package explore

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Beyond what can be exhausted: up to 5 members and 6 partitions, of all kinds, both policies, one or two copies.
func TestRandomWalks(t *testing.T) {
	const length = 300
	walks := *seeds
	if walks == 0 {
		walks = map[bool]uint64{false: 1_500, true: 50_000}[*whole]
		if testing.Short() {
			walks = 20
		}
	}
	for seed := *first; seed < *first+walks; seed++ {
		s := randomSetup(seed)
		if walked := s.walk(seed, length); walked.err != nil {
			t.Fatalf("seed %d:\n%s", seed, walked)
		}
	}
	t.Logf("%d walks of %d steps each, seeds %d to %d", walks, length, *first, *first+walks-1)
}

func randomSetup(seed uint64) *setup {
	chance := rand.New(rand.NewPCG(seed, 1))
	s := &setup{
		policy: policies[chance.IntN(len(policies))], kinds: map[string]kind{},
		partitions: 1 + chance.Int32N(6), replicas: 1 + chance.Int32N(2), ties: chance.IntN(2) == 0,
	}
	for i := range 1 + chance.IntN(5) {
		name := string(rune('a' + i))
		s.kinds[name] = kind(chance.IntN(3))
		if chance.IntN(2) == 0 {
			s.initial = append(s.initial, name)
		}
	}
	s.vocabulary = vocabulary(s.kinds)
	return s
}

func TestTheSameSeedWalksTheSameWay(t *testing.T) {
	for seed := range uint64(5) {
		a, b := randomSetup(seed).walk(seed, 100), randomSetup(seed).walk(seed, 100)
		if fmt.Sprint(a.lines) != fmt.Sprint(b.lines) {
			t.Errorf("seed %d walks two ways:\n%s\n%s", seed, a, b)
		}
	}
}
