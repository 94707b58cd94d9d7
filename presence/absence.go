package presence

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// sightOf is what the last decision saw of the member's present incarnation.
func (v *view) sightOf(member *v1alpha1.GroupMember) Sight {
	sight := v.Sights[member.Name]
	if sight.Incarnation != member.Spec.Incarnation {
		return Sight{Incarnation: member.Spec.Incarnation}
	}
	return sight
}

// look is sightOf together with what is seen now: it holds what the object does not say yet.
func (v *view) look(member *v1alpha1.GroupMember, now seen) Sight {
	sight, stored := v.sightOf(member), presenceOf(member)
	switch {
	case now.state != v1alpha1.Away || stored.State == v1alpha1.Away:
		sight.Away, sight.Reason = time.Time{}, ""
	case sight.Away.IsZero():
		sight.Away, sight.Reason = v.Now, now.reason
	}
	switch {
	case !now.stopped || stored.Stopped:
		sight.Stopped = time.Time{}
	case sight.Stopped.IsZero():
		sight.Stopped = v.Now
	}
	if own := v.ownPod(member); beingDeleted(own) && v.nodeHealthy(own.Spec.NodeName) {
		sight.Deleting = true
	}
	return sight
}

// waitsForSuccessor says that a static pod has stopped just now: when the next one follows within the window, both are one
// write. Where somebody waits for the stop, it is told at once.
func (v *view) waitsForSuccessor(member *v1alpha1.GroupMember, now seen, sight Sight) bool {
	stored := presenceOf(member)
	switch {
	case member.Spec.MemberName == "", now.state != v1alpha1.Away, !now.stopped, stored.Stopped:
		return false
	case stored.State == v1alpha1.Leaving, member.DeletionTimestamp != nil:
		return false
	case member.Status.State == v1alpha1.MemberLeaving, len(member.Status.Revoking) > 0:
		return false
	}
	end := sight.Stopped.Add(mergeWindow)
	v.wakeAt(end)
	return v.Now.Before(end)
}

// settle makes the presence to write of what is seen and of what was: an absence keeps the reason and the instant with
// which it began.
func (v *view) settle(member *v1alpha1.GroupMember, pod *corev1.Pod, now seen, sight Sight) v1alpha1.Presence {
	stored := presenceOf(member)
	settled := v1alpha1.Presence{State: now.state, Reason: now.reason, Since: v.instant(), Stopped: now.stopped}
	switch now.state {
	case v1alpha1.Present:
		if stored.State == v1alpha1.Present {
			settled.Since = stored.Since
		}
	case v1alpha1.Away:
		settled.Reason, settled.Since = v.absence(member, pod, now, sight)
		settled.Message = troubleOf(member, pod, settled)
	case v1alpha1.Leaving:
		settled.Reason, settled.Since = v.departure(stored, now)
	}
	return settled
}

// absence is why and since when the member is away. What began it stands until it is Present again, with two exceptions:
// the next pod's first restart begins a new absence, and a node that is lost later counts where it ends the wait earlier.
func (v *view) absence(member *v1alpha1.GroupMember, pod *corev1.Pod, now seen, sight Sight) (string, metav1.MicroTime) {
	begun := presenceOf(member)
	if begun.State != v1alpha1.Away {
		begun = v1alpha1.Presence{Reason: sight.Reason, Since: metav1.NewMicroTime(sight.Away)}
	}
	switch {
	case now.reason == v1alpha1.PresenceCrashing && begun.Reason != now.reason && isRestartedSuccessor(pod, begun),
		now.reason == v1alpha1.PresenceNodeLost && begun.Reason != now.reason && v.endsEarlier(member, begun):
		return now.reason, v.instant()
	}
	return begun.Reason, begun.Since
}

// isRestartedSuccessor says that the pod came after the one whose end began the absence, and was started more than once since.
// A first failure alone is no restart: the replacement is still coming up.
func isRestartedSuccessor(pod *corev1.Pod, begun v1alpha1.Presence) bool {
	came := begun.Reason == v1alpha1.PresenceReplacing || begun.Reason == v1alpha1.PresenceGone ||
		pod.CreationTimestamp.After(begun.Since.Time)
	return came && containersOf(pod).restarted
}

// endsEarlier says that a session that begins now ends before the absence that has begun.
func (v *view) endsEarlier(member *v1alpha1.GroupMember, begun v1alpha1.Presence) bool {
	group := v.Groups[member.Spec.Group]
	deadline := begun.Since.Add(v.timeoutOf(group, begun.Reason))
	return v.Now.Add(v.session(group)).Before(deadline)
}

// departure is why and since when the member is leaving. The reason follows what is seen, since the coordinator goes by it,
// until the pod has stopped; the instant moves only when the node is lost or back.
func (v *view) departure(stored v1alpha1.Presence, now seen) (string, metav1.MicroTime) {
	wasLost, isLost := stored.Reason == v1alpha1.PresenceNodeLost, now.reason == v1alpha1.PresenceNodeLost
	switch {
	case stored.State == v1alpha1.Leaving && now.stopped:
		return stored.Reason, stored.Since
	case wasLost == isLost && (isLost || stored.State == v1alpha1.Leaving):
		return now.reason, stored.Since
	}
	return now.reason, v.instant()
}
