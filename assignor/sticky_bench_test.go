package assignor

import (
	"fmt"
	"testing"
)

func benchInput(members, partitions, topicSize int) Input {
	var in Input
	for i := range partitions / topicSize {
		in.Topics = append(in.Topics, Topic{Name: fmt.Sprintf("topic-%04d", i), Partitions: int32(topicSize)})
	}
	for i := range members {
		in.Members = append(in.Members, Member{Name: fmt.Sprintf("member-%04d", i), Capacity: 1})
	}
	return in
}

// holding is the input with the result as what is held.
func holding(in Input, r Result) Input {
	members := append([]Member(nil), in.Members...)
	for i := range members {
		members[i].Owned = nil
	}
	for t := range r.Target {
		for c := range r.Target[t] {
			claims := map[int32]int{}
			for p, m := range r.Target[t][c] {
				if m < 0 {
					continue
				}
				i, ok := claims[m]
				if !ok {
					i = len(members[m].Owned)
					claims[m] = i
					members[m].Owned = append(members[m].Owned, Ownership{Topic: in.Topics[t].Name, Copy: int32(c), Token: 1})
				}
				members[m].Owned[i].Partitions = append(members[m].Owned[i].Partitions, int32(p))
			}
		}
	}
	in.Members = members
	return in
}

func BenchmarkSticky(b *testing.B) {
	for _, size := range []struct{ members, partitions, topic int }{{100, 1000, 100}, {1000, 10000, 100}, {2000, 100000, 100}, {100, 100000, 100}, {100, 100000, 100000}, {2000, 100000, 100000}} {
		fresh := benchInput(size.members, size.partitions, size.topic)
		r, err := Sticky(fresh)
		if err != nil {
			b.Fatal(err)
		}
		held := holding(fresh, r)
		leave := held
		leave.Members = held.Members[1:]
		join := held
		join.Members = append(append([]Member(nil), held.Members...), Member{Name: "new", Capacity: 1})
		more := join
		for i := range size.members / 10 {
			more.Members = append(more.Members, Member{Name: fmt.Sprintf("new-%d", i), Capacity: 1})
		}
		for _, c := range []struct {
			name string
			in   Input
		}{{"fresh", fresh}, {"leave", leave}, {"join", join}, {"more", more}, {"steady", held}} {
			b.Run(fmt.Sprintf("%dx%d/topics of %d/%s", size.members, size.partitions, size.topic, c.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Sticky(c.in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
