package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/assignor/consumer"
	"github.com/rollcall-dev/rollcall/test/sim"
)

// start begins a self-registered process.
func (w *simWorld) start(command *Command) error {
	spec := sim.ProcessSpec{Handle: command.Args[0], Acks: sim.AckAtOnce}
	spec.Member, _ = command.Get("member")
	spec.Host, _ = command.Get("host")
	spec.Zone, _ = command.Get("zone")
	if acks, given := command.Get("acks"); given {
		spec.Acks = sim.AckMode(acks)
	}
	if joins, _ := command.Get("joins"); joins == "manual" {
		spec.JoinsManually = true
	}
	w.offer(&spec, command)
	w.Start(w.group, spec)
	return nil
}

// offer gives a process what it may change later.
func (w *simWorld) offer(spec *sim.ProcessSpec, command *Command) {
	if topics, given := command.Get("topics"); given {
		spec.Topics = topicNames(topics)
	}
	if capacity, given := command.integer("capacity"); given {
		spec.Capacity = &capacity
	}
	if session, given := command.duration("session"); given {
		spec.SessionTimeout = lasting(session)
	}
	if rebalance, given := command.duration("rebalance"); given {
		spec.RebalanceTimeout = lasting(rebalance)
	}
	if protocols, given := command.Get("protocols"); given {
		spec.Protocols = w.parseProtocols(protocols)
	}
}

// parseProtocols reads "sticky:meta,range". The metadata is taken as it stands; of a group of type consumer it is a
// subscription to "t1+t2", with user data where there is an @: "t1+t2@text".
func (w *simWorld) parseProtocols(value string) []v1alpha1.MemberProtocol {
	var protocols []v1alpha1.MemberProtocol
	for _, part := range splitList(value) {
		name, metadata, _ := strings.Cut(part, ":")
		protocol := v1alpha1.MemberProtocol{Name: name, Metadata: []byte(metadata)}
		if w.speaksConsumer() {
			protocol.Metadata = subscription(metadata)
		}
		protocols = append(protocols, protocol)
	}
	return protocols
}

func (w *simWorld) speaksConsumer() bool {
	group := sim.Get[*v1alpha1.ConsumerGroup](w.Store, w.group)
	return group != nil && group.Spec.ProtocolType == "consumer"
}

// subscription of version 0.
func subscription(text string) []byte {
	topics, userData, given := strings.Cut(text, "@")
	wire := kmsg.NewConsumerMemberMetadata()
	wire.Topics = slices.DeleteFunc(strings.Split(topics, "+"), func(topic string) bool { return topic == "" })
	if given {
		wire.UserData = []byte(userData)
	}
	return wire.AppendTo(nil)
}

// sync sends what the leader says of the members, by name or handle. Of a group of type consumer "t1:0-2,t2:5" is an Assignment.
func (w *simWorld) sync(command *Command) error {
	process := w.Process(command.Args[0])
	if process == nil {
		return fmt.Errorf("nobody was started as %s", command.Args[0])
	}
	states, view := map[string][]byte{}, w.View()
	for _, option := range command.Options {
		if option.Key == "error" {
			return process.Sync(nil, option.Value)
		}
		id := option.Key // Nobody's, as it may be.
		if member := view.member(w.group, option.Key); member != nil {
			id = member.Status.MemberID
		}
		states[id] = w.state(option.Value)
	}
	return process.Sync(states, "")
}

func (w *simWorld) state(value string) []byte {
	list, err := parsePartitions(value)
	if !w.speaksConsumer() || err != nil || len(list) == 0 {
		return []byte(value)
	}
	byTopic := map[string][]int32{}
	for one := range list {
		byTopic[one.topic] = append(byTopic[one.topic], one.number)
	}
	var assigned []consumer.TopicPartitions
	for _, topic := range slices.Sorted(maps.Keys(byTopic)) {
		slices.Sort(byTopic[topic])
		assigned = append(assigned, consumer.TopicPartitions{Topic: topic, Partitions: byTopic[topic]})
	}
	return consumer.EncodeAssignment(assigned)
}

// update changes what a process offers.
func (w *simWorld) update(command *Command) error {
	process := w.Process(command.Args[0])
	if process == nil {
		return fmt.Errorf("nobody was started as %s", command.Args[0])
	}
	return process.Update(func(spec *sim.ProcessSpec) { w.offer(spec, command) })
}

// removeMember deletes a GroupMember by hand.
func (w *simWorld) removeMember(command *Command) error {
	view := w.View()
	member := view.member(w.group, command.Args[0])
	if member == nil {
		return fmt.Errorf("there is no member %s", command.Args[0])
	}
	_, err := w.Store.Delete(sim.Person, sim.KeyFor(sim.KindGroupMember, member.Name), sim.Precondition{})
	return err
}
