package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/rollcall-dev/rollcall/assignor"
)

// generation is that in which the members got what they own.
const generation = 7

// franz is one of franz-go's group balancers. It gets what a group leader gets: each member's join metadata. Decoding
// that is not measured, balancing is; the sticky balancer decodes the user data with the previous assignment in it.
type franz struct {
	in       *assignor.Input
	balancer kgo.GroupBalancer
	members  []kmsg.JoinGroupResponseMember
	topics   map[string]int32
	racks    map[string][]string // with zonePolicy Prefer: topic -> partition -> home zone
	plan     *kgo.BalancePlan
}

func newFranz(in *assignor.Input, balancer kgo.GroupBalancer) *franz {
	f := &franz{in: in, balancer: balancer, topics: map[string]int32{}}
	for t := range in.Topics {
		topic := &in.Topics[t]
		for c := range max(int(topic.Replicas), 1) {
			f.topics[topicName(topic, c)] = topic.Partitions
		}
		if in.ZonePolicy == assignor.ZonePrefer {
			f.addRacks(topic)
		}
	}
	f.join(owned(in))
	return f
}

func (f *franz) addRacks(topic *assignor.Topic) {
	if f.racks == nil {
		f.racks = map[string][]string{}
	}
	racks := make([]string, topic.Partitions)
	for p := range racks {
		racks[p] = topic.Zones[p%len(topic.Zones)]
	}
	f.racks[topicName(topic, 0)] = racks
}

// join encodes the members' metadata, as each would send it.
func (f *franz) join(owned []map[string][]int32) {
	f.members = f.members[:0]
	for m := range f.in.Members {
		member := kmsg.NewJoinGroupResponseMember()
		member.MemberID = memberID(f.in, m)
		member.InstanceID = &f.in.Members[m].Name
		member.ProtocolMetadata = f.metadata(m, owned[m])
		f.members = append(f.members, member)
	}
}

func (f *franz) metadata(m int, owned map[string][]int32) []byte {
	interests := subscription(f.in, m)
	slices.Sort(interests)
	metadata := f.balancer.JoinGroupMetadata(interests, owned, generation)
	if f.racks == nil {
		return metadata
	}
	var decoded kmsg.ConsumerMemberMetadata
	if err := decoded.ReadFrom(metadata); err != nil {
		panic(fmt.Sprintf("metadata made by franz-go does not decode: %v", err))
	}
	decoded.Rack = &f.in.Members[m].Zone
	return decoded.AppendTo(nil)
}

func (f *franz) name() string { return "franz-go " + f.balancer.ProtocolName() }

func (f *franz) attempt() (run func() error, result func() (assignment, error)) {
	balancer, _, err := f.balancer.MemberBalancer(f.members)
	if err == nil && f.racks != nil {
		err = setRacks(balancer, f.racks)
	}
	run = func() error {
		if err != nil {
			return err
		}
		f.plan, err = balance(balancer, f.topics)
		return err
	}
	return run, f.settled
}

func balance(b kgo.GroupMemberBalancer, topics map[string]int32) (*kgo.BalancePlan, error) {
	failing, ok := b.(kgo.GroupMemberBalancerOrError)
	if !ok {
		return nil, errors.New("franz-go's balancer has another shape than expected")
	}
	into, err := failing.BalanceOrError(topics)
	if err != nil {
		return nil, fmt.Errorf("balance: %w", err)
	}
	plan, ok := into.(*kgo.BalancePlan)
	if !ok {
		return nil, fmt.Errorf("franz-go's plan is a %T", into)
	}
	return plan, nil
}

// settled is the assignment at which the group comes to rest. The cooperative balancer holds back what has to be revoked
// first, and balances again when it has been.
func (f *franz) settled() (assignment, error) {
	for {
		target, err := fromPlans(f.in, f.plan.AsMemberIDMap())
		if err != nil || !f.balancer.IsCooperative() || unplaced(target) == 0 {
			return target, err
		}
		again := *f
		again.members = nil
		again.join(plans(f.in, target))
		run, _ := again.attempt()
		if err := run(); err != nil {
			return nil, err
		}
		next, err := fromPlans(f.in, again.plan.AsMemberIDMap())
		if err != nil {
			return nil, err
		}
		if unplaced(next) >= unplaced(target) {
			return next, nil
		}
		f.plan = again.plan
	}
}

// setRacks tells the balancer the partitions' racks, as a client with the BalanceRacks option does before it balances.
// There is no public way without a client that is connected to brokers.
func setRacks(b kgo.GroupMemberBalancer, racks map[string][]string) error {
	for name, value := range map[string]any{"balanceRacks": true, "partitionRacks": racks} {
		field := reflect.Indirect(reflect.ValueOf(b)).FieldByName(name)
		if !field.IsValid() || field.Type() != reflect.TypeOf(value) {
			return fmt.Errorf("franz-go's balancer has no %s any more: see how its client sets racks now", name)
		}
		reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
	}
	return nil
}
