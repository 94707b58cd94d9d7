package main

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// What the story waits for. Each is asked again with every change that the recorder sees.

// settled: this many members are active, hold what they should, and their pods have been told.
func (s *story) settled(members int) func() bool {
	return func() bool {
		group := s.seen.group()
		if group.Status.State != v1alpha1.GroupStable ||
			int(group.Status.Members) != members || int(group.Status.AvailableMembers) != members ||
			!meta.IsStatusConditionTrue(group.Status.Conditions, v1alpha1.GroupReady) {
			return false
		}
		active := 0
		for _, member := range s.seen.members() {
			switch member.Status.State {
			case v1alpha1.MemberActive:
				if !s.served(member) {
					return false
				}
				active++
			case v1alpha1.MemberDead:
			default:
				return false
			}
		}
		return active == members
	}
}

// served: the member is its present pod, nothing is on its way to it, and the pod's document says the same.
func (s *story) served(member *v1alpha1.GroupMember) bool {
	pod := s.podOf(member)
	if pod == nil || string(pod.UID) != member.Spec.Incarnation ||
		member.Status.MemberID != member.Spec.MemberName+"-"+member.Spec.Incarnation ||
		member.Spec.Presence.State != v1alpha1.Present || len(member.Status.Pending) > 0 {
		return false
	}
	var document v1alpha1.AssignmentDocument
	err := json.Unmarshal([]byte(pod.Annotations[v1alpha1.AssignmentAnnotationPrefix+member.Spec.Group]), &document)
	return err == nil && document.MemberID == member.Status.MemberID && document.Revision == member.Status.Revision
}

func (s *story) podOf(member *v1alpha1.GroupMember) *corev1.Pod {
	for _, pod := range s.seen.pods() {
		if pod.Name == member.Spec.MemberName {
			return pod
		}
	}
	return nil
}

// replaced: settled, and no pod is one that was there when the step began.
func (s *story) replaced(members int) func() bool {
	before := s.podsBefore
	settled := s.settled(members)
	return func() bool {
		return settled() && !slices.ContainsFunc(s.seen.pods(), func(pod *corev1.Pod) bool {
			return slices.Contains(before, pod.UID)
		})
	}
}

// terminating: at least this many pods are being deleted.
func (s *story) terminating(atLeast int) func() bool {
	return func() bool {
		going := 0
		for _, pod := range s.seen.pods() {
			if pod.DeletionTimestamp != nil {
				going++
			}
		}
		return going >= atLeast
	}
}

// decided: the group has this generation.
func (s *story) decided(generation int64) func() bool {
	return func() bool { return s.seen.group().Status.Generation >= generation }
}

// leaving: the coordinator has noted that these members leave.
func (s *story) leaving(names ...string) func() bool {
	return s.each(names, func(member *v1alpha1.GroupMember) bool {
		return member.Status.State == v1alpha1.MemberLeaving
	})
}

// away: these members have been absent for so long that it is shown. The reason is NodeLost, or NotReady where the
// pod was seen to lose its readiness before its node was: the same timeout runs.
func (s *story) away(names []string) func() bool {
	return s.each(names, func(member *v1alpha1.GroupMember) bool {
		return member.Status.State == v1alpha1.MemberUnavailable
	})
}

// each: it holds for all members of these names.
func (s *story) each(names []string, holds func(*v1alpha1.GroupMember) bool) func() bool {
	return func() bool {
		found := 0
		for _, member := range s.seen.members() {
			if slices.Contains(names, member.Spec.MemberName) && holds(member) {
				found++
			}
		}
		return found == len(names)
	}
}
