package e2e_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// Scaling moves what must move, in one generation each way, and on the way down only when the leavers have stopped. All
// timeouts are far longer than the test waits.
func TestScaleUpAndDown(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 24), newSet(setName, groupName, 6, behaves("terminates-after", "2s")))
	s.awaitSettled(groupName, 6)
	started, generation, from := s.owners(groupName), s.group(groupName).Status.Generation, s.newest()

	s.scale(setName, 8)
	s.awaitSettled(groupName, 8)
	s.caughtUp()
	grown, up := s.owners(groupName), s.group(groupName)
	if count := moved(s.since(from), groupName, started); count != 6 {
		t.Errorf("two of eight members take 6 of 24 partitions; moved were %d", count)
	}
	checkEven(t, s.shares(groupName), 3)
	checkGeneration(t, up, generation+1, "MemberJoined", "web-6", "web-7")
	if up.Status.LastRebalance.Moved != 6 {
		t.Errorf("the status says that %d partitions moved, not 6", up.Status.LastRebalance.Moved)
	}

	leaving := copiesOf(grown, "web-6", "web-7")
	from = s.newest()
	s.scale(setName, 6)
	s.awaitSettled(groupName, 6)
	s.caughtUp()
	if count := moved(s.since(from), groupName, grown); count != len(leaving) {
		t.Errorf("the leavers held %d partitions; moved were %d", len(leaving), count)
	}
	checkEven(t, s.shares(groupName), 4)
	checkGeneration(t, s.group(groupName), generation+2, "MemberLeft", "web-6", "web-7")
	checkStoppedFirst(t, s.since(from), leaving)
	for _, name := range []string{"web-6", "web-7"} {
		if member := s.member(groupName, name); member.Name != "" {
			t.Errorf("%s has left and its GroupMember is still there", name)
		}
	}
	s.judge(groupName)
}

func (s *sandbox) scale(set string, replicas int) {
	s.t.Helper()
	s.patch(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: set}}, scaled(replicas))
}

// copiesOf says which member held which copy, of these members.
func copiesOf(owners map[referee.Copy]string, members ...string) map[referee.Copy]string {
	copies := maps.Clone(owners)
	maps.DeleteFunc(copies, func(_ referee.Copy, owner string) bool { return !slices.Contains(members, owner) })
	return copies
}

func checkEven(t *testing.T, shares map[string]int, each int) {
	t.Helper()
	for name, share := range shares {
		if share != each {
			t.Errorf("%s holds %d partitions, not %d", name, share, each)
		}
	}
}

// checkGeneration: the group is at that generation, and its status says why, with the names.
func checkGeneration(t testing.TB, group *v1alpha1.ConsumerGroup, generation int64, reason string, names ...string) {
	t.Helper()
	if group.Status.Generation != generation {
		t.Errorf("the group is at generation %d, not %d", group.Status.Generation, generation)
	}
	last := group.Status.LastRebalance
	if last == nil {
		t.Error("the status does not tell of the last rebalance")
		return
	}
	for _, word := range append(names, reason) {
		if !strings.Contains(last.Reason, word) {
			t.Errorf("the status gives %q as the reason of generation %d, without %s", last.Reason, last.Generation, word)
		}
	}
	if last.CompletionTime == nil {
		t.Errorf("the status does not say when generation %d was complete", last.Generation)
	}
}

// checkStoppedFirst: each copy came to its next owner only after the pod of the one before had stopped.
func checkStoppedFirst(t *testing.T, versions []version, leaving map[referee.Copy]string) {
	t.Helper()
	stoppedAt := map[string]int64{}
	for _, v := range versions {
		pod, ok := v.object.(*corev1.Pod)
		if ok && stoppedAt[pod.Name] == 0 && (v.gone || stopped(pod)) {
			stoppedAt[pod.Name] = v.number
		}
	}
	for c, leaver := range leaving {
		taker, at := firstOther(versions, c, leaver)
		switch {
		case at == 0:
			t.Errorf("nobody took %s, which %s left", c, leaver)
		case stoppedAt[leaver] == 0:
			t.Errorf("%s took %s, and %s was never seen to stop", taker, c, leaver)
		case at < stoppedAt[leaver]:
			t.Errorf("%s took %s with write %d; %s stopped only with write %d", taker, c, at, leaver, stoppedAt[leaver])
		}
	}
}

// firstOther is who was the first but the leaver to hold a copy, and the number of that write.
func firstOther(versions []version, c referee.Copy, leaver string) (string, int64) {
	for _, v := range versions {
		member, ok := v.object.(*v1alpha1.GroupMember)
		if ok && !v.gone && member.Spec.MemberName != leaver && slices.Contains(held(member), c) {
			return member.Spec.MemberName, v.number
		}
	}
	return "", 0
}
