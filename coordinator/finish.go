package coordinator

import (
	"slices"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Deleting frees nothing: a member's copies are freed by the rules of the hand-over, then its finalizer goes.

// plansKept is how many plans are kept: they are the group's history.
const plansKept = 10

// cleanup ends objects whose time has come: members that left, and plans beyond the history.
func (v *view) cleanup(written map[string]bool) []Write {
	var writes []Write
	for _, m := range v.members {
		if written[m.Name] {
			continue
		}
		writes = append(writes, v.endMember(m)...)
	}
	for _, m := range v.foreign {
		writes = append(writes, dropFinalizer(m)...)
	}
	for i := len(v.Plans) - 1; i >= plansKept; i-- {
		writes = append(writes, Write{Verb: Delete, Old: v.Plans[i].Revision})
	}
	return writes
}

func (v *view) endMember(m *member) []Write {
	if v.unserved(m) {
		return dropFinalizer(m)
	}
	if m.named && v.Group.DeletionTimestamp == nil || !v.allFree(m) {
		return nil
	}
	if m.DeletionTimestamp != nil {
		if v.baseAbove(tokenOf(&m.Status)) > v.status.TokenBase {
			return nil // first the base is raised, see raiseBaseForLeavers
		}
		return dropFinalizer(m)
	}
	if v.unwanted(m) {
		return []Write{{Verb: Delete, Old: m.GroupMember}}
	}
	return nil
}

// unwanted: a workload's member whose name is no longer wanted, or a Dead one that registered itself and has had its
// session's time to learn why.
func (v *view) unwanted(m *member) bool {
	if !selfRegistered(m) {
		return leaving(m)
	}
	return m.Status.State == v1alpha1.MemberDead && v.passed(leftAt(m).Add(v.session(m)))
}

// allFree: nothing the member held is still in force.
func (v *view) allFree(m *member) bool {
	if v.leaderMode() {
		return m.Status.Assignment == nil && (m.position == nobody || v.status.State == v1alpha1.GroupDown)
	}
	if countCopies(m.Status.Assignment) > 0 {
		return false
	}
	for i := range m.Status.Revoking {
		if v.end(m, &m.Status.Revoking[i]) == inForce {
			return false
		}
	}
	return true
}

func dropFinalizer(m *member) []Write {
	if m.DeletionTimestamp == nil || !slices.Contains(m.Finalizers, v1alpha1.HandoverFinalizer) {
		return nil
	}
	next := m.DeepCopy()
	next.Finalizers = slices.DeleteFunc(next.Finalizers, func(f string) bool { return f == v1alpha1.HandoverFinalizer })
	return []Write{{Verb: Update, Old: m.GroupMember, New: next}}
}

// raiseBaseForLeavers: a member's tokens go with its object, so the base must be above them before.
func (v *view) raiseBaseForLeavers() []Batch {
	base := v.status.TokenBase
	for _, m := range v.members {
		if m.DeletionTimestamp != nil && !m.named && v.allFree(m) {
			base = max(base, v.baseAbove(tokenOf(&m.Status)))
		}
	}
	if base == v.status.TokenBase {
		return nil
	}
	return v.raiseBase(base)
}
