package consumer_test

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/assignor"
	"github.com/rollcall-dev/rollcall/assignor/consumer"
)

func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestParseSubscription(t *testing.T) {
	owned := func(token int64) []assignor.Ownership {
		return []assignor.Ownership{{Topic: "t", Partitions: []int32{0, 2}, Token: token}}
	}
	const topicT, ownsT = "00000001 0001 74", "00000001 0001 74 00000002 00000000 00000002"
	tests := map[string]struct {
		metadata string
		want     consumer.Subscription
	}{
		"version 0, null user data": {"0000" + topicT + "ffffffff", consumer.Subscription{Topics: []string{"t"}, Generation: -1}},
		"version 0, user data": {
			"0000" + topicT + "00000002 abcd",
			consumer.Subscription{Topics: []string{"t"}, Generation: -1, UserData: []byte{0xab, 0xcd}},
		},
		"version 1 owns partitions": {
			"0001" + topicT + "ffffffff" + ownsT,
			consumer.Subscription{Topics: []string{"t"}, Owned: owned(-1), Generation: -1},
		},
		"version 2 says in which generation": {
			"0002" + topicT + "ffffffff" + ownsT + "00000007",
			consumer.Subscription{Topics: []string{"t"}, Owned: owned(7), Generation: 7},
		},
		"version 3 says where it runs": {
			"0003" + topicT + "ffffffff" + ownsT + "00000007 0004 65617374",
			consumer.Subscription{Topics: []string{"t"}, Owned: owned(7), Generation: 7, Rack: "east"},
		},
		"version 3 without a rack": {
			"0003" + topicT + "ffffffff 00000000 ffffffff ffff",
			consumer.Subscription{Topics: []string{"t"}, Generation: -1},
		},
		"a later version is read as version 3": {
			"0009" + topicT + "ffffffff 00000000 00000007 0001 65 0badcafe",
			consumer.Subscription{Topics: []string{"t"}, Generation: 7, Rack: "e"},
		},
		"no topics": {"0000 00000000 ffffffff", consumer.Subscription{Generation: -1}},
		"a topic without partitions": {
			"0001" + topicT + "ffffffff 00000001 0001 74 00000000", consumer.Subscription{Topics: []string{"t"}, Generation: -1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := consumer.ParseSubscription(bytesOf(t, test.metadata))
			if err != nil {
				t.Fatal(err)
			}
			if !same(got, test.want) {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// same takes empty for nil.
func same(a, b consumer.Subscription) bool {
	if len(a.Topics)+len(b.Topics) == 0 {
		a.Topics, b.Topics = nil, nil
	}
	if len(a.UserData)+len(b.UserData) == 0 {
		a.UserData, b.UserData = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

func TestGarbageIsNoSubscription(t *testing.T) {
	for name, metadata := range map[string]string{
		"nothing":                  "",
		"half a version":           "00",
		"a negative version":       "ffff 00000000 ffffffff",
		"more topics than bytes":   "0000 7fffffff 0001 74",
		"a topic cut short":        "0000 00000001 0010 74",
		"version 1, nothing owned": "0001 00000000 ffffffff",
	} {
		if got, err := consumer.ParseSubscription(bytesOf(t, metadata)); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
	_, err := consumer.Members(map[string][]byte{"b": {1}, "a": bytesOf(t, "0000 00000000 ffffffff"), "c": {2}})
	if err == nil || !strings.Contains(err.Error(), `member "b"`) {
		t.Errorf("the error does not name the member: %v", err)
	}
}

func TestStickyUserData(t *testing.T) {
	const ownsT = "00000001 0001 74 00000001 00000003"
	s, err := consumer.ParseSubscription(bytesOf(t, "0000 00000001 0001 74 00000013"+ownsT+"00000005"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ReadStickyUserData(); err != nil {
		t.Fatal(err)
	}
	want := []assignor.Ownership{{Topic: "t", Partitions: []int32{3}, Token: 5}}
	if !reflect.DeepEqual(s.Owned, want) || s.Generation != 5 {
		t.Errorf("owns %+v in generation %d", s.Owned, s.Generation)
	}
	s.UserData = []byte("not a sticky client's")
	if err := s.ReadStickyUserData(); err == nil || !reflect.DeepEqual(s.Owned, want) {
		t.Errorf("garbage: %v, owns %+v", err, s.Owned)
	}
}

// To Kafka a consumer without topics reads nothing; to an assignor a member without topics would read all.
func TestAConsumerWithoutTopicsIsGivenNothing(t *testing.T) {
	members, err := consumer.Members(map[string][]byte{
		"idle": bytesOf(t, "0000 00000000 ffffffff"), "busy": bytesOf(t, "0000 00000001 0001 74 ffffffff"),
	})
	if err != nil {
		t.Fatal(err)
	}
	in := assignor.Input{Topics: []assignor.Topic{{Name: "t", Partitions: 2}, {Name: "other", Partitions: 1}}, Members: members}
	result, err := assignor.Sticky(in)
	if err != nil {
		t.Fatal(err)
	}
	answers := consumer.Assignments(in, result)
	if got := hex.EncodeToString(answers["idle"]); got != "000000000000ffffffff" {
		t.Errorf("idle gets %s", got)
	}
	if got := hex.EncodeToString(answers["busy"]); got != "0000"+"00000001"+"000174"+"00000002"+"00000000"+"00000001"+"ffffffff" {
		t.Errorf("busy gets %s", got)
	}
}

// A member that was away comes back with what it owned two generations ago; another owns it now.
func TestTheLaterGenerationOwns(t *testing.T) {
	subscription := func(generation string) []byte {
		return bytesOf(t, "0002 00000001 0001 74 ffffffff 00000001 0001 74 00000002 00000000 00000001"+generation)
	}
	for _, stale := range []string{"a", "z"} {
		members, err := consumer.Members(map[string][]byte{stale: subscription("00000003"), "m": subscription("00000005")})
		if err != nil {
			t.Fatal(err)
		}
		in := assignor.Input{Topics: []assignor.Topic{{Name: "t", Partitions: 2}}, Members: members}
		result, err := assignor.Sticky(in)
		if err != nil {
			t.Fatal(err)
		}
		if result.Moved != 1 || len(result.Ignored) != 1 || in.Members[result.Ignored[0].Member].Name != stale ||
			result.Ignored[0].Copies != 2 || result.Ignored[0].Reason != assignor.OwnedByOther {
			t.Errorf("stale member %s: moved %d, ignored %+v", stale, result.Moved, result.Ignored)
		}
	}
}
