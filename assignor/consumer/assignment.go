package consumer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/rollcall-dev/rollcall/assignor"
)

// TopicPartitions are partitions of one topic.
type TopicPartitions struct {
	Topic      string
	Partitions []int32
}

// EncodeAssignment writes an Assignment of version 0, topics and partitions in the order given.
func EncodeAssignment(assigned []TopicPartitions) []byte {
	wire := kmsg.NewConsumerMemberAssignment()
	for _, a := range assigned {
		topic := kmsg.NewConsumerMemberAssignmentTopic()
		topic.Topic, topic.Partitions = a.Topic, a.Partitions
		wire.Topics = append(wire.Topics, topic)
	}
	return wire.AppendTo(nil)
}

// ParseAssignment reads an Assignment of any version, topics and partitions as they stand there. No bytes at all are an
// empty assignment. An error says that these are not the bytes of an Assignment.
func ParseAssignment(state []byte) ([]TopicPartitions, error) {
	if len(state) == 0 {
		return nil, nil
	}
	var wire kmsg.ConsumerMemberAssignment
	if err := wire.ReadFrom(state); err != nil {
		return nil, fmt.Errorf("read an Assignment from %d bytes: %w", len(state), err)
	}
	if wire.Version < 0 {
		return nil, fmt.Errorf("an Assignment of version %d: there is none below 0", wire.Version)
	}
	var assigned []TopicPartitions
	for i := range wire.Topics {
		assigned = append(assigned, TopicPartitions{Topic: wire.Topics[i].Topic, Partitions: wire.Topics[i].Partitions})
	}
	return assigned, nil
}

// Assignments are the bytes for each member of the input, by name; who is given nothing gets an empty Assignment.
// Topics stand in the order of their names, partitions in that of their numbers, whatever copies they are of.
func Assignments(in assignor.Input, result assignor.Result) map[string][]byte {
	assigned := make([][]TopicPartitions, len(in.Members))
	for t, copies := range result.Target {
		for _, row := range copies {
			for partition, member := range row {
				if member >= 0 {
					assigned[member] = add(assigned[member], in.Topics[t].Name, int32(partition))
				}
			}
		}
	}
	answers := make(map[string][]byte, len(in.Members))
	for m, list := range assigned {
		for i := range list {
			slices.Sort(list[i].Partitions)
		}
		slices.SortFunc(list, func(a, b TopicPartitions) int { return cmp.Compare(a.Topic, b.Topic) })
		answers[in.Members[m].Name] = EncodeAssignment(list)
	}
	return answers
}

// add a partition; those of one topic come one after another.
func add(list []TopicPartitions, topic string, partition int32) []TopicPartitions {
	if n := len(list); n > 0 && list[n-1].Topic == topic {
		list[n-1].Partitions = append(list[n-1].Partitions, partition)
		return list
	}
	return append(list, TopicPartitions{Topic: topic, Partitions: []int32{partition}})
}
