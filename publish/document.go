package publish

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// documentOf is the member's assignment as its process reads it, without published.
func documentOf(member *v1alpha1.GroupMember, group *v1alpha1.ConsumerGroup, standing *v1alpha1.AssignmentDocument) v1alpha1.AssignmentDocument {
	status := &member.Status
	assignment := status.Assignment
	if assignment == nil {
		assignment = &v1alpha1.MemberAssignment{}
	}
	topics := topicTable(group, standing)
	return v1alpha1.AssignmentDocument{
		Group:           member.Spec.Group,
		Member:          nameOf(member),
		MemberID:        status.MemberID,
		Revision:        status.Revision,
		TopicPartitions: topics.list(assignment.TopicPartitions),
		Pending:         topics.list(status.Pending),
		Revoking:        topics.list(revokedFrom(status)),
		State:           assignment.State,
		Token:           assignment.Token,
	}
}

// revokedFrom is what was taken from the present memberID; what was taken from a former one is not this process's.
func revokedFrom(status *v1alpha1.GroupMemberStatus) []v1alpha1.TopicPartitions {
	var revoked []v1alpha1.TopicPartitions
	for i := range status.Revoking {
		if status.Revoking[i].MemberID == status.MemberID {
			revoked = append(revoked, status.Revoking[i].TopicPartitions...)
		}
	}
	return revoked
}

// topicFacts is what the document says of a topic as a whole.
type topicFacts struct {
	partitions int32
	copies     bool
}

type topics map[string]topicFacts

// topicTable knows the group's topics. One that was taken out of the group while the member still holds some of it is known
// from the document that stands.
func topicTable(group *v1alpha1.ConsumerGroup, standing *v1alpha1.AssignmentDocument) topics {
	table := topics{}
	for _, list := range [][]v1alpha1.DocumentPartitions{standing.TopicPartitions, standing.Pending, standing.Revoking} {
		for i := range list {
			table[list[i].Topic] = topicFacts{partitions: list[i].Of, copies: list[i].Copy != nil}
		}
	}
	for i := range group.Spec.Topics {
		topic := &group.Spec.Topics[i]
		table[topic.Name] = topicFacts{partitions: topic.Partitions, copies: topic.Replicas > 1}
	}
	return table
}

// list turns a status's list into a document's: in the order of topic, copy and token, never absent.
func (t topics) list(held []v1alpha1.TopicPartitions) []v1alpha1.DocumentPartitions {
	list := make([]v1alpha1.DocumentPartitions, 0, len(held))
	for i := range held {
		list = append(list, t.partitions(&held[i]))
	}
	slices.SortStableFunc(list, func(a, b v1alpha1.DocumentPartitions) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(copyOf(a), copyOf(b)), cmp.Compare(a.Token, b.Token))
	})
	return list
}

func (t topics) partitions(held *v1alpha1.TopicPartitions) v1alpha1.DocumentPartitions {
	facts := t[held.Topic]
	entry := v1alpha1.DocumentPartitions{
		Topic:      held.Topic,
		Of:         facts.partitions,
		Partitions: append([]int32{}, held.Partitions...),
		Token:      held.Token,
	}
	if facts.partitions == 0 && len(held.Partitions) > 0 {
		// Nobody knows the topic any more: the least count that these numbers prove, so that a reader may divide by it.
		entry.Of = slices.Max(held.Partitions) + 1
	}
	if facts.copies || held.Copy > 0 {
		entry.Copy = &held.Copy
	}
	return entry
}

func copyOf(entry v1alpha1.DocumentPartitions) int32 {
	if entry.Copy == nil {
		return 0
	}
	return *entry.Copy
}

// parse reads the document that stands in an annotation. What cannot be read counts as nothing and is written anew.
func parse(text string) v1alpha1.AssignmentDocument {
	var document v1alpha1.AssignmentDocument
	if text == "" || json.Unmarshal([]byte(text), &document) != nil {
		return v1alpha1.AssignmentDocument{}
	}
	return document
}

func marshal(document *v1alpha1.AssignmentDocument) string {
	text, err := json.Marshal(document)
	if err != nil {
		panic(fmt.Sprintf("encode the assignment document of %s: %v", document.MemberID, err))
	}
	return string(text)
}
