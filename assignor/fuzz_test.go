package assignor

import (
	"fmt"
	"testing"
)

// bytesChoice makes choices by the bytes of a fuzzer; when they are used up, always the least.
type bytesChoice struct{ data []byte }

func (c *bytesChoice) between(low, high int, _ string) int {
	if len(c.data) == 0 {
		return low
	}
	b := c.data[0]
	c.data = c.data[1:]
	return low + int(b)%(high-low+1)
}

// spoil puts nonsense into an input.
func spoil(c choice, in Input) {
	for i := range in.Topics {
		t := &in.Topics[i]
		switch c.between(0, 15, "what is wrong with the topic") {
		case 1:
			t.Name = in.Topics[0].Name
		case 2:
			t.Partitions = int32(c.between(-1, 1, "partitions"))
		case 3:
			t.Replicas = int32(c.between(-1, 100, "replicas"))
		case 4:
			t.Weight = -1
		case 5:
			t.Weights = append(t.Weights, 1)
		case 6:
			t.CoPartition = "set"
		case 7:
			t.Weight = 1 << 61
		}
	}
	for i := range in.Members {
		m := &in.Members[i]
		wrong := Ownership{
			Topic: fmt.Sprintf("t%02d", c.between(0, 7, "topic")), Copy: int32(c.between(-1, 3, "copy")),
			Partitions: []int32{int32(c.between(-1, 10, "partition")), int32(c.between(0, 3, "partition"))}, Token: int64(c.between(0, 3, "token")),
		}
		switch c.between(0, 9, "what is wrong with the member") {
		case 1:
			m.Name = in.Members[0].Name
		case 2:
			m.Capacity = -1
		case 3:
			m.Owned = append(m.Owned, wrong)
		case 4:
			m.Pinned = append(m.Pinned, wrong)
		case 5:
			m.Topics = append(m.Topics, "t00", "t00", "nothing")
		case 6:
			m.Owned, m.Pinned = append(m.Owned, wrong), append(m.Pinned, wrong)
		case 7:
			m.Capacity = 1 << 62
		}
	}
}

// Whatever the input, nothing panics: there is an error, or a result of the right shape that breaks no rule that can be
// checked without knowing who is right about contradicting claims.
func FuzzAssignors(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("two topics, some members and replicas"))
	for seed := range 40 {
		data := make([]byte, 200)
		c := seededChoice(seed)
		for i := range data {
			data[i] = byte(c.between(0, 255, "byte"))
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &bytesChoice{data}
		in := everything.choose(c)
		spoil(c, in)
		for _, name := range []string{"sticky", "range", "roundrobin"} {
			assign, _ := ByName(name)
			r, err := assign(in)
			if err != nil {
				continue
			}
			checkShape(t, in, r)
		}
	})
}

func checkShape(t *testing.T, in Input, r Result) {
	if len(r.Target) != len(in.Topics) || len(r.Loads) != len(in.Members) {
		t.Fatalf("%d topics, %d members; %d targets, %d loads", len(in.Topics), len(in.Members), len(r.Target), len(r.Loads))
	}
	for i, topic := range in.Topics {
		if len(r.Target[i]) != int(max(topic.Replicas, 1)) {
			t.Fatalf("%s: %d copies of %d", topic.Name, len(r.Target[i]), topic.Replicas)
		}
		for c, row := range r.Target[i] {
			if len(row) != int(topic.Partitions) {
				t.Fatalf("%s: %d partitions of %d", topic.Name, len(row), topic.Partitions)
			}
			for p, m := range row {
				if m < -1 || int(m) >= len(in.Members) {
					t.Fatalf("%s: partition %d goes to %d", topic.Name, p, m)
				}
				for _, other := range r.Target[i][:c] {
					if m >= 0 && other[p] == m {
						t.Fatalf("%s: two copies of partition %d at %d", topic.Name, p, m)
					}
				}
			}
		}
	}
}
