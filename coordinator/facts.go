package coordinator

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Facts are what a member's spec and the clock say of it, written into its status before anything is decided from it.

// facts is the batch of them; each member is written at most once.
func (v *view) facts() []Write {
	verdicts := v.judge()
	refusing := refusesForTheFirstTime(verdicts)
	var writes []Write
	for _, m := range v.members {
		if w, ok := v.ownership(m); ok {
			writes = append(writes, w)
			continue
		}
		d := v.fact(m, verdicts)
		if judged, outsider := verdicts[m]; d == nil && refusing && outsider && judged.accepted() && m.Status.State == "" {
			d = v.showsAsking(m)
		}
		if d == nil {
			continue
		}
		if w, ok := v.write(d); ok {
			writes = append(writes, w)
		}
	}
	return writes
}

// refusesForTheFirstTime: the instant at which somebody asked is about to be written, so it must be written of all who
// asked at that instant, or the one refused would come before them at the next decision.
func refusesForTheFirstTime(verdicts map[*member]verdict) bool {
	for m, judged := range verdicts {
		if !judged.accepted() && m.Status.AskingSince == nil {
			return true
		}
	}
	return false
}

// ownership gives a member its finalizer, without which it is granted nothing, and the owner reference to its group.
func (v *view) ownership(m *member) (Write, bool) {
	owned := metav1.GetControllerOfNoCopy(m) != nil
	final := slices.Contains(m.Finalizers, v1alpha1.HandoverFinalizer)
	if owned && final || m.DeletionTimestamp != nil || v.unserved(m) {
		return Write{}, false
	}
	next := m.DeepCopy()
	if !owned {
		next.OwnerReferences = append(next.OwnerReferences, ownerReference(v.Group))
	}
	if !final {
		next.Finalizers = append(next.Finalizers, v1alpha1.HandoverFinalizer)
	}
	return Write{Verb: Update, Old: m.GroupMember, New: next}, true
}

// fact is the first of these that is true of the member and not yet written; nil when there is none.
func (v *view) fact(m *member, verdicts map[*member]verdict) *draft {
	judged, outsider := verdicts[m]
	switch {
	case leaving(m):
		return v.leave(m)
	case v.dies(m):
		return v.die(m)
	case v.missesBarrier(m), v.silentLeaderDies(m):
		return v.dieOfTimeout(m)
	case outsider && !judged.accepted():
		return v.reject(m, judged)
	case outsider && (hasLeft(m.Status.State) || inGeneration(m.Status.State)):
		return v.comeBack(m)
	case hasLeft(m.Status.State):
		return v.leaveAgain(m)
	case restarted(m):
		return v.succeed(m)
	case inGeneration(m.Status.State):
		return v.keepCurrent(m)
	}
	return nil
}

// leave: Leaving is written of who is in the generation or holds something; the rest just goes.
func (v *view) leave(m *member) *draft {
	if hasLeft(m.Status.State) {
		return v.leaveAgain(m)
	}
	if !inGeneration(m.Status.State) && !m.named && holdsNothing(&m.Status) {
		return nil
	}
	d := v.draft(m)
	d.gone(v, v1alpha1.MemberLeaving)
	if a := m.Spec.Acknowledged; a != nil && a.Final && a.MemberID == m.Status.MemberID {
		v.revokeAll(d)
	}
	d.event(false, "Leaving", "leaves the group")
	return d
}

// leaveAgain: a plan of a frozen coordinator may list who had left before it landed; to have left is one-way.
func (v *view) leaveAgain(m *member) *draft {
	if !m.named {
		return nil
	}
	d := v.draft(m)
	d.status().Left = &v1alpha1.MemberLeft{Generation: v.generation, Time: micro(leftAt(m))}
	return d
}

// leftAt is when the member left; a status edited by hand, or restored, may not say it.
func leftAt(m *member) time.Time {
	if m.Status.Left == nil {
		return m.CreationTimestamp.Time
	}
	return m.Status.Left.Time.Time
}

