package coordinator

import "testing"

// "polygenelubricants" has the hash that has no absolute value.
func TestStringHash(t *testing.T) {
	for text, want := range map[string]int32{
		"": 0, "group-id": 13, "my-group": 12, "connect-cluster": 13, "payments": 13, "polygenelubricants": 0,
	} {
		if got := absolute(stringHash(text)) % 50; got != want {
			t.Errorf("%q is in shard %d of 50, want %d", text, got, want)
		}
	}
	// Beyond the basic plane a character is two units: 31*0xD83D + 0xDE00.
	if got, want := stringHash("😀"), int32(31*0xD83D+0xDE00); got != want {
		t.Errorf("hash %d, want %d", got, want)
	}
}

func TestShardOf(t *testing.T) {
	if got, want := ShardOf("shop", "payments", 50), absolute(stringHash("shop/payments"))%50; got != want {
		t.Errorf("shard %d, want %d", got, want)
	}
	for _, shards := range []int32{1, 7, 1 << 30} {
		for _, name := range []string{"a", "payments", "polygenelubricants", "ü"} {
			if got := ShardOf("ns", name, shards); got < 0 || got >= shards {
				t.Errorf("%s: shard %d of %d", name, got, shards)
			}
		}
	}
}
