package explore

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// keyer writes down what matters of a world: instants as seen from now, generations and tokens as seen from the newest
// generation, revisions as seen from their member's, of resourceVersions only whether a write would still be taken.
type keyer struct {
	*world
	b []byte
	aspect
	moment time.Time
}

// tokenEpoch is where token bases count from: a group that goes waits for the clock to pass its tokens.
var tokenEpoch = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

var seed = maphash.MakeSeed()

// key is the same for two worlds in which the same things can happen.
func (w *world) key() uint64 {
	k := w.keyer()
	k.counters()
	k.objects()
	k.processes()
	k.coordinators()
	k.b = w.referee.AppendKey(k.b, k.relative, k.token)
	return k.sum()
}

// keyer writes into the exploration's one buffer: one at a time.
func (w *world) keyer() *keyer {
	k := &keyer{world: w, b: w.memo.text[:0], moment: w.now}
	k.aspect = aspect{now: w.now.UnixNano(), top: w.generation(), term: w.leader.term}
	k.ownTerms = w.settledTerms()
	if w.group.there {
		// The tokens of the newest generation.
		k.base = (w.group.now.Status.TokenBase + k.top) << 15
	}
	return k
}

func (k *keyer) sum() uint64 {
	k.memo.text = k.b
	return maphash.Bytes(seed, k.b)
}

func appendHash(b []byte, hash uint64) []byte { return binary.LittleEndian.AppendUint64(b, hash) }

func (k *keyer) relative(generation int64) int64 { return k.top - generation }

func (k *keyer) token(token int64) int64 {
	if token == 0 {
		return -1 << 40
	}
	return token - k.base
}

func (k *keyer) number(n int64) { k.b = binary.AppendVarint(k.b, n) }
func (k *keyer) text(s string)  { k.b = append(append(k.b, s...), 0) }
func (k *keyer) yes(b bool) {
	if b {
		k.b = append(k.b, 2)
	} else {
		k.b = append(k.b, 1)
	}
}

// instant is how long ago, in milliseconds; what is long ago is all the same.
func (k *keyer) instant(t time.Time) { k.instantWithin(t, forgotten) }

func (k *keyer) instantWithin(t time.Time, bound time.Duration) {
	if t.IsZero() {
		k.text("-")
		return
	}
	ago := k.moment.Sub(t)
	if ago >= bound && !k.exact {
		k.text("old")
		return
	}
	k.number(ago.Milliseconds())
}

func (k *keyer) instantOf(t *metav1.MicroTime) {
	if t == nil {
		k.text("-")
		return
	}
	k.instant(t.Time)
}

func (k *keyer) counters() {
	if k.happened < len(k.script) {
		k.text(k.script[k.happened].String())
	}
	k.number(int64(k.happened))
	k.number(int64(k.failed))
}

func (k *keyer) objects() {
	key := func(there bool, g *v1alpha1.ConsumerGroup) {
		if k.yes(there); there {
			k.object(g, func() { k.groupKey(g) })
		}
	}
	key(k.group.there, k.group.now)
	if k.yes(k.group.stale); k.group.stale {
		key(k.group.existed, k.group.before)
	}
	for i := range k.plans {
		s := &k.plans[i]
		k.text("P")
		k.planSlot(s)
	}
	for i := range k.members {
		s := &k.members[i]
		k.text("M")
		if k.yes(s.there); s.there {
			k.object(s.now, func() { k.memberKey(s.now) })
		}
		if k.yes(s.stale); s.stale {
			if k.yes(s.existed); s.existed {
				k.object(s.before, func() { k.memberKey(s.before) })
			}
		}
	}
	k.leaseKeys()
}

func (k *keyer) leaseKeys() {
	for i := range k.leases {
		l := &k.leases[i]
		k.text(l.name)
		k.text(l.holder)
		k.instantWithin(l.renew, sessionTimeout)
		k.instantWithin(l.seen, sessionTimeout)
		k.instantWithin(l.former, sessionTimeout)
	}
}

// planSlot: a plan never changes, so its generation and where its text differs is all. The text stands for the rest.
func (k *keyer) planSlot(s *slot[*coordinator.Plan]) {
	k.yes(s.there)
	k.yes(s.stale)
	p := s.now
	if !s.there {
		p = s.before
	}
	if s.there || s.existed {
		k.text(ordinal(string(p.Revision.UID)))
		k.object(p.Content, func() { k.planKey(p.Content) })
	}
}

// ordinal tells a plan from others of its name.
func ordinal(planUID string) string { return planUID[strings.LastIndexByte(planUID, '-')+1:] }

func (k *keyer) planKey(c *coordinator.PlanContent) {
	k.number(k.relative(c.Generation))
	k.yes(k.ownTerms || c.Term == k.leader.term)
	k.text(c.Inputs)
	k.text(c.Forced)
	for i := range c.Members {
		m := &c.Members[i]
		k.text(m.Object)
		k.text(m.UID)
		k.text(m.Incarnation)
		k.text(m.Offer)
	}
	topics := make([]string, 0, len(c.Target))
	for topic := range c.Target {
		topics = append(topics, topic)
	}
	slices.Sort(topics)
	for _, topic := range topics {
		k.text(topic)
		for _, row := range c.Target[topic] {
			for _, position := range row {
				k.number(int64(position))
			}
		}
	}
	for _, position := range c.Short {
		k.number(int64(position))
	}
	for _, cause := range c.Reasons {
		k.text(string(cause.Reason))
	}
}
