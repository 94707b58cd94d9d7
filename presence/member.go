package presence

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// follow brings a member's spec up to what its pod is like.
func (v *view) follow(d *Decision, member *v1alpha1.GroupMember) {
	pod := v.podOf(member)
	now := v.see(member, pod)
	if v.needsNode(member, pod, now) {
		return
	}
	sight := v.look(member, now)
	if sight != (Sight{Incarnation: member.Spec.Incarnation}) {
		d.Sights[member.Name] = sight
	}
	if v.waitsForSuccessor(member, now, sight) {
		return
	}
	spec := member.Spec
	presence := v.settle(member, pod, now, sight)
	spec.Presence = &presence
	if pod != nil && now.state != v1alpha1.Leaving && member.DeletionTimestamp == nil {
		v.identify(&spec, pod)
		v.readOffer(&spec, pod)
	}
	if !worthWriting(&member.Spec, &spec) {
		return
	}
	if presence.State == v1alpha1.Leaving && presenceOf(member).State != v1alpha1.Leaving && !v.Live.Workload {
		v.need.Workload = true
	}
	changed := member.DeepCopy()
	changed.Spec = *spec.DeepCopy()
	d.Updates = append(d.Updates, Update{Old: member, New: changed})
}

// admit makes the member of a pod that has none, once the pod is present; nil where it is not to have one.
func (v *view) admit(group *v1alpha1.ConsumerGroup, pod *corev1.Pod) *v1alpha1.GroupMember {
	if v.outOfRange(pod.Name) || v.bound[memberKey{group.Name, string(pod.UID)}] != nil {
		return nil
	}
	if stopped(pod) || beingDeleted(pod) || v.nodeLost(pod) || notStarted(pod) {
		return nil
	}
	now := v.standing(pod, v.session(group))
	if now.state != v1alpha1.Present {
		return nil
	}
	name, object := "", DynamicObjectName(group.Name, pod.Name, string(pod.UID))
	if v.static {
		name = memberName(pod.Name)
		object = StaticObjectName(group.Name, name)
	}
	if v.nameTaken(group, pod, name, object) {
		return nil
	}
	return v.newMember(group, pod, name, object, now)
}

// nameTaken says that another object bears the name. One of this workload's own is either the one that takes the pod over
// or on its way out; anybody else's is reported and left alone: who was there first keeps the name.
func (v *view) nameTaken(group *v1alpha1.ConsumerGroup, pod *corev1.Pod, name, object string) bool {
	holder := v.taken[object]
	if holder == nil && name != "" {
		holder = v.named[memberKey{group.Name, name}]
	}
	if holder != nil && !v.owns(holder) {
		v.warn(pod, reasonNameTaken, object, "GroupMember "+holder.Name+" in ConsumerGroup "+group.Name+" bears this pod's name and is not of "+
			v.Workload.Kind+" "+v.Workload.Name+": delete that member, or rename one of the two")
	}
	return holder != nil
}

func (v *view) newMember(group *v1alpha1.ConsumerGroup, pod *corev1.Pod, name, object string, now seen) *v1alpha1.GroupMember {
	member := &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       v.Namespace,
			Name:            object,
			Labels:          map[string]string{v1alpha1.GroupLabel: group.Name},
			Finalizers:      []string{v1alpha1.HandoverFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(group, v1alpha1.GroupVersion.WithKind("ConsumerGroup"))},
		},
		Spec: v1alpha1.GroupMemberSpec{
			Group:      group.Name,
			MemberName: name,
			Workload:   &v1alpha1.WorkloadReference{Kind: v.Workload.Kind, Name: v.Workload.Name},
			Presence:   &v1alpha1.Presence{State: now.state, Reason: now.reason, Since: v.instant()},
			Capacity:   v.capacityOf(pod, group.Name, nil),
		},
	}
	v.identify(&member.Spec, pod)
	member.Spec.Topics = v.topicsOf(pod, group.Name)
	return member
}

// identify writes down which pod the member is. A pod that has no node yet is expected in the zone of the one before.
func (v *view) identify(spec *v1alpha1.GroupMemberSpec, pod *corev1.Pod) {
	spec.Incarnation = string(pod.UID)
	spec.Host = pod.Spec.NodeName
	if zone := v.zoneOf(pod.Spec.NodeName); zone != "" {
		spec.Zone = zone
	}
	workload := *spec.Workload
	workload.UID = v.workloadUID(pod, workload.UID)
	spec.Workload = &workload
	spec.Acknowledgement = v.acknowledgementOf(pod)
}

// readOffer takes over what the pod can take. Topics count with the pod that brings them; capacities wait until the
// workload has ceased to roll, so that all of them change in one round.
func (v *view) readOffer(spec *v1alpha1.GroupMemberSpec, pod *corev1.Pod) {
	if topics := v.topicsOf(pod, spec.Group); !slices.Equal(topics, slices.Sorted(slices.Values(spec.Topics))) {
		spec.Topics = topics
	}
	capacity := v.capacityOf(pod, spec.Group, spec.Capacity)
	if !v.rolling() && share(capacity) != share(spec.Capacity) {
		spec.Capacity = capacity
	}
}

// share is the capacity with its default.
func share(capacity *int64) int64 {
	if capacity == nil {
		return 1
	}
	return *capacity
}

// worthWriting says that something changed that others go by. Where a member that is not there would be does not count,
// nor does another reason to be Present; both are written along with the next change.
func worthWriting(before, after *v1alpha1.GroupMemberSpec) bool {
	if presenceChanged(before.Presence, after.Presence) || before.Incarnation != after.Incarnation ||
		*before.Workload != *after.Workload || before.Acknowledgement != after.Acknowledgement ||
		!slices.Equal(before.Topics, after.Topics) || share(before.Capacity) != share(after.Capacity) {
		return true
	}
	return after.Presence.State == v1alpha1.Present && (before.Host != after.Host || before.Zone != after.Zone)
}

func presenceChanged(before, after *v1alpha1.Presence) bool {
	if before == nil || before.State != after.State || before.Stopped != after.Stopped {
		return true
	}
	return after.State != v1alpha1.Present &&
		(before.Reason != after.Reason || !before.Since.Equal(&after.Since) || before.Message != after.Message)
}
