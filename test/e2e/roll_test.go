package e2e_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// writesPerRolledPod is what a roll may cost: the member's side with the new pod, its take-over, the pod's document, and
// the member Present again.
const (
	writesPerRolledPod = 4
	rolledReplicas     = 6
	// rollPatience bounds the wait for a roll, one pod after another.
	rollPatience = 15 * time.Minute
)

// A rolling restart changes nothing but who bears the name: same generation, same owners, hardly a write.
func TestRoll(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 24), newSet(setName, groupName, rolledReplicas))
	s.awaitSettled(groupName, rolledReplicas)
	s.quiet(3 * time.Second)
	if generation := s.group(groupName).Status.Generation; generation != 1 {
		t.Errorf("pods that start together join in one generation, not %d", generation)
	}
	before, owners, tokens := s.group(groupName), s.owners(groupName), s.tokens(groupName)
	from, mark := s.newest(), s.mark()

	s.roll(setName)
	s.awaitRolled(groupName, setName)
	s.quiet(3 * time.Second)

	after := s.group(groupName)
	if after.Status.Generation != before.Status.Generation {
		t.Errorf("the roll took the group from generation %d to %d: %s", before.Status.Generation, after.Status.Generation, after.Status.LastRebalance.Reason)
	}
	s.caughtUp()
	if count := moved(s.since(from), groupName, owners); count > 0 || !maps.Equal(owners, s.owners(groupName)) {
		t.Errorf("the roll moved %d partitions", count)
	}
	for c, token := range s.tokens(groupName) {
		if token <= tokens[c] {
			t.Errorf("the token of %s was %d and is %d: the pod before it is not fenced", c, tokens[c], token)
		}
	}
	if after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the group was written during the roll")
	}
	checkRollWrites(t, s.ourWrites(mark), s.podsMade(from), s.lateSuccessors(from))
	s.judge(groupName)
}

// podsMade counts the pods of each name since a version. On a busy machine the StatefulSet controller replaces one twice.
func (s *sandbox) podsMade(from int64) map[string]int {
	made, known := map[string]int{}, map[types.UID]bool{}
	for _, v := range s.history() {
		pod, ok := v.object.(*corev1.Pod)
		if ok && v.number > from && !known[pod.UID] {
			made[pod.Name]++
		}
		known[v.object.GetUID()] = true
	}
	return made
}

// mergeWindow is how long the news that a pod has stopped waits for the next pod of its name, to be one write with it.
const mergeWindow = 2 * time.Second

// lateSuccessors counts, by name, the pods that Kubernetes made only when that wait was over, as it may on a busy machine:
// the stop of the one before then stands in the member as a write of its own, and before the next pod in the API server.
func (s *sandbox) lateSuccessors(from int64) map[string]int {
	late, told, known := map[string]int{}, map[string]bool{}, map[types.UID]bool{}
	for _, v := range s.history() {
		switch object := v.object.(type) {
		case *v1alpha1.GroupMember:
			told[object.Spec.MemberName] = toldOfStop(object.Spec.Presence, v.seen)
		case *corev1.Pod:
			if v.number > from && !known[object.UID] && told[object.Name] {
				late[object.Name]++
			}
			known[object.UID] = true
		}
	}
	return late
}

// toldOfStop: the presence says, at that time, that its pod stopped at least the window ago.
func toldOfStop(presence *v1alpha1.Presence, at time.Time) bool {
	return presence != nil && presence.State == v1alpha1.Away && presence.Stopped && at.Sub(presence.Since.Time) >= mergeWindow
}

func checkRollWrites(t *testing.T, writes audit.Writes, made, late map[string]int) {
	t.Helper()
	all := 0
	for ordinal := range rolledReplicas {
		name := fmt.Sprintf("%s-%d", setName, ordinal)
		of := aboutPod(writes, groupName, name)
		if made[name] == 0 || len(of) == 0 || len(of) > writesPerRolledPod*made[name]+late[name] {
			t.Errorf("%s was replaced %d times, which cost %d writes, allowed are %d each and %d for late successors:\n%s",
				name, made[name], len(of), writesPerRolledPod, late[name], of)
		}
		all += len(of)
	}
	if len(writes) != all {
		t.Errorf("the roll wrote to other objects than members and their pods:\n%s", writes)
	}
}

// roll restarts a StatefulSet's pods one after another, as a user does, and waits until all are new.
func (s *sandbox) roll(set string) {
	s.t.Helper()
	s.kubectl("rollout", "restart", "statefulset/"+set)
	s.kubectl("rollout", "status", "statefulset/"+set, "--timeout="+rollPatience.String())
}

// awaitRolled waits until every pod of the set is its member's incarnation, known to the coordinator, and told.
func (s *sandbox) awaitRolled(group, set string) {
	s.t.Helper()
	s.await("every member is of its new pod", func() bool {
		for _, pod := range s.pods(set) {
			member := s.member(group, pod.Name)
			if member.Spec.Incarnation != string(pod.UID) || member.Status.MemberID != pod.Name+"-"+string(pod.UID) {
				return false
			}
		}
		return true
	})
	s.awaitSettled(group, len(s.pods(set)))
}
