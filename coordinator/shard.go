package coordinator

import "unicode/utf16"

// ShardOf says which of several coordinators a group belongs to, where its groups are shared out among them: the absolute
// value of the 32-bit string hash of "namespace/name" modulo shards, as Kafka finds the partition of a group's
// coordinator. Shards must be at least 1; the result is from 0 to shards - 1.
func ShardOf(namespace, name string, shards int32) int32 {
	return absolute(stringHash(namespace+"/"+name)) % shards
}

// stringHash is 31*h + unit over the UTF-16 units of the text, wrapping.
func stringHash(text string) int32 {
	var h int32
	for _, unit := range utf16.Encode([]rune(text)) {
		h = 31*h + int32(unit)
	}
	return h
}

// absolute of the least number, which has none, is 0.
func absolute(h int32) int32 {
	const least = -1 << 31
	switch {
	case h == least:
		return 0
	case h < 0:
		return -h
	}
	return h
}
