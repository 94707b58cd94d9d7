package e2e_test

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// shortSession is for tests in which a session is meant to end; the manager takes nothing below 6 s.
const shortSession = 6 * time.Second

// A pod that crashes again and again is removed once, when its session has ended; it joins again when it is well.
func TestCrashLoop(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12, sessionOf(shortSession)), newSet(setName, groupName, 3))
	s.awaitSettled(groupName, 3)
	generation := s.group(groupName).Status.Generation

	s.behave("web-1", "crash", "1s")
	s.awaitRemoved(generation+1, "SessionExpired", "web-1")
	s.checkPatience(v1alpha1.PresenceCrashing, shortSession)
	s.awaitCrashes("web-1", 5)
	if now := s.group(groupName).Status.Generation; now != generation+1 {
		t.Errorf("a crash loop costs one removal, not %d generations", now-generation)
	}

	s.behave("web-1", "crash", "")
	s.awaitSettled(groupName, 3)
	checkGeneration(t, s.group(groupName), generation+2, "MemberJoined", "web-1")
	checkEven(t, s.shares(groupName), 4)
	s.judge(groupName)
}

// A revision that never comes up stops the roll, which costs the group one member, and no more however often it crashes.
func TestBrokenRevision(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12, sessionOf(shortSession)), newSet(setName, groupName, 3))
	s.awaitSettled(groupName, 3)
	generation := s.group(groupName).Status.Generation

	s.kubectl("patch", "statefulset", setName, "--patch",
		`{"spec":{"template":{"metadata":{"annotations":{"`+behavior+`crash":"1s"}}}}}`)
	s.awaitRemoved(generation+1, "SessionExpired", "web-2")
	if message := s.member(groupName, "web-2").Spec.Presence.Message; message == "" {
		t.Error("web-2 is away, and its GroupMember does not say what is wrong with its pod")
	}
	s.awaitCrashes("web-2", 3)

	s.kubectl("rollout", "undo", "statefulset/"+setName)
	s.remove(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-2"}}) // A StatefulSet does not replace a broken pod by itself.
	s.awaitSettled(groupName, 3)
	checkGeneration(t, s.group(groupName), generation+2, "MemberJoined", "web-2")
	s.judge(groupName)
}

// behave tells a pod how to behave, or with an empty value to be itself again.
func (s *sandbox) behave(pod, key, value string) {
	s.t.Helper()
	text := `"` + value + `"`
	if value == "" {
		text = "null"
	}
	s.patch(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod}}, `{"metadata":{"annotations":{"`+behavior+key+`":`+text+`}}}`)
}

// awaitRemoved waits until one member of three is out and the others hold everything.
func (s *sandbox) awaitRemoved(generation int64, reason, name string) {
	s.t.Helper()
	s.await(name+" is out and the others hold everything", func() bool {
		group := s.group(groupName)
		return ready(group) && group.Status.Generation == generation && int(group.Status.Members) == len(s.members(groupName))-1 &&
			s.member(groupName, name).Status.State == v1alpha1.MemberDead
	})
	s.awaitTold(groupName)
	checkGeneration(s.t, s.group(groupName), generation, reason, name)
	if left := held(s.member(groupName, name)); len(left) > 0 {
		s.t.Errorf("%s is out and holds %v", name, left)
	}
}

// checkPatience: the member was not declared dead before its session had ended, counted from when its absence began.
func (s *sandbox) checkPatience(reason string, session time.Duration) {
	s.t.Helper()
	s.caughtUp()
	found := false
	for _, v := range s.history() {
		member, ok := v.object.(*v1alpha1.GroupMember)
		if !ok || member.Status.State != v1alpha1.MemberDead || member.Spec.Presence.Reason != reason {
			continue
		}
		found = true
		if took := member.Status.Left.Time.Sub(member.Spec.Presence.Since.Time); took < session {
			s.t.Errorf("%s was declared dead %v after its absence began; its session is %v", member.Name, took, session)
		}
	}
	if !found {
		s.t.Errorf("nobody was declared dead for %s", reason)
	}
}

// awaitCrashes waits until a pod has crashed that many times more. On a busy machine the simulation may lose a step of a pod;
// it looks again at every pod that changes.
func (s *sandbox) awaitCrashes(pod string, times int32) {
	s.t.Helper()
	until := s.restarts(pod) + times
	crashed := func() bool { return s.restarts(pod) >= until }
	for nudge := range 9 {
		if s.within(patience/9, "it has crashed again", crashed) {
			return
		}
		s.behave(pod, "nudge", strconv.Itoa(nudge))
	}
	s.t.Fatalf("waited %v in vain until %s had crashed %d times more", patience, pod, times)
}

// restarts counts how often a pod's first container was started again.
func (s *sandbox) restarts(pod string) int32 {
	p, ok := named[*corev1.Pod](s.recorder, pod)
	if !ok || len(p.Status.ContainerStatuses) == 0 {
		return 0
	}
	return p.Status.ContainerStatuses[0].RestartCount
}
