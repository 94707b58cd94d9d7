package assignor

import (
	"fmt"
	"slices"
	"testing"
)

// Known faults of other assignors, as cases that must not happen here.

func members(n int) []Member {
	var list []Member
	for i := range n {
		list = append(list, Member{Name: fmt.Sprintf("m%02d", i), Capacity: 1})
	}
	return list
}

// dividedBy counts how many partitions of each topic each member has.
func dividedBy(in Input, r Result) [][]int {
	counts := make([][]int, len(in.Topics))
	for t := range r.Target {
		counts[t] = make([]int, len(in.Members))
		for _, m := range r.Target[t][0] {
			counts[t][m]++
		}
	}
	return counts
}

func sticky(t *testing.T, in Input) Result {
	t.Helper()
	r, err := Sticky(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Two topics of 18 partitions over nine members: some had four of one topic and none of the other, from the start or
// after the ninth had joined (confluentinc/librdkafka#4044).
func TestTwoTopicsOverNineMembers(t *testing.T) {
	eight := Input{Topics: []Topic{{Name: "t1", Partitions: 18}, {Name: "t2", Partitions: 18}}, Members: members(8)}
	joined := holding(eight, sticky(t, eight))
	joined.Members = append(joined.Members, Member{Name: "m08", Capacity: 1})
	for name, test := range map[string]struct {
		in    Input
		moved int
	}{
		"from the start":  {in: Input{Topics: eight.Topics, Members: members(9)}},
		"the ninth joins": {in: joined, moved: 4},
	} {
		r := sticky(t, test.in)
		if r.Moved != test.moved {
			t.Errorf("%s: moved %d, want %d", name, r.Moved, test.moved)
		}
		for topic, counts := range dividedBy(test.in, r) {
			if slices.ContainsFunc(counts, func(n int) bool { return n != 2 }) {
				t.Errorf("%s: topic %d is divided as %v", name, topic, counts)
			}
		}
	}
}

// One member has all of two topics, a second joins: it was given one topic whole, the first kept the other (KAFKA-16277).
func TestASecondMemberGetsHalfOfEachTopic(t *testing.T) {
	for _, partitions := range []int32{2, 3, 10, 101} {
		in := Input{Topics: []Topic{{Name: "t1", Partitions: partitions}, {Name: "t2", Partitions: partitions}}, Members: members(1)}
		in = holding(in, sticky(t, in))
		in.Members = append(in.Members, Member{Name: "second", Capacity: 1})
		r := sticky(t, in)
		if r.Moved != int(partitions) {
			t.Errorf("%d partitions: moved %d", partitions, r.Moved)
		}
		for topic, counts := range dividedBy(in, r) {
			if d := counts[0] - counts[1]; d < -1 || d > 1 {
				t.Errorf("%d partitions: topic %d is divided as %v", partitions, topic, counts)
			}
		}
	}
}

// A test whether an assignment is balanced already was wrong itself, so that with unequal subscriptions the search went on
// where nothing was left to find, and rebalances ran into their timeout (KAFKA-15106). Balanced is what cannot be made
// more even: here the proof by flows says so, and a second run, which finds everything done, moves nothing.
func TestBalancedIsSeenAsBalanced(t *testing.T) {
	in := Input{Members: members(20)}
	for i := range 10 {
		in.Topics = append(in.Topics, Topic{Name: fmt.Sprintf("t%02d", i), Partitions: 20})
	}
	for i := range in.Members {
		for j := range in.Topics {
			if j != i%10 {
				in.Members[i].Topics = append(in.Members[i].Topics, in.Topics[j].Name)
			}
		}
	}
	r := sticky(t, in)
	if d := spreadOf(r.Loads); d > 0 {
		t.Errorf("loads %v", r.Loads)
	}
	if err := provenBest(in); err != nil {
		t.Error(err)
	}
	in = holding(in, r)
	if again := sticky(t, in); again.Moved != 0 {
		t.Errorf("a balanced assignment moves %d more", again.Moved)
	}
	// One that reads a single small topic has less than all others, and nothing can be done about it.
	in.Topics = append(in.Topics, Topic{Name: "small", Partitions: 1})
	in.Members = append(in.Members, Member{Name: "narrow", Topics: []string{"small"}, Capacity: 1})
	r = sticky(t, in)
	if r.Moved != 0 || r.Loads[20] != 1 {
		t.Errorf("moved %d, the narrow one has %d", r.Moved, r.Loads[20])
	}
}

// Two members come back and both say that they own the same partitions, one of an earlier generation: neither loses more
// than it must, and no partition has two owners (KAFKA-12984).
func TestTwoThatOwnTheSame(t *testing.T) {
	claim := func(name string, token int64) Member {
		m := owns(name, map[string][]int32{"t": {0, 1, 2}})
		m.Owned[0].Token = token
		return m
	}
	for name, test := range map[string]struct {
		members []Member
		keeps   int
	}{
		"the later generation is right":            {[]Member{claim("a", 3), claim("b", 7)}, 1},
		"whatever the order of names":              {[]Member{claim("a", 7), claim("b", 3)}, 0},
		"of the same generation the first by name": {[]Member{claim("a", 7), claim("b", 7)}, 0},
	} {
		in := Input{Topics: []Topic{{Name: "t", Partitions: 6}}, Members: test.members}
		r := sticky(t, in)
		for p := range 3 {
			if got := r.Target[0][0][p]; int(got) != test.keeps {
				t.Errorf("%s: partition %d goes to member %d", name, p, got)
			}
		}
		if r.Moved != 0 || spreadOf(r.Loads) != 0 {
			t.Errorf("%s: moved %d, loads %v", name, r.Moved, r.Loads)
		}
	}
}
