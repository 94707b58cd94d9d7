package assignor

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// classicShape has only what Kafka's classic assignors know.
var classicShape = shape{members: 9, topics: 6, partitions: 12, replicas: 1, subscriptions: true}

func subscribesTo(m Member, topic string) bool {
	return len(m.Topics) == 0 || slices.Contains(m.Topics, topic)
}

// classicRange is Kafka's rule, written down plainly: of each topic the i-th of k subscribers gets n/k partitions from
// i*(n/k)+min(i, n mod k) on, and one more if i < n mod k.
func classicRange(in Input) [][][]int32 {
	var target [][][]int32
	for _, topic := range in.Topics {
		var subscribers []int32
		for m := range in.Members {
			if subscribesTo(in.Members[m], topic.Name) {
				subscribers = append(subscribers, int32(m))
			}
		}
		row := filled(topic.Partitions, -1)
		n, k := int(topic.Partitions), len(subscribers)
		for i, m := range subscribers {
			start, length := n/k*i+min(i, n%k), n/k
			if i+1 <= n%k {
				length++
			}
			for p := start; p < start+length; p++ {
				row[p] = m
			}
		}
		target = append(target, [][]int32{row})
	}
	return target
}

// classicRoundRobin is Kafka's rule: a circle of all members, an iterator that goes round it.
func classicRoundRobin(in Input) [][][]int32 {
	var target [][][]int32
	next := 0
	for _, topic := range in.Topics {
		row := filled(topic.Partitions, -1)
		anybody := slices.ContainsFunc(in.Members, func(m Member) bool { return subscribesTo(m, topic.Name) })
		for p := range row {
			for anybody && !subscribesTo(in.Members[next], topic.Name) {
				next = (next + 1) % len(in.Members)
			}
			if anybody {
				row[p] = int32(next)
				next = (next + 1) % len(in.Members)
			}
		}
		target = append(target, [][]int32{row})
	}
	return target
}

func TestClassic(t *testing.T) {
	for name, plain := range map[string]func(Input) [][][]int32{"range": classicRange, "roundrobin": classicRoundRobin} {
		assign, _ := ByName(name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				in := classicShape.draw(t)
				r, err := assign(in)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := fmt.Sprint(r.Target), fmt.Sprint(plain(in)); got != want {
					t.Fatalf("got  %s\nwant %s", got, want)
				}
			})
		})
	}
}

func TestRangeAndRoundRobin(t *testing.T) {
	sized := func(name string, partitions, replicas int32) Topic {
		return Topic{Name: name, Partitions: partitions, Replicas: replicas}
	}
	set := func(name string) Topic { return Topic{Name: name, Partitions: 3, CoPartition: "set"} }
	three := []Member{owns("a", nil), owns("b", nil), owns("c", nil)}
	tests := []struct {
		name              string
		in                Input
		byRange, byRounds string
	}{{
		name:     "two topics of three partitions over two members",
		in:       Input{Topics: []Topic{sized("t0", 3, 1), sized("t1", 3, 1)}, Members: three[:2]},
		byRange:  "a: t0:0 t0:1 t1:0 t1:1; b: t0:2 t1:2; ",
		byRounds: "a: t0:0 t0:2 t1:1; b: t0:1 t1:0 t1:2; ",
	}, {
		name: "unequal subscriptions",
		in: Input{
			Topics:  []Topic{sized("t0", 1, 1), sized("t1", 2, 1), sized("t2", 3, 1)},
			Members: []Member{owns("a", nil).subscribed("t0"), owns("b", nil).subscribed("t0", "t1"), owns("c", nil)},
		},
		byRange:  "a: t0:0; b: t1:0; c: t1:1 t2:0 t2:1 t2:2; ",
		byRounds: "a: t0:0; b: t1:0; c: t1:1 t2:0 t2:1 t2:2; ",
	}, {
		name:     "copies go to the next members",
		in:       Input{Topics: []Topic{sized("t0", 3, 2)}, Members: three},
		byRange:  "a: t0:0/0 t0:2/1; b: t0:0/1 t0:1/0; c: t0:1/1 t0:2/0; ",
		byRounds: "a: t0:0/0 t0:1/1; b: t0:0/1 t0:2/0; c: t0:1/0 t0:2/1; ",
	}, {
		name: "sets are divided among who subscribes to all of them",
		in: Input{
			Topics:  []Topic{set("t0"), sized("t1", 1, 1), set("t2")},
			Members: []Member{owns("a", nil), owns("b", nil).subscribed("t0", "t1"), owns("c", nil)},
		},
		byRange:  "a: t0:0 t0:1 t1:0 t2:0 t2:1; b:; c: t0:2 t2:2; ",
		byRounds: "a: t0:0 t0:2 t2:0 t2:2; b: t1:0; c: t0:1 t2:1; ",
	}, {
		name: "parked and away members, and pins",
		in: Input{Topics: []Topic{sized("t0", 6, 1)}, Members: []Member{
			owns("a", map[string][]int32{"t0": {0}}).nowAway(), owns("b", nil),
			owns("c", map[string][]int32{"t0": {5}}).withCapacity(0).allPinned(), owns("d", nil),
		}},
		byRange:  "a: t0:0; b: t0:1 t0:2 t0:3; c: t0:5; d: t0:4; ",
		byRounds: "a: t0:0; b: t0:1 t0:3; c: t0:5; d: t0:2 t0:4; ",
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for name, want := range map[string]string{"range": tt.byRange, "roundrobin": tt.byRounds} {
				assign, _ := ByName(name)
				r, err := assign(tt.in)
				if err != nil {
					t.Fatal(err)
				}
				if got := shares(tt.in, r.Target); got != want {
					t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
				}
			}
		})
	}
}
