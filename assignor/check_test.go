package assignor

import (
	"math"
	"strings"
	"testing"
)

func TestNonsense(t *testing.T) {
	topic := func(change func(*Topic)) Input {
		in := Input{Topics: []Topic{{Name: "t1", Partitions: 2}}, Members: []Member{{Name: "a", Capacity: 1}}}
		change(&in.Topics[0])
		return in
	}
	tests := []struct {
		name  string
		in    Input
		wants string
	}{
		{"topic without a name", topic(func(t *Topic) { t.Name = "" }), "no name"},
		{"negative partitions", topic(func(t *Topic) { t.Partitions = -1 }), `topic "t1": -1 partitions`},
		{"negative replicas", topic(func(t *Topic) { t.Replicas = -2 }), "-2 replicas"},
		{"negative weight", topic(func(t *Topic) { t.Weight = -3 }), "weight -3"},
		{"negative weight of a partition", topic(func(t *Topic) { t.Weights = []int64{1, -4} }), "weight -4 of partition 1"},
		{"too few weights", topic(func(t *Topic) { t.Weights = []int64{1} }), "1 weights for 2 partitions"},
		{"too many copies", topic(func(t *Topic) { t.Partitions, t.Replicas = math.MaxInt32, math.MaxInt32 }), "copies in all"},
		{"too much load", topic(func(t *Topic) { t.Weight = math.MaxInt64 }), "the load of all topics"},
		{"too much load in all", topic(func(t *Topic) { t.Weights = []int64{math.MaxInt64, math.MaxInt64} }), "the load of all topics"},
		{"topic given twice", Input{Topics: []Topic{{Name: "t2"}, {Name: "t1"}, {Name: "t2"}}}, `topic "t2": the name is given twice`},
		{"member given twice", Input{Members: []Member{{Name: "a"}, {Name: "b"}, {Name: "a"}}}, `member "a": the name is given twice`},
		{"member without a name", Input{Members: []Member{{Capacity: 1}}}, "no name"},
		{"negative capacity", Input{Members: []Member{{Name: "a", Capacity: -1}}}, `member "a": capacity -1`},
		{"unknown zone policy", Input{ZonePolicy: "Sometimes"}, `zone policy "Sometimes"`},
		{"set of unequal partitions", Input{Topics: []Topic{
			{Name: "t1", Partitions: 2, CoPartition: "s"}, {Name: "t2", Partitions: 3, CoPartition: "s"},
		}}, "2 and 3 partitions must be equal"},
		{"set of unequal replicas", Input{Topics: []Topic{
			{Name: "t1", Partitions: 2, CoPartition: "s"}, {Name: "t2", Partitions: 2, Replicas: 2, CoPartition: "s"},
		}}, "1 and 2 replicas must be equal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"sticky", "range", "roundrobin"} {
				assign, ok := ByName(name)
				if !ok {
					t.Fatalf("no assignor %q", name)
				}
				if _, err := assign(tt.in); err == nil || !strings.Contains(err.Error(), tt.wants) {
					t.Errorf("%s: error %v, want %q in it", name, err, tt.wants)
				}
			}
		})
	}
	if _, ok := ByName("cooperative"); ok {
		t.Error("found an assignor that does not exist")
	}
}

// The greatest numbers that are allowed must not overflow anything.
func TestGreatestNumbers(t *testing.T) {
	in := Input{
		Topics: []Topic{{Name: "t1", Partitions: 4, Weight: 1 << 57}, {Name: "t2", Partitions: 4, Weight: 1}},
		Members: []Member{
			{Name: "a", Capacity: math.MaxInt64},
			{Name: "b", Capacity: math.MaxInt64 - 1},
			{Name: "c", Capacity: 1, Owned: []Ownership{{Topic: "t1", Partitions: []int32{0, 1, 2, 3}}}},
		},
	}
	r, err := Sticky(in)
	if err != nil {
		t.Fatal(err)
	}
	if r.Loads[0]+r.Loads[1] != 4<<57+4 || r.Loads[2] != 0 {
		t.Errorf("loads %v", r.Loads)
	}
	if r.Loads[0] < 2<<57 || r.Loads[1] < 2<<57 {
		t.Errorf("loads %v are not even", r.Loads)
	}
}
