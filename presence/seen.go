package presence

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// seen is what a member's pod looks like at this moment, whatever was seen before.
type seen struct {
	state   v1alpha1.PresenceState
	reason  string
	stopped bool
}

// see goes through what a pod's condition can mean; the first that fits counts.
func (v *view) see(member *v1alpha1.GroupMember, pod *corev1.Pod) seen {
	if reason := v.leaving(member, pod); reason != "" {
		if !stopped(pod) && v.nodeLost(pod) {
			reason = v1alpha1.PresenceNodeLost
		}
		return seen{v1alpha1.Leaving, reason, stopped(pod)}
	}
	switch {
	case v.nodeLost(pod):
		return seen{v1alpha1.Away, v1alpha1.PresenceNodeLost, stopped(pod)}
	case stopped(pod):
		return seen{v1alpha1.Away, v.ended(member), true}
	case beingDeleted(pod):
		return seen{v1alpha1.Present, v1alpha1.PresenceTerminating, false}
	case notStarted(pod):
		return seen{v1alpha1.Away, v.ended(member), false}
	}
	return v.standing(pod, v.session(v.Groups[member.Spec.Group]))
}

// ended says how the member's pod ended: Replacing when somebody deleted it and its node, being Ready, has seen to it;
// Gone when it may have been anything.
func (v *view) ended(member *v1alpha1.GroupMember) string {
	own, node := v.ownPod(member), member.Spec.Host
	if own != nil {
		node = own.Spec.NodeName
	}
	deleted := own == nil || beingDeleted(own)
	if v.sightOf(member).Deleting || deleted && v.nodeHealthy(node) {
		return v1alpha1.PresenceReplacing
	}
	return v1alpha1.PresenceGone
}

// notStarted says that a pod's containers have not all run yet, and that none has failed at it. A pod that is Ready has
// started, whatever else is known of it.
func notStarted(pod *corev1.Pod) bool {
	all := containersOf(pod)
	return !all.haveRun && !all.restarted && !ready(pod)
}

// standing judges a pod that has started by its readiness and its containers. A pod that has never been Ready since its
// start counts as there: its readiness may wait for its assignment. After a restart it has to last for a session first.
func (v *view) standing(pod *corev1.Pod, session time.Duration) seen {
	if ready(pod) {
		return seen{v1alpha1.Present, v1alpha1.PresenceReady, false}
	}
	all := containersOf(pod)
	starting := seen{v1alpha1.Present, v1alpha1.PresenceStarting, false}
	crashing := seen{v1alpha1.Away, v1alpha1.PresenceCrashing, false}
	switch {
	case !all.running:
		return crashing
	case readyLost(pod, all.lastStart):
		return seen{v1alpha1.Away, v1alpha1.PresenceNotReady, false}
	case !all.restarted:
		return starting
	}
	if proven := all.lastStart.Add(session); v.Now.Before(proven) {
		v.wakeAt(proven)
		return crashing
	}
	return starting
}

// presenceOf is the presence that stands in the member's object.
func presenceOf(member *v1alpha1.GroupMember) v1alpha1.Presence {
	if member.Spec.Presence == nil {
		return v1alpha1.Presence{}
	}
	return *member.Spec.Presence
}

func podUID(member *v1alpha1.GroupMember) types.UID { return types.UID(member.Spec.Incarnation) }
