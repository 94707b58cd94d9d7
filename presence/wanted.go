package presence

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// podOf is the member's pod: the one it had while that exists, then the next that bears its name. A member that is being
// deleted takes no other pod: that one's member is created when this object is gone.
func (v *view) podOf(member *v1alpha1.GroupMember) *corev1.Pod {
	if own := v.ownPod(member); own != nil {
		return own
	}
	if next := v.namesake(member); next != nil && v.mayTakeOver(member, next) {
		return next
	}
	return nil
}

// ownPod is the pod that the member's incarnation names; nil when it is gone.
func (v *view) ownPod(member *v1alpha1.GroupMember) *corev1.Pod {
	return v.byUID[podUID(member)]
}

// namesake is the pod that bears a static member's name, whichever incarnation it is.
func (v *view) namesake(member *v1alpha1.GroupMember) *corev1.Pod {
	if member.Spec.MemberName == "" {
		return nil
	}
	return v.byName[member.Spec.MemberName]
}

// mayTakeOver says that the pod is the member's next incarnation.
func (v *view) mayTakeOver(member *v1alpha1.GroupMember, pod *corev1.Pod) bool {
	switch {
	case member.DeletionTimestamp != nil, !v.static, v.bound[memberKey{member.Spec.Group, string(pod.UID)}] != nil:
		return false
	case v.ending() && beingDeleted(pod):
		return false
	}
	return v.unwanted(member.Spec.Group, pod.Name) == ""
}

// leaving is why the member's name is no longer wanted; empty while it is.
func (v *view) leaving(member *v1alpha1.GroupMember, pod *corev1.Pod) string {
	reason := v.unwanted(member.Spec.Group, podName(member, pod))
	switch {
	case reason == "" && v.podTakesItAlong(member, pod):
		return v1alpha1.PresencePodGoing
	case reason == "" && v.nameGivenUp(member, pod):
		return v1alpha1.PresenceWithdrawn
	case reason == v1alpha1.PresenceWithdrawn && beingDeleted(pod):
		return v1alpha1.PresencePodGoing
	}
	return reason
}

// unwanted is why the workload wants no member for a pod of this name; empty when it does. A workload that is absent says
// nothing, and one that is being deleted no longer scales.
func (v *view) unwanted(group, pod string) string {
	switch {
	case v.workload == nil:
		return ""
	case !v.names(group):
		return v1alpha1.PresenceWithdrawn
	case !v.ending() && v.outOfRange(pod):
		return v1alpha1.PresencePodGoing
	}
	return ""
}

// podTakesItAlong says that the member goes with its pod: it has no name that another pod could bear, or no workload that
// would make one.
func (v *view) podTakesItAlong(member *v1alpha1.GroupMember, pod *corev1.Pod) bool {
	switch {
	case pod == nil || beingDeleted(pod):
		return member.Spec.MemberName == "" || v.ending()
	case member.Spec.MemberName == "":
		return stopped(pod)
	}
	return false
}

// nameGivenUp says that a static member's pod has stopped and that the next pod of the name is a dynamic member.
func (v *view) nameGivenUp(member *v1alpha1.GroupMember, pod *corev1.Pod) bool {
	if member.Spec.MemberName == "" || !stopped(pod) {
		return false
	}
	next := v.namesake(member)
	taken := next != nil && next.UID != podUID(member) && v.bound[memberKey{member.Spec.Group, string(next.UID)}] != nil
	return !v.static || taken
}

// podName is the name of the member's pod, there or gone; a dynamic member's is not known when it is gone.
func podName(member *v1alpha1.GroupMember, pod *corev1.Pod) string {
	if pod != nil {
		return pod.Name
	}
	return member.Spec.MemberName
}
