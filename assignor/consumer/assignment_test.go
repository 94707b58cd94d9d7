package consumer_test

import (
	"encoding/hex"
	"reflect"
	"testing"

	"github.com/rollcall-dev/rollcall/assignor"
	"github.com/rollcall-dev/rollcall/assignor/consumer"
)

func TestEncodeAssignment(t *testing.T) {
	got := hex.EncodeToString(consumer.EncodeAssignment([]consumer.TopicPartitions{{Topic: "t", Partitions: []int32{0}}}))
	if want := "0000" + "00000001" + "000174" + "00000001" + "00000000" + "ffffffff"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseAssignment(t *testing.T) {
	want := []consumer.TopicPartitions{{Topic: "b", Partitions: []int32{2, 1}}, {Topic: "a", Partitions: []int32{0}}}
	got, err := consumer.ParseAssignment(consumer.EncodeAssignment(want))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v (%v)", got, err)
	}
	for name, state := range map[string]string{"half": "0000 0000", "negative version": "8000 00000000 ffffffff", "too many": "0000 00ffffff"} {
		if got, err := consumer.ParseAssignment(bytesOf(t, state)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
	if got, err := consumer.ParseAssignment(nil); err != nil || len(got) != 0 {
		t.Errorf("no bytes: %+v (%v)", got, err)
	}
}

// Copies of all indexes stand in one list, topics and partitions in order.
func TestAssignmentsOfReplicas(t *testing.T) {
	in := assignor.Input{
		Topics:  []assignor.Topic{{Name: "z", Partitions: 1}, {Name: "a", Partitions: 2, Replicas: 2}},
		Members: []assignor.Member{{Name: "x", Capacity: 1}, {Name: "y", Capacity: 1}, {Name: "none", Capacity: 0}},
	}
	result := assignor.Result{Target: [][][]int32{{{1}}, {{1, 0}, {0, 1}}}}
	for name, want := range map[string][]consumer.TopicPartitions{
		"x":    {{Topic: "a", Partitions: []int32{0, 1}}},
		"y":    {{Topic: "a", Partitions: []int32{0, 1}}, {Topic: "z", Partitions: []int32{0}}},
		"none": nil,
	} {
		got, err := consumer.ParseAssignment(consumer.Assignments(in, result)[name])
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is given %+v (%v), want %+v", name, got, err, want)
		}
	}
}
