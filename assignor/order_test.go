package assignor

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// everything is the shape with all that an input can have.
var everything = shape{
	members: 8, topics: 5, partitions: 8, replicas: 3, subscriptions: true, weights: true, partitionWeights: true,
	capacities: true, away: true, pins: true, sets: true, zones: true, policies: []ZonePolicy{ZoneIgnore, ZonePrefer, ZoneSpread},
}

// byNames is a result with names in place of indexes.
type byNames struct {
	target map[string]string // "topic/copy/partition" -> member
	short  []string
	loads  map[string]int64
	moved  int
}

func named(in Input, r Result) byNames {
	n := byNames{target: map[string]string{}, loads: map[string]int64{}, moved: r.Moved}
	for t := range r.Target {
		for c := range r.Target[t] {
			for p, m := range r.Target[t][c] {
				if m >= 0 {
					n.target[in.Topics[t].Name+"/"+string(rune('0'+c))+"/"+string(rune('0'+p))] = in.Members[m].Name
				}
			}
		}
	}
	for _, m := range r.Short {
		n.short = append(n.short, in.Members[m].Name)
	}
	slices.Sort(n.short)
	for m, l := range r.Loads {
		n.loads[in.Members[m].Name] = l
	}
	return n
}

// shuffled is the same input in another order, with ownership entries cut up in another way.
func shuffled(t *rapid.T, in Input) Input {
	other := Input{ZonePolicy: in.ZonePolicy}
	other.Topics = rapid.Permutation(in.Topics).Draw(t, "order of topics")
	other.Members = append(other.Members, rapid.Permutation(in.Members).Draw(t, "order of members")...)
	for i := range other.Members {
		m := &other.Members[i]
		m.Topics = rapid.Permutation(m.Topics).Draw(t, "order of the subscription")
		m.Owned = rapid.Permutation(m.Owned).Draw(t, "order of ownership")
		if len(m.Owned) > 1 && m.Owned[0].Topic == m.Owned[1].Topic && m.Owned[0].Copy == m.Owned[1].Copy {
			m.Owned[1].Partitions = append(slices.Clone(m.Owned[0].Partitions), m.Owned[1].Partitions...)
			m.Owned = m.Owned[1:]
		}
	}
	return other
}

func TestOrderDoesNotMatter(t *testing.T) {
	for _, name := range []string{"sticky", "range", "roundrobin"} {
		assign, _ := ByName(name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := everything.draw(t)
				other := shuffled(t, in)
				a, errA := assign(in)
				b, errB := assign(other)
				if errA != nil || errB != nil {
					t.Fatal(errA, errB)
				}
				x, y := named(in, a), named(other, b)
				if !maps.Equal(x.target, y.target) || !maps.Equal(x.loads, y.loads) || !slices.Equal(x.short, y.short) || x.moved != y.moved {
					t.Fatalf("%v\n%v", x, y)
				}
			})
		})
	}
}

// The three assignors keep the hard rules, whatever the input.
func TestHardRules(t *testing.T) {
	for _, name := range []string{"sticky", "range", "roundrobin"} {
		assign, _ := ByName(name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := everything.draw(t)
				r, err := assign(in)
				if err != nil {
					t.Fatal(err)
				}
				if err := hardRules(in, r.Target); err != nil {
					t.Fatal(err)
				}
				checkReport(t, in, r)
			})
		})
	}
}

// checkReport compares what a result says about itself with its target.
func checkReport(t *rapid.T, in Input, r Result) {
	s, err := judge(in, r.Target)
	if err != nil {
		t.Fatal(err)
	}
	unplaced := 0
	for _, u := range r.Unplaced {
		unplaced += int(u.Last-u.First) + 1
		ti := slices.IndexFunc(in.Topics, func(t Topic) bool { return t.Name == u.Topic })
		for p := u.First; p <= u.Last; p++ {
			if r.Target[ti][u.Copy][p] != -1 {
				t.Fatalf("%v is placed", u)
			}
		}
	}
	if unplaced != s.Unplaced || r.Moved != s.Moves {
		t.Fatalf("reports %d unplaced, %d moved; has %d, %d", unplaced, r.Moved, s.Unplaced, s.Moves)
	}
	loads := make([]int64, len(in.Members))
	for ti := range r.Target {
		for c := range r.Target[ti] {
			for p, m := range r.Target[ti][c] {
				if m >= 0 {
					loads[m] += testWeight(in.Topics[ti], p)
				}
			}
		}
	}
	if !slices.Equal(loads, r.Loads) {
		t.Fatalf("reports loads %v, has %v", r.Loads, loads)
	}
}

// A result given back as what is held changes nothing; with nobody away it gives those that were short more.
func TestResultIsItsOwnResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := everything.draw(t)
		first, err := Sticky(in)
		if err != nil {
			t.Fatal(err)
		}
		in = holding(in, first)
		again, err := Sticky(in)
		if err != nil {
			t.Fatal(err)
		}
		if again.Moved != 0 {
			t.Fatalf("moved %d\n%v\n%v", again.Moved, first.Target, again.Target)
		}
		wasAway := make([]bool, len(in.Members))
		for i := range in.Members {
			wasAway[i], in.Members[i].Away = in.Members[i].Away, false
		}
		back, err := Sticky(in)
		if err != nil {
			t.Fatal(err)
		}
		for i, away := range wasAway {
			if short := slices.Contains(first.Short, i); short != (away && back.Loads[i] > first.Loads[i]) {
				t.Fatalf("member %d: short %v, load %d, then %d", i, short, first.Loads[i], back.Loads[i])
			}
		}
	})
}
