package coordinator

import (
	"sort"
	"strconv"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Hashes are stored as "<version>:<hex>". One of another version compares as equal, so that an upgrade of the operator
// spends no generation.
const hashVersion = "1:"

// digest is FNV-1a, 64 bit, over length-delimited parts.
type digest uint64

const (
	fnvOffset digest = 14695981039346656037
	fnvPrime  digest = 1099511628211
)

func (d digest) text(s string) digest {
	d = d.number(int64(len(s)))
	for i := range len(s) {
		d = (d ^ digest(s[i])) * fnvPrime
	}
	return d
}

func (d digest) number(n int64) digest {
	for range 8 {
		d = (d ^ digest(n&0xff)) * fnvPrime
		n >>= 8
	}
	return d
}

func (d digest) String() string { return hashVersion + strconv.FormatUint(uint64(d), 16) }

// same says whether a stored hash is this one; it does not allocate.
func (d digest) same(stored string) bool {
	hex, ok := strings.CutPrefix(stored, hashVersion)
	if !ok {
		return true
	}
	n, err := strconv.ParseUint(hex, 16, 64)
	return err == nil && digest(n) == d
}

// inputsHash is over what the assignor is told by the group.
func inputsHash(spec *v1alpha1.ConsumerGroupSpec) digest {
	topics := make([]*v1alpha1.TopicSpec, 0, len(spec.Topics))
	for i := range spec.Topics {
		topics = append(topics, &spec.Topics[i])
	}
	sort.Slice(topics, func(i, j int) bool { return topics[i].Name < topics[j].Name })
	d := fnvOffset.text(spec.Assignor).text(string(spec.ZonePolicy)).number(int64(len(topics)))
	for _, t := range topics {
		d = d.text(t.Name).number(int64(t.Partitions)).number(int64(replicas(t))).number(max(t.Weight, 1)).text(t.CoPartition)
		d = d.number(int64(len(t.Zones)))
		for _, zone := range t.Zones {
			d = d.text(zone)
		}
	}
	return d
}

// offerHash is over what a member offers: subscribed topics and capacity.
func offerHash(spec *v1alpha1.GroupMemberSpec) digest {
	topics := spec.Topics
	if !sort.StringsAreSorted(topics) {
		topics = append([]string(nil), topics...)
		sort.Strings(topics)
	}
	d := fnvOffset.number(capacity(spec)).number(int64(len(topics)))
	for _, topic := range topics {
		d = d.text(topic)
	}
	return d
}

func capacity(spec *v1alpha1.GroupMemberSpec) int64 {
	if spec.Capacity == nil {
		return 1
	}
	return *spec.Capacity
}

func replicas(t *v1alpha1.TopicSpec) int32 { return max(t.Replicas, 1) }
