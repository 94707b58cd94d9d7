package controllers

import (
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// namesAre waits until NamesUnique of the group has a status and a reason.
func (p *processes) namesAre(group *v1alpha1.ConsumerGroup, want metav1.ConditionStatus, reason string) {
	p.Helper()
	eventually(p.T, "NamesUnique of the group", func() error {
		if err := p.client.Get(p.Context(), client.ObjectKeyFromObject(group), group); err != nil {
			return err
		}
		if c := meta.FindStatusCondition(group.Status.Conditions, v1alpha1.NamesUnique); c == nil || c.Status != want || c.Reason != reason {
			return fmt.Errorf("it is %+v", c)
		}
		return nil
	})
}

// namesOf are the names of the group's members, in order; a dynamic one's is empty.
func (p *processes) namesOf() ([]string, error) {
	var list v1alpha1.GroupMemberList
	err := p.client.List(p.Context(), &list, client.InNamespace(p.namespace))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Spec.MemberName)
	}
	slices.Sort(names)
	return names, err
}

// A process has the name of a pod that comes later: the pod is no member, everybody is told, and when the process leaves
// the pod takes the name.
func TestAPodAndAProcessWantOneName(t *testing.T) {
	c, namespace := onCluster(t)
	startManager(t)
	group := sessionGroup(namespace, 4)
	mustCreate(t, c, group)
	p := &processes{T: t, client: c, namespace: namespace}
	process := p.join("w-0", "h1")
	p.works(process, 4)
	mustCreate(t, c, testStatefulSet(namespace, "g", 1))
	p.namesAre(group, metav1.ConditionFalse, v1alpha1.ReasonNameTaken)
	eventually(t, "the member is told, too", func() error {
		member, err := p.member(process)
		if err != nil {
			return err
		}
		if told := meta.FindStatusCondition(member.Status.Conditions, v1alpha1.NamesUnique); told == nil || told.Reason != v1alpha1.ReasonNameTaken {
			return fmt.Errorf("NamesUnique is %+v", told)
		}
		if member.Spec.Workload != nil || member.Status.MemberID != process.MemberID() {
			return fmt.Errorf("the member is %s of %v", member.Status.MemberID, member.Spec.Workload)
		}
		return nil
	})
	if len(process.Works()) != 4 || group.Status.Generation != 1 {
		t.Errorf("the process works on %v in generation %d", process.Works(), group.Status.Generation)
	}
	if err := process.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod is the member", func() error {
		member, err := p.member(process)
		if err == nil && (member.Spec.Workload == nil || member.Status.State != v1alpha1.MemberActive) {
			err = fmt.Errorf("the member is %s of %v", member.Status.State, member.Spec.Workload)
		}
		return err
	})
	p.namesAre(group, metav1.ConditionTrue, "Unique")
}

// Members become dynamic, and static again, by the annotation and a roll; nobody is left behind. A process beside them
// stays.
func TestStaticBesideDynamicAndBack(t *testing.T) {
	c, namespace := onCluster(t)
	startManager(t)
	group, set := sessionGroup(namespace, 6), testStatefulSet(namespace, "g", 2)
	group.Spec.SessionTimeout = lasting(30 * time.Second)
	mustCreate(t, c, group, set)
	key := client.ObjectKeyFromObject(group)
	p := &processes{T: t, client: c, namespace: namespace}
	process := p.join("apart", "h1")
	groupIs(t, c, key, 3)
	roll := func(membership string, want ...string) {
		t.Helper()
		annotated := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}},"spec":{"template":{"metadata":{"annotations":{"example.com/roll":%q}}}}}`,
			v1alpha1.MembershipAnnotation, membership, membership)
		if err := c.Patch(t.Context(), set, mergePatch(annotated)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the roll to "+membership, func() error { return rolled(t, c, set) })
		eventually(t, "the members are "+membership, func() error {
			names, err := p.namesOf()
			if err == nil && !slices.Equal(names, want) {
				err = fmt.Errorf("they are named %q, want %q", names, want)
			}
			return err
		})
		groupIs(t, c, key, 3)
	}
	roll(v1alpha1.MembershipDynamic, "", "", "apart")
	roll(v1alpha1.MembershipStatic, "apart", "w-0", "w-1")
	p.works(process, 2)
	if process.Err() != nil {
		t.Error(process.Err())
	}
}

// rolled says that all pods of a set are of its newest revision.
func rolled(t *testing.T, c client.Client, set *appsv1.StatefulSet) error {
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		return err
	}
	s, want := set.Status, *set.Spec.Replicas
	if s.ObservedGeneration != set.Generation || s.UpdatedReplicas != want || s.ReadyReplicas != want || s.CurrentRevision != s.UpdateRevision {
		return fmt.Errorf("updated %d, ready %d", s.UpdatedReplicas, s.ReadyReplicas)
	}
	return nil
}

// With --static-membership=false names are accepted and ignored.
func TestNamesAreIgnoredWhereTheManagerSaysSo(t *testing.T) {
	c, namespace := onCluster(t)
	startManager(t, func(o *Options) { o.StaticMembership = false })
	group := sessionGroup(namespace, 6)
	mustCreate(t, c, group, testStatefulSet(namespace, "g", 1))
	key := client.ObjectKeyFromObject(group)
	p := &processes{T: t, client: c, namespace: namespace}
	first := p.join("a", "h1")
	before := groupIs(t, c, key, 2)
	p.works(first, 3)
	p.namesAre(group, metav1.ConditionTrue, v1alpha1.ReasonStaticMembershipOff)
	if names, err := p.namesOf(); err != nil || !slices.Equal(names, []string{"", "a"}) {
		t.Errorf("the members are named %q (%v): a pod is dynamic, and what a process calls itself is kept", names, err)
	}
	first.Kill()
	second := p.join("a", "h1")
	p.works(second, 3)
	if after := groupIs(t, c, key, 2); after.Status.Generation != before.Status.Generation+1 {
		t.Errorf("a restart cost %d generations, want the one of a new member", after.Status.Generation-before.Status.Generation)
	}
}
