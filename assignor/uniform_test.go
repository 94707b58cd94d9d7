package assignor

import "testing"

// The short way must not be given up where it leads to the end: without replicas always.
func TestUniformIsSolvedShort(t *testing.T) {
	for seed := range 300 {
		in := shape{members: 30, topics: 8, partitions: 60, replicas: 1, capacities: true, away: true}.example(seed)
		present := false
		for _, m := range in.Members {
			present = present || (m.Capacity > 0 && !m.Away)
		}
		p, err := newProblem(&in)
		if err != nil {
			t.Fatal(err)
		}
		if present != (solveUniform(p) != nil) {
			t.Fatalf("seed %d: members that can take anything: %v; solved: %v", seed, present, !present)
		}
	}
}

// Both ways agree on what the first five goals are about.
func TestUniformAndGeneralAgree(t *testing.T) {
	for seed := range 300 {
		in := shape{members: 12, topics: 6, partitions: 20, replicas: 3, capacities: true, away: true, pins: true}.example(seed)
		p, err := newProblem(&in)
		if err != nil {
			t.Fatal(err)
		}
		u := solveUniform(p)
		if u == nil {
			continue
		}
		short, err := judge(in, p.target(p.copiesOf(u.assign)))
		if err != nil {
			t.Fatal(err)
		}
		long, err := judge(in, p.target(solveGeneral(p)))
		if err != nil {
			t.Fatal(err)
		}
		if short.first(4) != long.first(4) {
			t.Fatalf("seed %d: %+v, %+v", seed, short, long)
		}
	}
}
