package coordinator

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// The end of a group: everything is revoked whatever the policy, its end waits for that within bounds.

func (v *view) decideDeletion() []Batch {
	if !slices.Contains(v.Group.Finalizers, v1alpha1.RevokeFinalizer) {
		return batch(PhaseFinish, v.release(v.members)...)
	}
	if b := v.raiseBaseForLeavers(); b != nil {
		return b
	}
	written := map[string]bool{}
	var members []Write
	for _, m := range v.members {
		if w, ok := v.revokeForDeletion(m); ok {
			members, written[m.Name] = append(members, w), true
		}
	}
	var batches []Batch
	batches = append(batches, batch(PhaseGroup, v.showDeletion()...)...)
	batches = append(batches, batch(PhaseMembers, members...)...)
	batches = append(batches, batch(PhaseFinish, v.cleanup(written)...)...)
	if len(members) == 0 && v.deletionDone() {
		next := v.Group.DeepCopy()
		next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool { return f == v1alpha1.RevokeFinalizer })
		return batch(PhaseFinish, Write{Verb: Update, Old: v.Group, New: next})
	}
	return batches
}

// release lets members that are being deleted go at once: their group has ended.
func (v *view) release(members []*member) []Write {
	var writes []Write
	for _, m := range members {
		writes = append(writes, dropFinalizer(m)...)
	}
	return writes
}

// revokeForDeletion takes everything from a member; a new incarnation is fenced from what the one before it held.
func (v *view) revokeForDeletion(m *member) (Write, bool) {
	if m.Status.Assignment == nil && len(m.Status.Pending) == 0 {
		return Write{}, false
	}
	d := v.draft(m)
	if v.leaderMode() {
		d.dropState()
		return v.write(d)
	}
	v.dropEnded(d)
	v.revokeAll(d)
	d.status().Pending = nil
	return v.write(d)
}

func (v *view) showDeletion() []Write {
	next := v.Group.DeepCopy()
	setCondition(&next.Status.Conditions, v.Now, v.Group.Generation, metav1.Condition{
		Type: v1alpha1.GroupReady, Status: metav1.ConditionFalse, Reason: "Deleting",
		Message: "the group is being deleted: what its members hold is revoked first",
	})
	return v.groupWrite(next)
}

// deletionDone: every copy is free, or nobody is waited for any longer; and the clock has passed the group's tokens, so
// that those of a group created again under this name are greater.
func (v *view) deletionDone() bool {
	clock := tokenEpoch.Add(time.Duration(v.status.TokenBase+v.generation+1) * 10 * time.Millisecond)
	if !v.passed(clock) {
		return false
	}
	for _, m := range v.members {
		if !v.allFree(m) {
			return v.passed(v.Group.DeletionTimestamp.Add(v.longestWait()))
		}
	}
	return true
}

func (v *view) longestWait() time.Duration {
	longest := v.grace()
	for _, m := range v.members {
		longest = max(longest, v.rebalanceTimeout(m))
	}
	return longest
}
