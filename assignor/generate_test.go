package assignor

import (
	"fmt"
	"math/rand/v2"
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

// choice makes the choices of which an input is made: a number between two, both included.
type choice interface {
	between(low, high int, what string) int
}

type rapidChoice struct{ t *rapid.T }

func (c rapidChoice) between(low, high int, what string) int {
	return rapid.IntRange(low, high).Draw(c.t, what)
}

type randomChoice struct{ r *rand.Rand }

func (c randomChoice) between(low, high int, _ string) int { return low + c.r.IntN(high-low+1) }

func seededChoice(seed int) choice { return randomChoice{rand.New(rand.NewPCG(uint64(seed), 1))} }

var zoneNames = []string{"east", "west", "north"}

// draw makes an input of the shape. Owners are drawn at random, most of them valid.
func (sh shape) draw(t *rapid.T) Input { return sh.choose(rapidChoice{t}) }

// example is the same input of the shape for the same seed. Unlike rapid it draws great numbers as often as small ones.
func (sh shape) example(seed int) Input { return sh.choose(seededChoice(seed)) }

func (sh shape) choose(t choice) Input {
	in := Input{Topics: sh.drawTopics(t), Members: sh.drawMembers(t)}
	if len(sh.policies) > 0 {
		in.ZonePolicy = sh.policies[t.between(0, len(sh.policies)-1, "policy")]
	}
	sh.drawOwners(t, in)
	return in
}

func (sh shape) drawTopics(t choice) []Topic {
	var topics []Topic
	left := sh.slots
	for i := range t.between(1, sh.topics, "topics") {
		topic := Topic{
			Name:       fmt.Sprintf("t%02d", i),
			Partitions: int32(t.between(1, sh.partitions, "partitions")),
			Replicas:   int32(t.between(0, sh.replicas, "replicas")),
		}
		if sh.sets && i > 0 && (sh.allSets || (t.between(0, 1, "in set") == 1)) {
			topic.Partitions, topic.Replicas = topics[0].Partitions, topics[0].Replicas
			topic.CoPartition, topics[0].CoPartition = "set", "set"
		}
		if left -= int(topic.Partitions * max(topic.Replicas, 1)); sh.slots > 0 && left < 0 && i > 0 {
			break
		}
		if sh.weights {
			topic.Weight = int64(t.between(0, 4, "weight"))
		}
		if sh.partitionWeights && (t.between(0, 1, "weights") == 1) {
			for range topic.Partitions {
				topic.Weights = append(topic.Weights, int64(t.between(0, 9, "weight of one")))
			}
		}
		if sh.zones {
			for range t.between(0, 3, "homes") {
				topic.Zones = append(topic.Zones, zoneNames[t.between(0, 2, "home")])
			}
		}
		topics = append(topics, topic)
	}
	return topics
}

func (sh shape) drawMembers(t choice) []Member {
	var members []Member
	for i := range t.between(1, sh.members, "members") {
		m := Member{Name: fmt.Sprintf("m%02d", i), Capacity: 1}
		if sh.capacities {
			m.Capacity = []int64{1, 1, 1, 2, 3, 0}[t.between(0, 5, "capacity")]
		}
		if sh.subscriptions && (t.between(0, 1, "subscribes to some") == 1) {
			for j := range sh.topics {
				if t.between(0, 1, "subscribes") == 1 {
					m.Topics = append(m.Topics, fmt.Sprintf("t%02d", j))
				}
			}
		}
		if sh.away {
			m.Away = t.between(0, 2, "away") == 2
		}
		if sh.zones {
			m.Zone = zoneNames[t.between(0, 2, "zone")]
		}
		members = append(members, m)
	}
	return members
}

// drawOwners deals the copies to members at random, now and then to none; of sets mostly whole slots.
func (sh shape) drawOwners(t choice, in Input) {
	first := map[string][]int{} // coPartition -> owners drawn for its first topic
	for _, topic := range in.Topics {
		n := int(topic.Partitions * max(topic.Replicas, 1))
		owners := make([]int, n)
		for i := range owners {
			owners[i] = t.between(-1, len(in.Members)-1, "owner")
		}
		if known, ok := first[topic.CoPartition]; ok && topic.CoPartition != "" && (topic.Replicas > 1 || t.between(0, 3, "apart") > 0) {
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
			if sh.pins && t.between(0, 4, "pin") == 0 {
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
