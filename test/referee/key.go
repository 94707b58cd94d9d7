package referee

import "encoding/binary"

// AppendKey appends what the referee remembers, so that an exploration takes two worlds for one only if it will judge
// both alike. Generations and tokens are given as relative by the caller, whose worlds may differ in absolute numbers.
func (r *Referee) AppendKey(key []byte, generation, token func(int64) int64) []byte {
	number := func(n int64) { key = binary.AppendVarint(key, n) }
	text := func(s string) { key = append(append(key, s...), 0) }
	for i := range r.copies.rows {
		c, custody := &r.copies.rows[i].key, &r.copies.rows[i].value
		text(c.Topic)
		number(int64(c.Index))
		number(int64(c.Partition))
		number(token(custody.token))
		number(token(custody.seen))
		text(string(custody.uid))
		text(custody.memberID)
		text(custody.by)
		if custody.held {
			number(1)
		}
	}
	number(-1)
	for i := range r.members.rows {
		record := &r.members.rows[i].value
		text(string(r.members.rows[i].key))
		text(record.incarnation)
		number(int64(len(record.former)))
		number(generation(record.left))
	}
	text(string(r.group))
	number(generation(r.generation))
	for _, p := range r.plans {
		number(generation(p.Generation()))
	}
	number(int64(len(r.freed)))
	for _, freed := range r.freed {
		number(generation(freed))
	}
	return key
}
