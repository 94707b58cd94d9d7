package explore

import (
	"flag"
	"testing"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

var tellAll = flag.Bool("traces", false, "print the trace by which each mutation is found")

// A trial is a small exploration in which a broken rule must show, and the sound rules must not.
type trial struct {
	mutation string
	setup    setup
}

var trials = []trial{
	{"acknowledged by generation", setup{
		policy: v1alpha1.HandoverExclusive, kinds: all(agent), initial: []string{"a", "b", "c"}, partitions: 4,
		script: []event{{silent, "c"}, {scaledAway, "a"}, {backAgain, "c"}},
	}},
	{"granted before it is free", setup{
		policy: v1alpha1.HandoverExclusive, kinds: all(agent), initial: []string{"a"}, partitions: 2, script: []event{{joins, "b"}},
	}},
	{"no touch before another's plan is followed", setup{
		policy: v1alpha1.HandoverAvailable, kinds: all(agent), initial: []string{"a", "b"}, partitions: 1, ties: true, faults: 1,
		script: []event{{scaledAway, "a"}, {joins, "c"}},
	}},
	{"any plan of the generation will do", setup{
		policy: v1alpha1.HandoverAvailable, kinds: all(agent), initial: []string{"a", "b"}, partitions: 2, ties: true, faults: 1,
		script: []event{{grows, ""}, {planGoes, ""}},
	}},
	{"no touch after an unknown outcome", setup{
		policy: v1alpha1.HandoverAvailable, kinds: all(agent), initial: []string{"a", "b"}, partitions: 1, ties: true, faults: 1,
		script: []event{{scaledAway, "a"}, {joins, "c"}},
	}},
	{"deletion frees at once", setup{
		policy: v1alpha1.HandoverExclusive, kinds: all(registered), initial: []string{"a", "b"}, partitions: 2, script: []event{{removed, "a"}},
	}},
	{"touched for the newest plan only", setup{
		policy: v1alpha1.HandoverAvailable, kinds: all(agent), initial: []string{"a", "b"}, partitions: 1, ties: true, faults: 2,
		only: []stepKind{stepFreeze}, script: []event{{dies, "a"}, {joins, "c"}, {silent, "c"}, {backAgain, "c"}},
	}},
	{"a plan names by name alone", setup{
		policy: v1alpha1.HandoverAvailable, kinds: all(agent), initial: []string{"a"}, partitions: 1,
		script: []event{{removed, "a"}},
	}},
	{"a newer plan is finished when Down", setup{
		policy: v1alpha1.HandoverAvailable, kinds: all(agent), partitions: 1, faults: 1,
		script: []event{{joins, "a"}},
	}},
	{"back under the old token", setup{
		policy: v1alpha1.HandoverAvailable, kinds: all(agent), initial: []string{"a", "b"}, partitions: 2,
		script: []event{{silent, "a"}, {backAgain, "a"}},
	}},
}

func all(k kind) map[string]kind { return map[string]kind{"a": k, "b": k, "c": k} }

func TestMutationsAreFound(t *testing.T) {
	const limit = 3_000_000
	for _, trial := range trials {
		t.Run(trial.mutation, func(t *testing.T) {
			s := trial.setup
			s.events, s.together = len(s.script), true
			start, err := s.begin()
			if err != nil {
				t.Fatal(err)
			}
			if !testing.Short() {
				checkSound(t, start, limit)
			}
			s.mutation = mutations[trial.mutation]
			broken := shortest(start, limit)
			if broken.violation == nil {
				t.Fatalf("the broken rule was not found: %s", broken)
			}
			t.Logf("found after %d states, in %d steps", broken.states, len(broken.violation.lines))
			if *tellAll {
				t.Logf("%s", broken.violation)
			}
		})
	}
	if len(trials) < len(mutations) {
		t.Errorf("there are %d mutations and %d trials", len(mutations), len(trials))
	}
}

// checkSound: the same exploration with every rule in force finds nothing.
func checkSound(t *testing.T, start *world, limit int) {
	t.Helper()
	sound := shortest(start, limit)
	if sound.violation != nil {
		t.Fatalf("the sound rules break an invariant (%s):\n%s", sound, sound.violation)
	}
	if !sound.exhausted {
		t.Errorf("the sound rules were not walked to the end: %s", sound)
	}
	t.Logf("sound: %s", sound)
}
