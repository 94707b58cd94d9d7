package assignor

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"
)

// shape bounds the inputs that are drawn, and says what they may contain.
type shape struct {
	members, topics, partitions, replicas int
	slots                                 int // total of partitions * replicas at most; 0: no bound

	subscriptions, weights, partitionWeights, capacities, away, pins, sets, allSets, zones bool
	policies                                                                               []ZonePolicy
}

var zoneNames = []string{"east", "west", "north"}

// draw makes an input of the shape. Owners are drawn at random, most of them valid.
func (sh shape) draw(t *rapid.T) Input {
	in := Input{Topics: sh.drawTopics(t), Members: sh.drawMembers(t)}
	if len(sh.policies) > 0 {
		in.ZonePolicy = rapid.SampledFrom(sh.policies).Draw(t, "policy")
	}
	sh.drawOwners(t, in)
	return in
}

func (sh shape) drawTopics(t *rapid.T) []Topic {
	var topics []Topic
	left := sh.slots
	for i := range rapid.IntRange(1, sh.topics).Draw(t, "topics") {
		topic := Topic{
			Name:       fmt.Sprintf("t%02d", i),
			Partitions: int32(rapid.IntRange(1, sh.partitions).Draw(t, "partitions")),
			Replicas:   int32(rapid.IntRange(0, sh.replicas).Draw(t, "replicas")),
		}
		if sh.sets && i > 0 && (sh.allSets || rapid.Bool().Draw(t, "in set")) {
			topic.Partitions, topic.Replicas = topics[0].Partitions, topics[0].Replicas
			topic.CoPartition, topics[0].CoPartition = "set", "set"
		}
		if left -= int(topic.Partitions * max(topic.Replicas, 1)); sh.slots > 0 && left < 0 && i > 0 {
			break
		}
		if sh.weights {
			topic.Weight = int64(rapid.IntRange(0, 4).Draw(t, "weight"))
		}
		if sh.partitionWeights && rapid.Bool().Draw(t, "weights") {
			for range topic.Partitions {
				topic.Weights = append(topic.Weights, int64(rapid.IntRange(0, 9).Draw(t, "weight of one")))
			}
		}
		if sh.zones {
			topic.Zones = rapid.SliceOfN(rapid.SampledFrom(zoneNames), 0, 3).Draw(t, "homes")
		}
		topics = append(topics, topic)
	}
	return topics
}

func (sh shape) drawMembers(t *rapid.T) []Member {
	var members []Member
	for i := range rapid.IntRange(1, sh.members).Draw(t, "members") {
		m := Member{Name: fmt.Sprintf("m%02d", i), Capacity: 1}
		if sh.capacities {
			m.Capacity = int64(rapid.SampledFrom([]int{0, 1, 1, 1, 2, 3}).Draw(t, "capacity"))
		}
		if sh.subscriptions && rapid.Bool().Draw(t, "subscribes to some") {
			for j := range sh.topics {
				if rapid.Bool().Draw(t, "subscribes") {
					m.Topics = append(m.Topics, fmt.Sprintf("t%02d", j))
				}
			}
		}
		if sh.away {
			m.Away = rapid.SampledFrom([]bool{false, false, true}).Draw(t, "away")
		}
		if sh.zones {
			m.Zone = rapid.SampledFrom(zoneNames).Draw(t, "zone")
		}
		members = append(members, m)
	}
	return members
}

// drawOwners deals the copies to members at random, now and then to none; of sets mostly whole slots.
func (sh shape) drawOwners(t *rapid.T, in Input) {
	first := map[string][]int{} // coPartition -> owners drawn for its first topic
	for _, topic := range in.Topics {
		n := int(topic.Partitions * max(topic.Replicas, 1))
		owners := rapid.SliceOfN(rapid.IntRange(-1, len(in.Members)-1), n, n).Draw(t, "owners of "+topic.Name)
		if known, ok := first[topic.CoPartition]; ok && topic.CoPartition != "" && (topic.Replicas > 1 || rapid.IntRange(0, 3).Draw(t, "apart") > 0) {
			owners = known
		}
		first[topic.CoPartition] = owners
		for i, m := range owners {
			c, p := i/int(topic.Partitions), i%int(topic.Partitions)
			if m < 0 || hasPartition(owners, int(topic.Partitions), c, p) {
				continue
			}
			claim := Ownership{Topic: topic.Name, Copy: int32(c), Partitions: []int32{int32(p)}, Token: 1}
			member := &in.Members[m]
			member.Owned = append(member.Owned, claim)
			if sh.pins && rapid.IntRange(0, 4).Draw(t, "pin") == 0 {
				member.Pinned = append(member.Pinned, claim)
			}
		}
	}
}

// hasPartition says whether the owner of a copy owns a lower copy of the same partition.
func hasPartition(owners []int, parts, c, p int) bool {
	for lower := range c {
		if owners[lower*parts+p] == owners[c*parts+p] {
			return true
		}
	}
	return false
}

// ownersOf gives the owner of each copy, -1 for none, in the shape of a target. Claims must not contradict each other.
func ownersOf(in Input) [][][]int32 {
	owners := make([][][]int32, len(in.Topics))
	for t, topic := range in.Topics {
		for range max(topic.Replicas, 1) {
			owners[t] = append(owners[t], filled(topic.Partitions, -1))
		}
	}
	for m, member := range in.Members {
		for _, o := range member.Owned {
			t := slices.IndexFunc(in.Topics, func(t Topic) bool { return t.Name == o.Topic })
			if t < 0 || int(o.Copy) >= len(owners[t]) {
				continue
			}
			for _, p := range o.Partitions {
				if p < in.Topics[t].Partitions {
					owners[t][o.Copy][p] = int32(m)
				}
			}
		}
	}
	return owners
}
