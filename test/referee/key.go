package referee

import (
	"cmp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
)

// AppendKey appends what the referee remembers, so that an exploration takes two worlds for one only if it will judge
// both alike. Generations and tokens are given as relative by the caller, whose worlds may differ in absolute numbers.
func (r *Referee) AppendKey(key []byte, generation, token func(int64) int64) []byte {
	number := func(n int64) { key = append(strconv.AppendInt(key, n, 36), ',') }
	text := func(s string) { key = append(append(key, s...), ',') }
	copies := make([]Copy, 0, len(r.copies))
	for c := range r.copies {
		copies = append(copies, c)
	}
	slices.SortFunc(copies, func(a, b Copy) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Partition, b.Partition))
	})
	for _, c := range copies {
		custody := r.copies[c]
		text(c.Topic)
		number(int64(c.Index))
		number(int64(c.Partition))
		number(token(custody.token))
		number(token(custody.seen))
		text(string(custody.uid))
		text(custody.memberID)
		text(custody.by)
		key = strconv.AppendBool(key, custody.held)
	}
	uids := make([]types.UID, 0, len(r.members))
	for uid := range r.members {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	for _, uid := range uids {
		record := r.members[uid]
		text(string(uid))
		text(record.incarnation)
		number(int64(len(record.former)))
		number(generation(record.left))
	}
	text(string(r.group))
	number(generation(r.generation))
	for _, p := range r.plans {
		number(generation(p.Generation()))
	}
	return key
}
