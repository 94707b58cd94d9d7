package assignor

import "testing"

// Where each zone has one copy of each partition, solving zone by zone agrees with the general way on what the first five
// goals are about.
func TestZonalAndGeneralAgree(t *testing.T) {
	sh := shape{members: 12, topics: 3, partitions: 5, replicas: 3, capacities: true, away: true, zones: true}
	zonal := 0
	for seed := range 2000 {
		c := seededChoice(seed)
		in := Input{Topics: sh.drawTopics(c), Members: sh.drawMembers(c), ZonePolicy: ZoneSpread}
		zones := c.between(1, 3, "zones")
		for i := range in.Topics {
			in.Topics[i].Replicas = int32(zones)
		}
		for i := range in.Members {
			in.Members[i].Zone = zoneNames[c.between(0, zones-1, "zone")]
		}
		sh.drawOwners(c, in)
		p, err := newProblem(&in)
		if err != nil {
			t.Fatal(err)
		}
		z := solveZonal(p)
		if z == nil {
			continue
		}
		if zones > 1 {
			zonal++
		}
		short, err := judge(in, p.target(z.slots()))
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
	if zonal < 50 {
		t.Errorf("only %d of the inputs with several zones could be solved zone by zone", zonal)
	}
}
