package main

import (
	"fmt"

	"github.com/IBM/sarama"

	"github.com/rollcall-dev/rollcall/assignor"
)

// saramaSticky is sarama's sticky strategy. It gets each member's metadata decoded, with the previous assignment encoded
// in the user data; decoding that is measured.
type saramaSticky struct {
	in      *assignor.Input
	members map[string]sarama.ConsumerGroupMemberMetadata
	topics  map[string][]int32
	plan    sarama.BalanceStrategyPlan
}

func newSarama(in *assignor.Input) (*saramaSticky, error) {
	s := &saramaSticky{in: in, members: map[string]sarama.ConsumerGroupMemberMetadata{}, topics: map[string][]int32{}}
	for t := range in.Topics {
		for c := range max(int(in.Topics[t].Replicas), 1) {
			partitions := make([]int32, in.Topics[t].Partitions)
			for p := range partitions {
				partitions[p] = int32(p)
			}
			s.topics[topicName(&in.Topics[t], c)] = partitions
		}
	}
	for m, has := range owned(in) {
		metadata := sarama.ConsumerGroupMemberMetadata{Topics: subscription(in, m), GenerationID: generation}
		if len(has) > 0 {
			data, err := sarama.NewBalanceStrategySticky().AssignmentData(memberID(in, m), has, generation)
			if err != nil {
				return nil, fmt.Errorf("user data of member %s: %w", in.Members[m].Name, err)
			}
			metadata.UserData = data
		}
		s.members[memberID(in, m)] = metadata
	}
	return s, nil
}

func (*saramaSticky) name() string { return saramaName }

func (s *saramaSticky) attempt() (run func() error, result func() (assignment, error)) {
	strategy := sarama.NewBalanceStrategySticky()
	run = func() (err error) {
		s.plan, err = strategy.Plan(s.members, s.topics)
		return err
	}
	return run, func() (assignment, error) { return fromPlans(s.in, s.plan) }
}
