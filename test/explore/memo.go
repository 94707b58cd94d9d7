package explore

import (
	"hash/maphash"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// memo keeps what need not be worked out again during one exploration. It forgets at will: each part is bounded.
type memo struct {
	// text is where a key is written.
	text []byte
	// hashes of objects, which never change, by where they lie.
	hashes [1 << 14]hashed
	// decided is what the coordinator decided on what it saw.
	decided map[uint64][]coordinator.Decision
	// plans parsed, by their text.
	plans map[string]*coordinator.PlanContent
}

const maxMemo = 1 << 16

// aspect is what the key of an object is relative to.
type aspect struct {
	now       int64
	top, base int64
	term      string
	// ownTerms: whose term anything is from makes no difference any more.
	ownTerms bool
	// exact: instants count however long ago they are.
	exact bool
}

type hashed struct {
	object any
	aspect aspect
	hash   uint64
}

func newMemo() *memo {
	return &memo{decided: map[uint64][]coordinator.Decision{}, plans: map[string]*coordinator.PlanContent{}}
}

// object appends the hash of an object's key, which write writes.
func (k *keyer) object(o any, write func()) {
	entry := &k.memo.hashes[maphash.Comparable(seed, o)%uint64(len(k.memo.hashes))]
	if entry.object != o || entry.aspect != k.aspect {
		outer := len(k.b)
		write()
		*entry = hashed{object: o, aspect: k.aspect, hash: maphash.Bytes(seed, k.b[outer:])}
		k.b = k.b[:outer]
	}
	k.b = appendHash(k.b, entry.hash)
}

// decideOrKnow decides, or knows what was decided where the leader saw the same.
func (w *world) decideOrKnow() []coordinator.Decision {
	if w.mutation != nil {
		return w.decide(noneStale) // It may look at more than the leader sees.
	}
	seen := w.seenKey()
	if known, ok := w.memo.decided[seen]; ok {
		return w.rebased(known)
	}
	choices := w.decide(noneStale)
	if w.improper == nil {
		if len(w.memo.decided) >= maxMemo {
			clear(w.memo.decided)
		}
		w.memo.decided[seen] = choices
	}
	return choices
}

// rebased are decisions made of objects that are the same but for their resourceVersions.
func (w *world) rebased(known []coordinator.Decision) []coordinator.Decision {
	choices := make([]coordinator.Decision, len(known))
	for i, decision := range known {
		choices[i] = coordinator.Decision{WakeAt: decision.WakeAt, Batches: make([]coordinator.Batch, len(decision.Batches))}
		for j, batch := range decision.Batches {
			writes := make([]coordinator.Write, len(batch.Writes))
			for n, write := range batch.Writes {
				writes[n] = write
				if write.Old != nil {
					writes[n].Old = w.find(write.Old)
				}
			}
			choices[i].Batches[j] = coordinator.Batch{Phase: batch.Phase, Writes: writes}
		}
	}
	return choices
}

// seenKey is of what the leader sees, up to date. Other than in a key instants, generations, tokens and revisions count as
// they are: a decision bears them.
func (w *world) seenKey() uint64 {
	k := w.keyer()
	k.exact = true // What was revoked long ago is still part of what a member is told.
	k.number(k.aspect.now)
	k.number(k.top)
	k.number(k.base)
	k.text(k.term)
	k.yes(k.ownTerms)
	if g := w.group.now; w.group.there {
		k.number(g.Generation)
		k.number(g.Status.ObservedGeneration)
		k.object(g, func() { k.groupKey(g) })
	}
	for i := range w.plans {
		if s := &w.plans[i]; s.there {
			k.text(ordinal(string(s.now.Revision.UID)))
			k.object(s.now.Content, func() { k.planKey(s.now.Content) })
		}
	}
	k.text("")
	for i := range w.members {
		if m := w.members[i].now; w.members[i].there {
			k.number(m.Generation)
			k.number(m.Status.Revision)
			k.object(m, func() { k.memberKey(m) })
		}
	}
	k.leaseKeys()
	k.number(w.declared())
	return k.sum()
}
