package e2e_test

import (
	"maps"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/rollcall-dev/rollcall/test/referee"
)

// steady is a group that nothing may move: who holds what at which generation, and the versions since.
type steady struct {
	*sandbox
	generation int64
	owners     map[referee.Copy]string
	tokens     map[referee.Copy]int64
	from       int64
}

// nothingMoved begins to watch over a group that is settled.
func (s *sandbox) nothingMoved() *steady {
	s.t.Helper()
	s.quiet(time.Second)
	return &steady{
		sandbox: s, generation: s.group(groupName).Status.Generation, owners: s.owners(groupName), tokens: s.tokens(groupName), from: s.newest(),
	}
}

// check: no generation was spent, nobody holds anything else, not even in between, and those whose pods were replaced have
// greater tokens.
func (n *steady) check(replaced ...string) {
	n.t.Helper()
	n.caughtUp()
	if group := n.group(groupName); group.Status.Generation != n.generation {
		n.t.Errorf("generation %d became %d: %s", n.generation, group.Status.Generation, group.Status.LastRebalance.Reason)
	}
	if count := moved(n.since(n.from), groupName, n.owners); count > 0 || !maps.Equal(n.owners, n.sandbox.owners(groupName)) {
		n.t.Errorf("%d partitions moved", count)
	}
	now := n.sandbox.tokens(groupName)
	for c := range copiesOf(n.owners, replaced...) {
		if now[c] <= n.tokens[c] {
			n.t.Errorf("the token of %s was %d and is %d: the pod before is not fenced", c, n.tokens[c], now[c])
		}
	}
	n.judge(groupName)
}

// Whatever way a StatefulSet is rolled, nothing moves.
func TestRollsOfEveryKind(t *testing.T) {
	t.Parallel()
	names := []string{"web-0", "web-1", "web-2", "web-3"}
	for name, test := range map[string]struct {
		change func(*appsv1.StatefulSetSpec)
		names  []string
		// roll in place of a rollout by the controller.
		roll func(*sandbox)
	}{
		"ordered":  {change: func(*appsv1.StatefulSetSpec) {}},
		"parallel": {change: func(spec *appsv1.StatefulSetSpec) { spec.PodManagementPolicy = appsv1.ParallelPodManagement }},
		"max unavailable": {change: func(spec *appsv1.StatefulSetSpec) {
			spec.PodManagementPolicy = appsv1.ParallelPodManagement
			spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: ptr.To(intstr.FromInt32(3))}
		}},
		"ordinals from five": {
			change: func(spec *appsv1.StatefulSetSpec) { spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5} },
			names:  []string{"web-5", "web-6", "web-7", "web-8"},
		},
		"by hand": {
			change: func(spec *appsv1.StatefulSetSpec) { spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType },
			roll: func(s *sandbox) {
				s.kubectl("rollout", "restart", "statefulset/"+setName)
				for _, pod := range []string{"web-2", "web-0", "web-3", "web-1"} {
					s.replacePod(pod, "delete", "pod", pod, "--wait=false")
				}
			},
		},
		"in two parts": {
			change: func(spec *appsv1.StatefulSetSpec) {
				spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To[int32](2)}
			},
			roll: func(s *sandbox) {
				before := s.uids("web-2", "web-3")
				s.kubectl("rollout", "restart", "statefulset/"+setName)
				s.await("the upper half is new", func() bool { return s.allReplaced(before) })
				s.awaitSettled(groupName, 4)
				lower := s.uids("web-0", "web-1")
				s.patch(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: setName}}, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
				s.await("the lower half is new", func() bool { return s.allReplaced(lower) })
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			set := newSet(setName, groupName, 4)
			test.change(&set.Spec)
			s.create(newGroup(groupName, 12), set)
			s.awaitSettled(groupName, 4)
			watched := s.nothingMoved()
			if test.roll == nil {
				s.roll(setName)
			} else {
				test.roll(s)
			}
			s.awaitRolled(groupName, setName)
			if test.names == nil {
				test.names = names
			}
			watched.check(test.names...)
		})
	}
}

// uids are those of pods that are there.
func (s *sandbox) uids(pods ...string) map[string]string {
	uids := map[string]string{}
	for _, name := range pods {
		if pod, there := named[*corev1.Pod](s.recorder, name); there {
			uids[name] = string(pod.UID)
		}
	}
	return uids
}

// allReplaced: pods of the same names are Ready, and not the same.
func (s *sandbox) allReplaced(before map[string]string) bool {
	for name, uid := range before {
		pod, there := named[*corev1.Pod](s.recorder, name)
		if !there || string(pod.UID) == uid || !podReady(pod) {
			return false
		}
	}
	return true
}

// replacePod runs kubectl to end a pod, and waits until its successor is Ready.
func (s *sandbox) replacePod(pod string, command ...string) {
	s.t.Helper()
	before := s.uids(pod)
	s.kubectl(command...)
	s.await(pod+" is replaced", func() bool { return s.allReplaced(before) })
}

// However a single pod ends whose name is wanted, its successor goes on with what it had.
func TestAPodIsReplaced(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*sandbox){
		"deleted by hand": func(s *sandbox) { s.replacePod("web-1", "delete", "pod", "web-1", "--wait=false") },
		"force-deleted":   func(s *sandbox) { s.replacePod("web-1", "delete", "pod", "web-1", "--force", "--grace-period=0") },
		"evicted": func(s *sandbox) {
			before := s.uids("web-1")
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web-1"}}
			if err := suite.client.SubResource("eviction").Create(s.t.Context(), pod, &policyv1.Eviction{ObjectMeta: pod.ObjectMeta}); err != nil {
				s.t.Fatal(err)
			}
			s.await("its successor is there", func() bool { return s.allReplaced(before) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.create(newGroup(groupName, 12), newSet(setName, groupName, 3))
			s.awaitSettled(groupName, 3)
			watched := s.nothingMoved()
			end(s)
			s.awaitRolled(groupName, setName)
			watched.check("web-1")
		})
	}
}

// Scaled down and up again while the pod that was to go still works: its member leaves and the next one joins anew, or the pod
// never stopped counting; either way nobody else loses anything to nobody.
func TestScaledDownAndUpWithinTheGrace(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 24), newSet(setName, groupName, 6, behaves("terminates-after", "4s")))
	s.awaitSettled(groupName, 6)
	before := s.uids("web-5")
	s.scale(setName, 5)
	s.await("the pod is on its way out", func() bool {
		pod, there := named[*corev1.Pod](s.recorder, "web-5")
		return there && pod.DeletionTimestamp != nil
	})
	s.scale(setName, 6)
	s.await("the next pod is there", func() bool { return s.allReplaced(before) })
	s.awaitSettled(groupName, 6)
	checkEven(t, s.shares(groupName), 4)
	s.judge(groupName)
}

// A pod that is never Ready has its share all the same: its readiness may wait for it.
func TestAPodThatIsNeverReady(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	set := newSet(setName, groupName, 2, behaves("ready", "false"))
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	s.create(newGroup(groupName, 12), set)
	s.awaitSettled(groupName, 2)
	checkEven(t, s.shares(groupName), 6)
	for _, pod := range s.pods(setName) {
		if podReady(pod) {
			t.Errorf("%s is Ready: the test shows nothing", pod.Name)
		}
		if got := s.member(groupName, pod.Name).Spec.Presence; got == nil || got.Reason != "Starting" {
			t.Errorf("the presence of %s is %+v", pod.Name, got)
		}
	}
	s.judge(groupName)
}
