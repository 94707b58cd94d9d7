package main

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/rollcall-dev/rollcall/assignor"
)

// TestCounts holds the assignor to the least number of moves and to even loads at every point where these are known, of
// every size.
func TestCounts(t *testing.T) {
	for _, p := range points() {
		if !p.feature.exact {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			in, err := p.input()
			if err != nil {
				t.Fatal(err)
			}
			r, err := assignor.Sticky(in)
			if err != nil {
				t.Fatal(err)
			}
			v := judge(&in, p.feature, r.Target)
			if r.Moved != v.Moved {
				t.Errorf("the result says that %d copies move, %d do", r.Moved, v.Moved)
			}
			if err := checkCounts(row{p, map[string]*outcome{rollcallName: {verdict: v}}}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOthersGetTheSameInput looks at what only an input that was understood gives: with nothing changed the others leave
// everything where it is, and when members join they reach the least number of moves and even loads, too.
func TestOthersGetTheSameInput(t *testing.T) {
	small := sizes()[0]
	for _, p := range points() {
		if p.size != small || p.feature.name != plain {
			continue
		}
		in, err := p.input()
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSarama(&in)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []contestant{newFranz(&in, kgo.StickyBalancer()), newFranz(&in, kgo.CooperativeStickyBalancer()), s} {
			t.Run(c.name()+", "+p.String(), func(t *testing.T) {
				v := judge(&in, p.feature, attempted(t, c))
				if v.Unplaced > 0 || v.Spread > 1 || v.Moved != v.Least {
					t.Errorf("moved %d of at least %d, spread %d, unplaced %d", v.Moved, v.Least, v.Spread, v.Unplaced)
				}
			})
		}
	}
}

// TestFranzGetsRacks sees that the way in which racks are set still reaches the balancer.
func TestFranzGetsRacks(t *testing.T) {
	i := slices.IndexFunc(points(), func(p point) bool {
		return p.size == sizes()[0] && p.feature.policy == assignor.ZonePrefer && p.change.name == "10 % more join"
	})
	p := points()[i]
	in, err := p.input()
	if err != nil {
		t.Fatal(err)
	}
	with := judge(&in, p.feature, attempted(t, newFranz(&in, kgo.StickyBalancer())))
	blind := newFranz(&in, kgo.StickyBalancer())
	blind.racks = nil
	if without := judge(&in, p.feature, attempted(t, blind)); with.Quality <= without.Quality {
		t.Errorf("%.1f %% are at home with racks, %.1f %% without", with.Quality, without.Quality)
	}
}

func attempted(t *testing.T, c contestant) assignment {
	t.Helper()
	run, result := c.attempt()
	if err := run(); err != nil {
		t.Fatal(err)
	}
	target, err := result()
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestLeastMoves(t *testing.T) {
	in := assignor.Input{
		Topics: []assignor.Topic{{Name: "t", Partitions: 8}},
		Members: []assignor.Member{
			{Name: "a", Owned: []assignor.Ownership{{Topic: "t", Partitions: []int32{0, 1, 2, 3, 4}}}},
			{Name: "b", Owned: []assignor.Ownership{{Topic: "t", Partitions: []int32{5, 6, 7}}}},
			{Name: "c"},
		},
	}
	// Shares are 3, 3 and 2: a gives up two.
	if got := leastMoves(&in, previous(&in)); got != 2 {
		t.Errorf("got %d, want 2", got)
	}
}

func TestQualities(t *testing.T) {
	in := assignor.Input{
		Topics: []assignor.Topic{
			{Name: "t", Partitions: 2, Replicas: 3, Zones: []string{"x", "y"}, Weight: 2},
			{Name: "u", Partitions: 2, Replicas: 3, Zones: []string{"x", "y"}},
		},
		Members: []assignor.Member{{Name: "a", Zone: "x"}, {Name: "b", Zone: "x"}, {Name: "c", Zone: "y"}},
	}
	target := assignment{{{0, 0}, {1, 0}, {2, 2}}, {{0, 2}, {1, -1}, {2, 1}}}
	for q, want := range map[*quality]float64{
		&doubles:    1,  // t 1
		&zonesShort: 3,  // t 0, t 1, u 0
		&alignment:  50, // 0 of copy 0
		&atHome:     50, // of t copy 0 of 0, 1 of 0, 2 of 1; of u copy 0 of both, 1 of 0
		&variance:   (49+16+36)/3. - (17./3)*(17./3),
	} {
		if got := q.of(&in, target); got-want > 1e-9 || want-got > 1e-9 {
			t.Errorf("%s: got %v, want %v", q.name, got, want)
		}
	}
}
