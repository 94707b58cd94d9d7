package assignor

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The twin tries everything, and can only do so for small inputs. With one replica and equal weights there is a proof for
// inputs of any size: members as the nodes of a flow, a slot that one can give to another as an edge. What the edge costs
// is what it does to loads first, to moves second. An assignment is the best exactly if no cycle costs less than nothing.

// unevennessUnit is far above all moves together: no number of moves makes up for loads less even.
const unevennessUnit = 1 << 20

// flow is the cheapest way to hand one slot from each member to each other; the last node stands for the outside, which
// takes a slot more from one member and gives it to another.
type flow [][]int64

const noWay = math.MaxInt64 / 4

func flowOf(in Input, target [][][]int32) flow {
	n := len(in.Members)
	f := make(flow, n+1)
	for u := range f {
		f[u] = make([]int64, n+1)
		for v := range f[u] {
			f[u][v] = noWay
		}
	}
	owners, loads := ownersOf(in), make([]int64, n)
	for t, topic := range in.Topics {
		for p, u := range target[t][0] {
			if u < 0 {
				continue
			}
			loads[u]++
			if pinOf(in, topic.Name, 0, p) >= 0 {
				continue
			}
			for v := range n {
				if int32(v) != u && mayTake(in, owners, t, 0, p, v) == nil {
					f[u][v] = min(f[u][v], moveOf(owners[t][0][p], int32(v))-moveOf(owners[t][0][p], u))
				}
			}
		}
	}
	for m, l := range loads {
		if c := in.Members[m].Capacity; c > 0 {
			f[n][m] = unevennessUnit * 6 * (1 - 2*l) / c // it has one less in the end
			f[m][n] = unevennessUnit * 6 * (1 + 2*l) / c // it has one more
		}
	}
	return f
}

func moveOf(owner, target int32) int64 {
	if owner >= 0 && owner != target {
		return 1
	}
	return 0
}

// better is a way to hand slots round by which the assignment would be better; nil if there is none. It is found by the
// rule of Bellman and Ford.
func (f flow) better() []int {
	distance, from := make([]int64, len(f)), make([]int, len(f))
	last := -1
	for range f {
		last = -1
		for u := range f {
			for v, cost := range f[u] {
				if cost < noWay && distance[u]+cost < distance[v] {
					distance[v], from[v], last = distance[u]+cost, u, v
				}
			}
		}
	}
	if last < 0 {
		return nil
	}
	for range f {
		last = from[last] // now it is on the cycle
	}
	way := []int{last}
	for u := from[last]; u != last; u = from[u] {
		way = append(way, u)
	}
	return way
}

func provenBest(in Input) error {
	r, err := Sticky(in)
	if err != nil {
		return err
	}
	if err := hardRules(in, r.Target); err != nil {
		return err
	}
	if way := flowOf(in, r.Target).better(); way != nil {
		return fmt.Errorf("loads %v, %d moves: better if slots go round over %v (backwards)", r.Loads, r.Moved, way)
	}
	return nil
}

// Up to 60 members and 600 partitions: loads are as even as can be, and no fewer moves are possible.
func TestLargeInputsAreProvenBest(t *testing.T) {
	large := shape{members: 60, topics: 12, partitions: 50, replicas: 1}
	for name, widen := range map[string]func(*shape){
		"uniform":       func(*shape) {},
		"subscriptions": func(sh *shape) { sh.subscriptions = true },
		"capacities":    func(sh *shape) { sh.capacities = true },
		"all of it":     func(sh *shape) { sh.subscriptions, sh.capacities, sh.away, sh.pins = true, true, true, true },
	} {
		sh := large
		widen(&sh)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				if err := provenBest(sh.draw(t)); err != nil {
					t.Fatal(err)
				}
			})
			for seed := range 100 {
				if err := provenBest(sh.example(seed)); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

// A sequence of 200 changes to a group of unequal subscriptions and capacities: no step moves more than it must.
func TestSequenceOfUnequalMembers(t *testing.T) {
	for seed := range 3 {
		chance := seededChoice(seed)
		in := shape{members: 10, topics: 8, partitions: 20, replicas: 1, subscriptions: true, capacities: true}.example(seed)
		for step := range 200 {
			change(chance, &in, step)
			if err := provenBest(in); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			r, err := Sticky(in)
			if err != nil {
				t.Fatal(err)
			}
			in = holding(in, r)
		}
	}
}

// The proof finds what is not the best: a move too many, and a load too uneven.
func TestTheProofFindsWhatIsNotBest(t *testing.T) {
	in := Input{Topics: []Topic{{Name: "t", Partitions: 4}}, Members: []Member{owns("a", map[string][]int32{"t": {0, 1}}), owns("b", nil)}}
	for name, test := range map[string]struct {
		target []int32
		best   bool
	}{
		"best":           {[]int32{0, 0, 1, 1}, true},
		"moved too many": {[]int32{0, 1, 0, 1}, false},
		"uneven":         {[]int32{0, 0, 0, 1}, false},
	} {
		if way := flowOf(in, [][][]int32{{test.target}}).better(); (way == nil) != test.best {
			t.Errorf("%s: a better way is %v", name, way)
		}
	}
}
