package e2e_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// A StatefulSet deleted without its pods, and created again, keeps its members: they work on, and nothing moves.
func TestStatefulSetDeletedWithoutItsPods(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newSet(setName, groupName, 3))
	s.awaitSettled(groupName, 3)
	watched, before := s.nothingMoved(), s.uids("web-0", "web-1", "web-2")
	s.kubectl("delete", "statefulset", setName, "--cascade=orphan")
	s.await("the pods are orphans", func() bool {
		return !slices.ContainsFunc(s.pods(setName), func(p *corev1.Pod) bool { return len(p.OwnerReferences) > 0 })
	})
	s.create(newSet(setName, groupName, 3))
	s.await("the pods are adopted", func() bool {
		return !slices.ContainsFunc(s.pods(setName), func(p *corev1.Pod) bool { return len(p.OwnerReferences) == 0 })
	})
	s.awaitSettled(groupName, 3)
	watched.check()
	for name, uid := range s.uids("web-0", "web-1", "web-2") {
		if uid != before[name] {
			t.Errorf("%s is another pod: the test shows nothing", name)
		}
	}
}

// A StatefulSet deleted with its pods: its members leave when their pods have stopped, and the group is Down. Created again
// it starts anew, under greater tokens.
func TestStatefulSetDeleted(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newSet(setName, groupName, 3))
	s.awaitSettled(groupName, 3)
	tokens := s.tokens(groupName)
	s.kubectl("delete", "statefulset", setName)
	s.await("the group is Down and its members are gone", func() bool {
		return s.group(groupName).Status.State == v1alpha1.GroupDown && len(s.members(groupName)) == 0
	})
	s.create(newSet(setName, groupName, 3))
	s.awaitSettled(groupName, 3)
	checkTokensRose(t, tokens, s.tokens(groupName))
	s.judge(groupName)
}

// The annotation can be added to what runs, changed and removed: no pod is restarted for it.
func TestAnnotationAddedChangedRemoved(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	set := newSet(setName, groupName, 3)
	set.Annotations = nil
	s.create(newGroup(groupName, 12), newGroup(otherGroup, 6), set)
	s.await("the pods are there", func() bool { return len(s.pods(setName)) == 3 && podReady(s.pods(setName)[2]) })
	before := s.uids("web-0", "web-1", "web-2")

	s.annotate(setName, `"`+groupName+`"`)
	s.awaitSettled(groupName, 3)
	s.annotate(setName, `"`+otherGroup+`"`)
	s.awaitEnded(groupName)
	s.await("the other group has them", func() bool { return s.settled(otherGroup, 3) })
	s.annotate(setName, "null")
	s.awaitEnded(otherGroup)
	for name, uid := range s.uids("web-0", "web-1", "web-2") {
		if uid != before[name] {
			t.Errorf("%s was restarted", name)
		}
	}
	s.judge(groupName)
	s.judge(otherGroup)
}

// annotate says which groups a StatefulSet is part of: a JSON string, or null.
func (s *sandbox) annotate(set, value string) {
	s.t.Helper()
	s.patch(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: set}}, `{"metadata":{"annotations":{"`+v1alpha1.GroupAnnotation+`":`+value+`}}}`)
}

// awaitEnded waits until a group is Down and nothing is left of its members, pods' documents included.
func (s *sandbox) awaitEnded(group string) {
	s.t.Helper()
	s.await(group+" has no member any more", func() bool {
		told := slices.ContainsFunc(current[*corev1.Pod](s.recorder), func(p *corev1.Pod) bool {
			return p.Annotations[v1alpha1.AssignmentAnnotationPrefix+group] != ""
		})
		return s.group(group).Status.State == v1alpha1.GroupDown && len(s.members(group)) == 0 && !told
	})
}

// A Deployment's pods are dynamic members: a rollout replaces them one by one, and the new ones have it all in the end.
func TestDeploymentRolled(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newDeployment("api", groupName, 3))
	s.awaitSettled(groupName, 3)
	s.kubectl("rollout", "restart", "deployment/api")
	s.kubectl("rollout", "status", "deployment/api", "--timeout="+patience.String())
	s.awaitSettled(groupName, 3)
	for _, member := range s.members(groupName) {
		if member.Spec.MemberName != "" || len(held(member)) != 4 {
			t.Errorf("%s, member name %q, holds %d of 12 partitions", member.Name, member.Spec.MemberName, len(held(member)))
		}
	}
	s.judge(groupName)
}

// Two StatefulSets in one group share it; one that goes leaves all to the other.
func TestTwoStatefulSetsInOneGroup(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newSet(setName, groupName, 2), newSet("batch", groupName, 2))
	s.awaitSettled(groupName, 4)
	checkEven(t, s.shares(groupName), 3)
	s.kubectl("delete", "statefulset", "batch")
	s.awaitSettled(groupName, 2)
	checkEven(t, s.shares(groupName), 6)
	s.judge(groupName)
}

// One StatefulSet in two groups is a member of each; a roll moves nothing in either.
func TestTwoGroupsOnOneStatefulSet(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	set := newSet(setName, groupName, 3, func(template *corev1.PodTemplateSpec) {
		other := newTemplate(nil, otherGroup, nil).Spec.Containers[0].Env[0]
		other.Name = "OTHER_ASSIGNMENT"
		template.Spec.Containers[0].Env = append(template.Spec.Containers[0].Env, other)
	})
	set.Annotations[v1alpha1.GroupAnnotation] = groupName + "," + otherGroup
	s.create(newGroup(groupName, 12), newGroup(otherGroup, 6), set)
	s.awaitSettled(groupName, 3)
	s.awaitSettled(otherGroup, 3)
	watched, other := s.nothingMoved(), s.owners(otherGroup)
	generation := s.group(otherGroup).Status.Generation
	s.roll(setName)
	s.awaitRolled(groupName, setName)
	s.awaitRolled(otherGroup, setName)
	watched.check("web-0", "web-1", "web-2")
	if count := moved(s.since(watched.from), otherGroup, other); count > 0 || s.group(otherGroup).Status.Generation != generation {
		t.Errorf("in the other group %d partitions moved", count)
	}
	s.judge(otherGroup)
}

// A parked member gives all it has, and takes its share again when it is parked no more. Parking is a roll of the pod
// template, whose capacities count when it is over.
func TestParkedMembers(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newGroup(groupName, 12), newSet(setName, groupName, 2), newSet("batch", groupName, 2))
	s.awaitSettled(groupName, 4)
	park := func(capacity string) {
		s.patch(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "batch"}},
			`{"spec":{"template":{"metadata":{"annotations":{"`+v1alpha1.CapacityAnnotation+`":`+capacity+`}}}}}`)
		s.kubectl("rollout", "status", "statefulset/batch", "--timeout="+patience.String())
	}
	park(`"0"`)
	s.await("the parked hold nothing", func() bool {
		shares := s.shares(groupName)
		return shares["batch-0"] == 0 && shares["batch-1"] == 0 && shares["web-0"] == 6 && s.settled(groupName, 4)
	})
	park("null")
	s.await("they have their share again", func() bool { return s.shares(groupName)["batch-1"] == 3 && s.settled(groupName, 4) })
	checkEven(t, s.shares(groupName), 3)
	s.judge(groupName)
}
