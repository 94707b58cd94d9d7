package e2e_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// A node that falls silent costs its pod the session, then the others take over. When it is back, so is the member.
func TestLostNode(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12, sessionOf(shortSession)), newSet(setName, groupName, lonelyNodes, lonely))
	s.awaitSettled(groupName, lonelyNodes)
	generation := s.group(groupName).Status.Generation
	pod, _ := named[*corev1.Pod](s.recorder, "web-1")

	if err := suite.cluster.LoseNode(t.Context(), pod.Spec.NodeName); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := suite.cluster.ReturnNode(context.Background(), pod.Spec.NodeName); err != nil {
			t.Error(err)
		}
	})
	s.await("its member is away for it", func() bool {
		presence := s.member(groupName, "web-1").Spec.Presence
		return presence.State == v1alpha1.Away && presence.Reason == v1alpha1.PresenceNodeLost
	})
	s.awaitRemoved(generation+1, "SessionExpired", "web-1")
	s.checkPatience(v1alpha1.PresenceNodeLost, shortSession)
	if still, ok := named[*corev1.Pod](s.recorder, "web-1"); !ok || still.UID != pod.UID || stopped(still) {
		t.Error("the pod on the lost node is not the one that was there: the test shows nothing")
	}

	if err := suite.cluster.ReturnNode(t.Context(), pod.Spec.NodeName); err != nil {
		t.Fatal(err)
	}
	s.awaitSettled(groupName, lonelyNodes)
	checkGeneration(t, s.group(groupName), generation+2, "MemberJoined", "web-1")
	checkEven(t, s.shares(groupName), 6)
	s.judge(groupName)
}
