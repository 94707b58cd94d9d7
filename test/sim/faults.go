package sim

import (
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// WriteFailure is how a write of the operator fails.
type WriteFailure string

// Failures of writes.
const (
	// FailConflict: refused, nothing is written.
	FailConflict WriteFailure = "conflict"
	// FailTimeout: no answer; whether it was applied is for Faults.Applied to say.
	FailTimeout WriteFailure = "timeout"
	// FailLate: no answer; it is applied after some more writes.
	FailLate WriteFailure = "late"
)

// Faults are what goes wrong with the operator's writes, in the order in which they are sent, and with its reads.
type Faults struct {
	// Applied says of a write that gets no answer whether it was applied; nil means that none was.
	Applied func() bool
	// AfterWrite is called after the n-th write of the operator, counted from 1; it may add faults.
	AfterWrite func(n int)

	sent   int
	crash  countdown
	freeze countdown
	// freezeFor is how long nobody is there after a freeze.
	freezeFor time.Duration
	frozen    []sentWrite

	failing   int
	failure   WriteFailure
	lateAfter int
	late      []sentWrite

	stale int
}

// countdown fires after some more writes.
type countdown struct {
	armed bool
	left  int
}

func (c *countdown) arm(after int) { *c = countdown{armed: true, left: after} }

// fire says whether it is time, and disarms it then.
func (c *countdown) fire() bool {
	if !c.armed || c.left > 0 {
		return false
	}
	c.armed = false
	return true
}

func (c *countdown) step() {
	if c.armed {
		c.left--
	}
}

// sentWrite has been sent and has not arrived.
type sentWrite struct {
	who   Writer
	write coordinator.Write
	left  int
}

// Crash lets the operator's process end after some more writes; 0 means before the next.
func (f *Faults) Crash(after int) { f.crash.arm(after) }

// Freeze lets the operator's process freeze, after some more writes, with the next one on its way. Another takes over
// after a while.
func (f *Faults) Freeze(after int, takeover time.Duration) {
	f.freeze.arm(after)
	f.freezeFor = takeover
}

// Fail lets the next writes fail.
func (f *Faults) Fail(writes int, failure WriteFailure) {
	f.failing, f.failure, f.lateAfter = writes, failure, writes
}

// Stale lets the next cached reads of the coordinator be one write behind.
func (f *Faults) Stale(reads int) { f.stale = reads }

// Sent is how many writes the operator has sent.
func (f *Faults) Sent() int { return f.sent }

// failNext says how the write that is being sent fails; empty when it does not.
func (f *Faults) failNext() WriteFailure {
	if f.failing == 0 {
		return ""
	}
	f.failing--
	return f.failure
}

func (f *Faults) applied() bool { return f.Applied != nil && f.Applied() }

// takeStale says whether the read that is being made is stale.
func (f *Faults) takeStale() bool {
	if f.stale == 0 {
		return false
	}
	f.stale--
	return true
}

// noteSent counts a write that was sent; late ones that are due arrive behind it.
func (f *Faults) noteSent(store *Store) {
	f.sent++
	f.crash.step()
	f.freeze.step()
	if f.AfterWrite != nil {
		f.AfterWrite(f.sent)
	}
	for i := range f.late {
		f.late[i].left--
	}
	f.deliverLate(store, func(w sentWrite) bool { return w.left < 0 })
}

func (f *Faults) deliverLate(store *Store, due func(sentWrite) bool) {
	for {
		at := slices.IndexFunc(f.late, due)
		if at < 0 {
			return
		}
		arrived := f.late[at]
		f.late = slices.Delete(f.late, at, at+1)
		_, _ = carryOut(store, arrived.who, arrived.write) // Nobody waits for its answer any more.
	}
}

// end drops an armed crash and lets arrive what is still on its way.
func (f *Faults) end(store *Store) {
	f.crash = countdown{}
	f.deliverLate(store, func(sentWrite) bool { return true })
}

// carryOut applies a write to the store, locked as the operator locks it.
func carryOut(store *Store, who Writer, write coordinator.Write) (Object, error) {
	switch write.Verb {
	case coordinator.Create:
		return store.Create(who, write.New)
	case coordinator.Update:
		return store.Update(who, locked(write))
	case coordinator.UpdateStatus:
		return store.UpdateStatus(who, locked(write))
	default:
		return store.Delete(who, keyOf(write.Old), Precondition{
			UID: write.Old.GetUID(), ResourceVersion: write.Old.GetResourceVersion(),
		})
	}
}

// locked is the new object under the version of the old one.
func locked(write coordinator.Write) Object {
	updated := write.New.DeepCopyObject().(Object)
	updated.SetUID(write.Old.GetUID())
	updated.SetResourceVersion(write.Old.GetResourceVersion())
	return updated
}

func timeout() error { return apierrors.NewTimeoutError("no answer", 1) }
