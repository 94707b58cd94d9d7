package main

import (
	"fmt"

	"github.com/rollcall-dev/rollcall/assignor"
)

// feature is a kind of input: what its topics and members are like.
type feature struct {
	name string
	// exact: subscriptions and weights are equal and no zone comes before the load, so that the least number of moves
	// is known and no two loads need differ by more than one.
	exact bool
	// blind: the others do not look at what is asked for, and so do less.
	blind bool
	// topics makes the topics of a group: parts is how many partitions each is to have, n how many topics.
	topics func(s size) []assignor.Topic
	policy assignor.ZonePolicy
	// change makes the i-th member, which subscribes to everything, what it is to be.
	change func(m *assignor.Member, i int, topics []assignor.Topic)
	// quality is the further figure that tells how well an assignment does what the input asks for.
	quality *quality
}

const (
	plain    = "plain" // the input without any feature
	replicas = 3
)

var zones = []string{"zone-a", "zone-b", "zone-c"}

func features() []feature {
	return []feature{
		{name: plain, exact: true},
		{name: "zones, Prefer", exact: true, policy: assignor.ZonePrefer, topics: homed, change: inZone, quality: &atHome},
		{name: "replicas 3", exact: true, blind: true, topics: replicated, quality: &doubles},
		{name: "replicas 3, zones, Spread", blind: true, policy: assignor.ZoneSpread, topics: replicated, change: inZone, quality: &zonesShort},
		{name: "two subscriptions", topics: atLeastTwo, change: halfSubscribeToHalf, quality: &variance},
		{name: "many subscriptions", topics: atLeastTwo, change: mixedSubscription, quality: &variance},
		{name: "weights 1 to 5", blind: true, topics: weighted, quality: &variance},
		{name: "co-partitioned pairs", blind: true, topics: paired, quality: &alignment},
	}
}

// input is the input without members.
func (f *feature) input(s size) assignor.Input {
	topics := plainTopics
	if f.topics != nil {
		topics = f.topics
	}
	return assignor.Input{Topics: topics(s), ZonePolicy: f.policy}
}

func (f *feature) member(i int, topics []assignor.Topic) assignor.Member {
	m := assignor.Member{Name: fmt.Sprintf("member-%04d", i), Capacity: 1}
	if f.change != nil {
		f.change(&m, i, topics)
	}
	return m
}

func plainTopics(s size) []assignor.Topic {
	if s.single {
		return evenTopics(1, s.partitions)
	}
	return evenTopics(s.partitions/100, 100)
}

func evenTopics(n, partitions int) []assignor.Topic {
	topics := make([]assignor.Topic, n)
	for i := range topics {
		topics[i] = assignor.Topic{Name: fmt.Sprintf("topic-%04d", i), Partitions: int32(partitions)}
	}
	return topics
}

func atLeastTwo(s size) []assignor.Topic {
	if s.single {
		return evenTopics(2, s.partitions/2)
	}
	return plainTopics(s)
}

func homed(s size) []assignor.Topic {
	topics := plainTopics(s)
	for i := range topics {
		topics[i].Zones = zones
	}
	return topics
}

// replicated keeps the number of copies near that of the other inputs.
func replicated(s size) []assignor.Topic {
	topics := plainTopics(s)
	for i := range topics {
		topics[i].Partitions /= replicas
		topics[i].Replicas = replicas
	}
	return topics
}

// weighted gives topics different weights; a single topic gets them by partition.
func weighted(s size) []assignor.Topic {
	topics := plainTopics(s)
	for i := range topics {
		topics[i].Weight = int64(1 + i%5)
	}
	if !s.single {
		return topics
	}
	topics[0].Weights = make([]int64, topics[0].Partitions)
	for i := range topics[0].Weights {
		topics[0].Weights[i] = int64(1 + i%5)
	}
	return topics
}

func paired(s size) []assignor.Topic {
	topics := atLeastTwo(s)
	for i := range topics {
		topics[i].CoPartition = fmt.Sprintf("set-%04d", i/2)
	}
	return topics
}

func inZone(m *assignor.Member, i int, _ []assignor.Topic) { m.Zone = zones[i%len(zones)] }

// halfSubscribeToHalf lets every second member subscribe to every second topic only.
func halfSubscribeToHalf(m *assignor.Member, i int, topics []assignor.Topic) {
	for t := range topics {
		if i%2 == 0 || t%2 == 0 {
			m.Topics = append(m.Topics, topics[t].Name)
		}
	}
}

// mixedSubscription lets nearly every member subscribe to topics of its own, four in five of all. Of two topics one in
// five members lacks the first, and one in five the second.
func mixedSubscription(m *assignor.Member, i int, topics []assignor.Topic) {
	for t := range topics {
		if len(topics) == 2 && i%5 == t || len(topics) > 2 && hash(i, t)%5 == 0 {
			continue
		}
		m.Topics = append(m.Topics, topics[t].Name)
	}
}

// hash mixes two small numbers: reproducible, without a pattern.
func hash(a, b int) uint64 {
	h := uint64(a)*0x9e3779b97f4a7c15 ^ uint64(b)*0xc2b2ae3d27d4eb4f
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	return h ^ h>>32
}
