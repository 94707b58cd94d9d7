package main

import (
	"fmt"
	"slices"

	"github.com/rollcall-dev/rollcall/assignor"
)

// size is how much is shared out among how many. The partitions are those of all topics and copies together.
type size struct {
	members, partitions int
	single              bool // as few topics as the input allows: one, or two where they have to differ
}

func (s size) String() string {
	return fmt.Sprintf("%dx%d, %s", s.members, s.partitions, s.topics())
}

func (s size) topics() string {
	if s.single {
		return "single topic"
	}
	return "topics of 100"
}

// sizes are all that is measured, with topics of 100 partitions and as a single topic.
func sizes() []size {
	var all []size
	for _, s := range []size{{members: 100, partitions: 1000}, {members: 1000, partitions: 10000}, {members: 2000, partitions: 100000}, {members: 100, partitions: 100000}} {
		all = append(all, s, size{members: s.members, partitions: s.partitions, single: true})
	}
	return all
}

// point is one input of the benchmark.
type point struct {
	size    size
	feature *feature
	change  change
}

func (p point) String() string {
	return fmt.Sprintf("%s, %s, %s", p.size, p.feature.name, p.change.name)
}

// change is what has happened to a group since it was in balance.
type change struct {
	name  string
	apply func(in *assignor.Input, member func(i int) assignor.Member)
}

// changes are all that plain inputs go through; some is what the others do.
func changes() []change {
	return []change{
		{"fresh", func(in *assignor.Input, _ func(int) assignor.Member) {
			for i := range in.Members {
				in.Members[i].Owned = nil
			}
		}},
		{"one leaves", func(in *assignor.Input, _ func(int) assignor.Member) {
			in.Members = append(in.Members[:len(in.Members)/2:len(in.Members)/2], in.Members[len(in.Members)/2+1:]...)
		}},
		{"10 % more join", func(in *assignor.Input, member func(int) assignor.Member) {
			n := len(in.Members)
			for i := range n / 10 {
				in.Members = append(in.Members, member(n+i))
			}
		}},
		{"one joins", func(in *assignor.Input, member func(int) assignor.Member) {
			in.Members = append(in.Members, member(len(in.Members)))
		}},
		{"all restart", func(*assignor.Input, func(int) assignor.Member) {}},
	}
}

// some is how many of the changes, the first, all inputs go through.
const some = 3

// points lists every point, size by size.
func points() []point {
	var all []point
	for _, s := range sizes() {
		features := features()
		for i := range features {
			list := changes()
			if features[i].name != plain {
				list = list[:some]
			}
			for _, c := range list {
				all = append(all, point{size: s, feature: &features[i], change: c})
			}
		}
	}
	return all
}

// input makes the point's input. What is held before the change is the sticky assignor's fresh result.
func (p point) input() (assignor.Input, error) {
	in := p.feature.input(p.size)
	member := func(i int) assignor.Member { return p.feature.member(i, in.Topics) }
	for i := range p.size.members {
		in.Members = append(in.Members, member(i))
	}
	r, err := assignor.Sticky(in)
	if err != nil {
		return in, fmt.Errorf("fresh assignment of %v: %w", p, err)
	}
	hold(&in, r.Target)
	p.change.apply(&in, member)
	return in, nil
}

// hold makes the target what the members own: member by member, as lists come that have been read from somewhere.
func hold(in *assignor.Input, target assignment) {
	partitions := plans(in, target)
	for m := range in.Members {
		var list []assignor.Ownership
		for t := range in.Topics {
			for c := range target[t] {
				if has := partitions[m][topicName(&in.Topics[t], c)]; len(has) > 0 {
					list = append(list, assignor.Ownership{
						Topic: in.Topics[t].Name, Copy: int32(c), Partitions: slices.Clone(has), Token: 1,
					})
				}
			}
		}
		in.Members[m].Owned = list
	}
}