// gone writes what all ways out share.
func (d *draft) gone(v *view, state v1alpha1.MemberState) {
	st := d.status()
	st.State = state
	st.Left = &v1alpha1.MemberLeft{Generation: v.generation, Time: micro(v.Now)}
	st.Pending = nil
	st.Unavailable = nil
	if state != v1alpha1.MemberRejected {
		st.AskingSince = nil
	}
	v.dropEnded(d)
}

// dies: the member's deadline has passed. While the group is paused nobody dies.
func (v *view) dies(m *member) bool {
	switch m.Status.State {
	case v1alpha1.MemberActive, v1alpha1.MemberUnavailable, v1alpha1.MemberPending, v1alpha1.MemberRejected:
		return !v.Group.Spec.Paused && !v.unserved(m) && v.expired(m) && v.confirmed(m)
	}
	return false
}

// die moves what the member holds into a revocation; under Available the end of the session has ended that already.
func (v *view) die(m *member) *draft {
	d := v.draft(m)
	d.gone(v, v1alpha1.MemberDead)
	v.revokeAll(d)
	d.event(true, v1alpha1.ReasonSessionExpired, v.expiryMessage(m))
	return d
}

func (v *view) expiryMessage(m *member) string {
	if selfRegistered(m) {
		return fmt.Sprintf("no heartbeat for %s", v.session(m))
	}
	return fmt.Sprintf("%s since %s", m.Spec.Presence.Reason, m.Spec.Presence.Since.UTC().Format("15:04:05"))
}

// reject: the member may not be in the generation; it is looked at again at every decision.
func (v *view) reject(m *member, judged verdict) *draft {
	d := v.draft(m)
	if m.Status.State != v1alpha1.MemberRejected || m.named {
		d.gone(v, v1alpha1.MemberRejected)
		d.event(true, judged.reason, judged.message)
	}
	v.adoptIncarnation(d)
	d.asking(v)
	d.joined(v, metav1.ConditionFalse, judged.reason, judged.message)
	return d
}

// comeBack: who had left and is wanted again is a new member. What it still holds stays its own until the next round.
func (v *view) comeBack(m *member) *draft {
	d := v.draft(m)
	st := d.status()
	st.State = v1alpha1.MemberPending
	if m.named && st.Left != nil {
		st.Left.Generation = v.generation
	}
	v.adoptIncarnation(d)
	d.asking(v)
	return d
}

func (d *draft) asking(v *view) {
	if st := d.status(); st.AskingSince == nil {
		st.AskingSince = microPtr(v.Now)
	}
}

// keepCurrent writes what changes about a member that stays as it is: Unavailable when an absence has lasted, Active when
// it is over, and what its status says of its name, its session timeout and its silence.
func (v *view) keepCurrent(m *member) *draft {
	switch {
	case m.Status.State == v1alpha1.MemberActive && v.unavailable(m):
		d := v.draft(m)
		v.markUnavailable(d)
		d.event(false, "Unavailable", v.expiryMessage(m))
		return d
	case m.Status.State == v1alpha1.MemberUnavailable && v.available(m):
		d := v.draft(m)
		d.status().State, d.status().Unavailable = v1alpha1.MemberActive, nil
		d.event(false, "Available", "is back within its timeout: keeps what it holds")
		return d
	case v.rivalUntold(m), v.namesIgnoredUntold(m):
		return v.draft(m)
	case v.duplicateIsOver(m):
		d := v.draft(m)
		d.status().Takeover.Duplicate = false
		return d
	case selfRegistered(m) && durationOr(m.Status.SessionTimeout, 0) != v.statedSession(m), heardOfAgain(m):
		return v.draft(m)
	}
	return nil
}

// markUnavailable keeps a Lease member's last renewal, so that a new coordinator does not give it a full session anew.
func (v *view) markUnavailable(d *draft) {
	st := d.status()
	st.State = v1alpha1.MemberUnavailable
	if seen, ok := v.LastSeen[d.m.Name]; ok && selfRegistered(d.m) {
		st.Unavailable = &v1alpha1.UnavailableSession{Since: micro(v.renewed(d.m)), RenewTime: seen.RenewTime}
	}
}
