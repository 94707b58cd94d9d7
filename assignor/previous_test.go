package assignor

import (
	"reflect"
	"testing"
)

func TestPreviousOwners(t *testing.T) {
	claim := func(topic string, c int32, token int64, partitions ...int32) Ownership {
		return Ownership{Topic: topic, Copy: c, Partitions: partitions, Token: token}
	}
	topics := []Topic{{Name: "t1", Partitions: 2}, {Name: "t2", Partitions: 2, Replicas: 2}}
	tests := []struct {
		name    string
		members []Member
		shares  string
		ignored []Ignored
	}{{
		name: "the newer token is right",
		members: []Member{
			{Name: "a", Capacity: 1, Owned: []Ownership{claim("t1", 0, 5, 0), claim("t1", 0, 7, 1)}},
			{Name: "b", Capacity: 1, Owned: []Ownership{claim("t1", 0, 6, 0, 1)}},
		},
		shares:  "a: t1:1 t2:0/0 t2:1/1; b: t1:0 t2:0/1 t2:1/0; ",
		ignored: []Ignored{{0, 1, OwnedByOther}, {1, 1, OwnedByOther}},
	}, {
		name: "of equal tokens the first by name is right",
		members: []Member{
			{Name: "b", Capacity: 1, Owned: []Ownership{claim("t1", 0, 5, 0)}},
			{Name: "a", Capacity: 1, Owned: []Ownership{claim("t1", 0, 5, 0)}},
		},
		shares:  "b: t1:1 t2:0/1 t2:1/0; a: t1:0 t2:0/0 t2:1/1; ",
		ignored: []Ignored{{0, 1, OwnedByOther}},
	}, {
		name: "of two copies of one partition a member owns the one with the newer token",
		members: []Member{
			{Name: "a", Capacity: 1, Owned: []Ownership{claim("t2", 0, 5, 0), claim("t2", 1, 6, 0)}},
			{Name: "b", Capacity: 1, Owned: []Ownership{claim("t2", 0, 5, 1), claim("t2", 1, 5, 1)}},
		},
		shares:  "a: t1:0 t2:0/1 t2:1/1; b: t1:1 t2:0/0 t2:1/0; ",
		ignored: []Ignored{{0, 1, SecondCopy}, {1, 1, SecondCopy}},
	}, {
		name: "what does not exist is left out",
		members: []Member{
			{Name: "a", Capacity: 1, Owned: []Ownership{claim("t1", 0, 5, 1, 2, -1, 9), claim("t1", 1, 5, 0), claim("t9", 0, 5, 0, 1)}},
			{Name: "b", Capacity: 1, Pinned: []Ownership{claim("t1", 0, 0, 0, 7)}},
		},
		shares:  "a: t1:1 t2:0/0 t2:1/1; b: t1:0 t2:0/1 t2:1/0; ",
		ignored: []Ignored{{0, 4, OutOfRange}, {0, 2, UnknownTopic}, {1, 1, OutOfRange}, {1, 1, PinNotOwned}},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{Topics: topics, Members: tt.members}
			r, err := Sticky(in)
			if err != nil {
				t.Fatal(err)
			}
			if got := shares(in, r.Target); got != tt.shares {
				t.Errorf("got  %s\nwant %s", got, tt.shares)
			}
			if !reflect.DeepEqual(r.Ignored, tt.ignored) {
				t.Errorf("ignored %v, want %v", r.Ignored, tt.ignored)
			}
			if r.Moved != 0 {
				t.Errorf("moved %d", r.Moved)
			}
		})
	}
}
