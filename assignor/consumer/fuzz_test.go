package consumer_test

import (
	"bytes"
	"testing"

	"github.com/rollcall-dev/rollcall/assignor"
	"github.com/rollcall-dev/rollcall/assignor/consumer"
)

// FuzzSubscription: whatever bytes a member sends, they are refused or they make a member that every assignor takes.
func FuzzSubscription(f *testing.F) {
	for _, seed := range []string{
		"", "00", "0000 00000001 0001 74 ffffffff", "0001 00000001 0001 74 ffffffff 00000001 0001 74 00000001 00000000",
		"0002 00000001 0001 74 ffffffff 00000001 0001 74 00000001 80000000 7fffffff",
		"0003 00000001 0001 74 00000001 00 00000001 0001 74 00000001 00000000 00000007 0001 65",
	} {
		f.Add(bytesOf(f, seed))
	}
	topics := []assignor.Topic{{Name: "t", Partitions: 3, Replicas: 2}}
	f.Fuzz(func(t *testing.T, metadata []byte) {
		s, err := consumer.ParseSubscription(metadata)
		if err != nil {
			return
		}
		_ = s.ReadStickyUserData() // It may be anybody's.
		in := assignor.Input{Topics: topics, Members: []assignor.Member{s.Member("a"), {Name: "b", Capacity: 1}}}
		for _, name := range []string{"sticky", "range", "roundrobin"} {
			assign, _ := assignor.ByName(name)
			if _, err := assign(in); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// FuzzAssignment: what can be read can be written, and is then read the same.
func FuzzAssignment(f *testing.F) {
	f.Add(bytesOf(f, "0000 00000001 0001 74 00000001 00000000 ffffffff"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, state []byte) {
		first, err := consumer.ParseAssignment(state)
		if err != nil {
			return
		}
		written := consumer.EncodeAssignment(first)
		second, err := consumer.ParseAssignment(written)
		if err != nil || !bytes.Equal(written, consumer.EncodeAssignment(second)) {
			t.Errorf("read %+v, then %+v (%v)", first, second, err)
		}
	})
}
