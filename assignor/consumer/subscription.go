package consumer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/rollcall-dev/rollcall/assignor"
)

// NoGeneration is the generation of a subscription that does not say in which one its member owned what it owns.
const NoGeneration = -1

// Subscription is what a consumer says when it joins.
type Subscription struct {
	// Topics it wants to read. Without any it takes no partition.
	Topics []string
	// Owned is what it holds still (version 1 and later, or a sticky client's user data).
	Owned []assignor.Ownership
	// Generation in which it held that (version 2 and later, or a sticky client's user data); NoGeneration when unknown.
	Generation int32
	// Rack it runs in (version 3); empty when it does not say.
	Rack string
	// UserData is the client's own.
	UserData []byte
}

// ParseSubscription reads the metadata of one member. Of a version later than 3 it reads what version 3 has, as Kafka
// does. An error says that these are not the bytes of a Subscription.
func ParseSubscription(metadata []byte) (Subscription, error) {
	var wire kmsg.ConsumerMemberMetadata
	if err := wire.ReadFrom(metadata); err != nil {
		return Subscription{}, fmt.Errorf("read a Subscription from %d bytes: %w", len(metadata), err)
	}
	if wire.Version < 0 {
		return Subscription{}, fmt.Errorf("a Subscription of version %d: there is none below 0", wire.Version)
	}
	s := Subscription{Topics: wire.Topics, Generation: NoGeneration, UserData: wire.UserData}
	if wire.Version >= 2 {
		s.Generation = wire.Generation
	}
	for i := range wire.OwnedPartitions {
		s.own(wire.OwnedPartitions[i].Topic, wire.OwnedPartitions[i].Partitions)
	}
	s.tokens()
	if wire.Rack != nil {
		s.Rack = *wire.Rack
	}
	return s, nil
}

// ReadStickyUserData takes what the member owns from its user data: clients of Kafka's "sticky" assignor, unlike those of
// "cooperative-sticky", say it there. An error says that the user data is of another kind; nothing is changed then.
func (s *Subscription) ReadStickyUserData() error {
	var wire kmsg.StickyMemberMetadata
	if err := wire.ReadFrom(s.UserData); err != nil {
		return fmt.Errorf("read what a sticky client owns from %d bytes of user data: %w", len(s.UserData), err)
	}
	s.Owned, s.Generation = nil, wire.Generation
	for i := range wire.CurrentAssignment {
		s.own(wire.CurrentAssignment[i].Topic, wire.CurrentAssignment[i].Partitions)
	}
	s.tokens()
	return nil
}

func (s *Subscription) own(topic string, partitions []int32) {
	if len(partitions) > 0 {
		s.Owned = append(s.Owned, assignor.Ownership{Topic: topic, Partitions: partitions})
	}
}

// tokens makes the generation decide between two members that claim one partition: the later owner is right. A claim of
// no known generation yields to every other.
func (s *Subscription) tokens() {
	for i := range s.Owned {
		s.Owned[i].Token = int64(s.Generation)
	}
}

// Member is the subscription as an assignor sees it. A consumer without topics is parked: to an assignor no topics would
// mean all of them.
func (s *Subscription) Member(name string) assignor.Member {
	m := assignor.Member{Name: name, Topics: s.Topics, Zone: s.Rack, Capacity: 1, Owned: s.Owned}
	if len(s.Topics) == 0 {
		m.Capacity = 0
	}
	return m
}

// Members reads the metadata of all members, by name, in the order of their names. The error names the first whose bytes
// are not those of a Subscription.
func Members(metadata map[string][]byte) ([]assignor.Member, error) {
	members := make([]assignor.Member, 0, len(metadata))
	for _, name := range slices.Sorted(maps.Keys(metadata)) {
		s, err := ParseSubscription(metadata[name])
		if err != nil {
			return nil, fmt.Errorf("member %q: %w", name, err)
		}
		members = append(members, s.Member(name))
	}
	return members, nil
}
