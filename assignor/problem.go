package assignor

import (
	"slices"
	"strings"
)

// group is what is handed out together: a topic, or the topics of a coPartition set.
//
// Copy c of partition p of a group is a slot; its number is slot + c*parts + p. Of each topic of the group a slot has
// one copy; the number of the j-th topic's is copies + (j*replicas+c)*parts + p. Without sets slots and copies are the same.
type group struct {
	topics          []int32 // in the order of names
	parts, replicas int32
	slot, copies    int32
	weight          int64   // load of a slot, if weights is nil
	weights         []int64 // load of a slot, by partition
	homes           []int32 // with zonePolicy Prefer: partition i is at home in zone homes[i mod len(homes)]
}

// problem is an input with numbers in place of names. Members, topics and groups are numbered in the order of their
// names, so that the order of the input cannot matter.
type problem struct {
	in      *Input
	members []int32 // number in the order of names -> index in the input
	topics  []int32
	number  map[string]int32 // topic name -> number
	groups  []group
	groupOf []int32 // topic -> group
	copies  []int32 // topic -> number of its copy 0 of partition 0
	nCopies int32
	nSlots  int32
	paired  bool // some group has more than one topic

	capacity []int64
	away     []bool
	anyAway  bool
	zone     []int32 // member -> number of its zone
	nZones   int32
	zones    map[string]int32 // name -> number
	spread   bool

	held    []int32 // copy -> previous owner or -1
	pinned  []bool  // copy; nil without pins
	ignored []ignored

	subscriptions
}

// newProblem checks the input and numbers it.
func newProblem(in *Input) (*problem, error) {
	p := &problem{in: in, spread: in.ZonePolicy == ZoneSpread}
	if err := checkPolicy(in.ZonePolicy); err != nil {
		return nil, err
	}
	if err := p.numberMembers(); err != nil {
		return nil, err
	}
	if err := p.numberTopics(); err != nil {
		return nil, err
	}
	if err := p.formGroups(); err != nil {
		return nil, err
	}
	p.subscribe()
	p.readPrevious()
	return p, nil
}

func (p *problem) numberMembers() error {
	in := p.in.Members
	for i := range in {
		if err := checkMember(&in[i]); err != nil {
			return err
		}
	}
	p.members = sorted(len(in), func(i int32) string { return in[i].Name })
	if err := checkNames("member", p.members, func(i int32) string { return in[i].Name }); err != nil {
		return err
	}
	p.capacity = make([]int64, len(in))
	p.away = make([]bool, len(in))
	for m, i := range p.members {
		p.capacity[m] = in[i].Capacity
		p.away[m] = in[i].Away
		p.anyAway = p.anyAway || in[i].Away
	}
	p.numberZones()
	return nil
}

// numberZones numbers the zones in the order of their first member.
func (p *problem) numberZones() {
	p.zone = make([]int32, len(p.members))
	if p.in.ZonePolicy == "" || p.in.ZonePolicy == ZoneIgnore {
		p.nZones = 1
		return
	}
	p.zones = map[string]int32{}
	for m, i := range p.members {
		z, ok := p.zones[p.in.Members[i].Zone]
		if !ok {
			z = int32(len(p.zones))
			p.zones[p.in.Members[i].Zone] = z
		}
		p.zone[m] = z
	}
	p.nZones = int32(len(p.zones))
}

func (p *problem) numberTopics() error {
	in := p.in.Topics
	for i := range in {
		if err := checkTopic(&in[i]); err != nil {
			return err
		}
	}
	if err := checkSizes(in); err != nil {
		return err
	}
	p.topics = sorted(len(in), func(i int32) string { return in[i].Name })
	if err := checkNames("topic", p.topics, func(i int32) string { return in[i].Name }); err != nil {
		return err
	}
	p.number = make(map[string]int32, len(in))
	for t, i := range p.topics {
		p.number[in[i].Name] = int32(t)
	}
	return nil
}

// sorted gives the indexes 0 to n-1 in the order of their names.
func sorted(n int, name func(int32) string) []int32 {
	order := make([]int32, n)
	inOrder := true
	for i := range order {
		order[i] = int32(i)
		inOrder = inOrder && (i == 0 || name(int32(i-1)) <= name(int32(i)))
	}
	if !inOrder {
		slices.SortFunc(order, func(a, b int32) int { return strings.Compare(name(a), name(b)) })
	}
	return order
}

// topic is the input's topic of that number.
func (p *problem) topic(t int32) *Topic { return &p.in.Topics[p.topics[t]] }

// formGroups makes a group of each topic that stands alone and of each coPartition set.
func (p *problem) formGroups() error {
	p.groupOf = make([]int32, len(p.topics))
	p.copies = make([]int32, len(p.topics))
	p.groups = make([]group, 0, len(p.topics))
	sets := map[string]int32{}
	single := make([]int32, len(p.topics)) // backs the lists of groups with one topic
	for t := range int32(len(p.topics)) {
		topic := p.topic(t)
		if g, ok := sets[topic.CoPartition]; ok && topic.CoPartition != "" {
			if err := checkSet(p.topic(p.groups[g].topics[0]), topic); err != nil {
				return err
			}
			p.groups[g].topics = append(p.groups[g].topics, t)
			p.groupOf[t] = g
			p.paired = true
			continue
		}
		g := int32(len(p.groups))
		if topic.CoPartition != "" {
			sets[topic.CoPartition] = g
		}
		single[t] = t
		p.groupOf[t] = g
		p.groups = append(p.groups, group{topics: single[t : t+1 : t+1], parts: topic.Partitions, replicas: replicas(topic)})
	}
	for g := range p.groups {
		p.layOut(&p.groups[g])
		if p.in.ZonePolicy == ZonePrefer {
			p.findHomes(&p.groups[g])
		}
	}
	return nil
}

// layOut numbers the slots and copies of the next group, and sums its loads.
func (p *problem) layOut(g *group) {
	g.slot, g.copies = p.nSlots, p.nCopies
	size := g.parts * g.replicas
	p.nSlots += size
	for _, t := range g.topics {
		p.copies[t] = p.nCopies
		p.nCopies += size
		topic := p.topic(t)
		g.weight += max(topic.Weight, 1)
		if topic.Weights != nil && g.weights == nil {
			g.weights = make([]int64, g.parts)
		}
	}
	if g.weights == nil {
		return
	}
	for part := range g.weights {
		for _, t := range g.topics {
			g.weights[part] += weightOf(p.topic(t), int32(part))
		}
	}
	if len(g.weights) > 0 && slices.Max(g.weights) == slices.Min(g.weights) {
		g.weight, g.weights = g.weights[0], nil
	}
}
