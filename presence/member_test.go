package presence

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func TestAMemberIsMadeWhenItsPodIsFirstPresent(t *testing.T) {
	w := newWorld(t)
	w.create("web-0")
	if d := w.decide(); len(d.Creates) > 0 {
		t.Fatalf("created for a pod that has not run: %s", w.said("web-0"))
	}
	w.pod("web-0", on("n2"), w.running)
	d := w.decide()
	if len(d.Creates) != 1 {
		t.Fatalf("%d members created", len(d.Creates))
	}
	got := d.Creates[0]
	if got.Namespace != "shop" || got.Name != "g.web-0" || got.Labels[v1alpha1.GroupLabel] != "g" ||
		!slices.Equal(got.Finalizers, []string{v1alpha1.HandoverFinalizer}) {
		t.Errorf("metadata %+v", got.ObjectMeta)
	}
	owner := metav1.GetControllerOf(got)
	if owner == nil || owner.UID != "group-g" || owner.Kind != "ConsumerGroup" || owner.APIVersion != "rollcall.dev/v1alpha1" || owner.Name != "g" {
		t.Errorf("owner %+v", owner)
	}
	spec := got.Spec
	if spec.Group != "g" || spec.MemberName != "web-0" || *spec.Workload != (v1alpha1.WorkloadReference{Kind: "StatefulSet", Name: "web", UID: "set"}) {
		t.Errorf("who it is: %+v", spec)
	}
	if spec.Incarnation != string(w.s.Pods[0].UID) || spec.Host != "n2" || spec.Zone != "west" || spec.Acknowledgement != v1alpha1.AcknowledgeNone {
		t.Errorf("what it is: %+v", spec)
	}
	if p := spec.Presence; p.State != v1alpha1.Present || p.Reason != v1alpha1.PresenceStarting || !p.Since.Time.Equal(noon) || spec.Capacity != nil || spec.Topics != nil {
		t.Errorf("how it is: %+v", spec)
	}
}

// What is stored has microseconds; with more, an object would differ from itself once read again.
func TestInstantsAreStoredInMicroseconds(t *testing.T) {
	w := newWorld(t)
	w.s.Now = noon.Add(1999 * time.Nanosecond)
	w.start("web-0")
	w.decide()
	if got := w.member("web-0").Spec.Presence.Since.Time; !got.Equal(noon.Add(time.Microsecond)) {
		t.Errorf("since %s", got)
	}
}

func TestWhoIsNotMadeAMember(t *testing.T) {
	tests := []struct {
		name   string
		before func(*world)
	}{
		{"its ordinal is out of range", func(w *world) { w.scale(0) }},
		{"it is being deleted", func(w *world) { w.pod("web-0", w.terminating) }},
		{"it has stopped", func(w *world) { w.pod("web-0", failed) }},
		{"its node is lost", func(w *world) { delete(w.s.Nodes, "n1") }},
		{"it crashes", func(w *world) { w.pod("web-0", w.crashed) }},
		{"the group does not exist", func(w *world) { w.s.Groups = nil }},
		{"the group is being deleted", func(w *world) { w.s.Groups["g"].DeletionTimestamp = metaTime(noon) }},
		{"the workload is absent", func(w *world) { w.s.StatefulSet = nil }},
		{"the workload is being deleted", func(w *world) { w.set(deleted) }},
		{"the workload is not annotated", func(w *world) { w.annotate(v1alpha1.GroupAnnotation, "") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.start("web-0")
			test.before(w)
			if d := w.decide(); len(d.Creates) > 0 {
				t.Errorf("created %s", d.Creates[0].Name)
			}
		})
	}
}

func TestSeveralGroups(t *testing.T) {
	w := newWorld(t)
	w.s.Groups["h"] = newGroup("h")
	w.annotate(v1alpha1.GroupAnnotation, " g , h,g,")
	w.start("web-0")
	w.decide()
	w.expect("g.web-0", "Present Ready 0s")
	w.expect("h.web-0", "Present Ready 0s")
	w.annotate(v1alpha1.GroupAnnotation, "h")
	w.decide()
	w.expect("g.web-0", "Leaving Withdrawn 0s")
	w.expect("h.web-0", "Present Ready 0s")
}

func TestPodsOfADeploymentAreDynamic(t *testing.T) {
	w := newWorld(t).deployed()
	w.s.Deployment.Annotations[v1alpha1.MembershipAnnotation] = "static"
	w.start("web-7d9-x2")
	d := w.decide()
	member := w.member("g.web-7d9-x2-00000001")
	if member == nil || member.Spec.MemberName != "" || member.Spec.Workload.UID != "deployment" {
		t.Fatalf("member %+v", member)
	}
	expectEvents(t, d, "Warning StaticNotSupported")
}

// What a process or the coordinator says in the same object is not ours to change.
func TestTheWordsOfTheProcessStay(t *testing.T) {
	w := settled(t, "web-0")
	own := &w.s.Members[0].Spec
	own.Acknowledged = &v1alpha1.Acknowledged{MemberID: "x", Revision: 3}
	own.Joined = &v1alpha1.Joined{MemberID: "x", Generation: 2}
	own.Sync = &v1alpha1.Sync{MemberID: "x", Generation: 2}
	own.Protocols = []v1alpha1.MemberProtocol{{Name: "range"}}
	w.s.Members[0].Annotations = map[string]string{v1alpha1.TouchedAnnotation: "a/1/2"}
	before := w.s.Members[0].DeepCopy()
	w.start("web-0")
	d := w.decide()
	if len(d.Updates) != 1 || d.Updates[0].Old.Spec.Incarnation != before.Spec.Incarnation {
		t.Fatalf("updates %+v", d.Updates)
	}
	after := d.Updates[0].New
	if after.Spec.Acknowledged == nil || after.Spec.Joined == nil || after.Spec.Sync == nil || len(after.Spec.Protocols) != 1 ||
		after.Annotations[v1alpha1.TouchedAnnotation] == "" {
		t.Errorf("lost: %+v", after.Spec)
	}
}

func TestANameThatSomebodyElseHas(t *testing.T) {
	tests := []struct {
		name   string
		holder v1alpha1.GroupMember
	}{
		{"self-registered", v1alpha1.GroupMember{
			ObjectMeta: metav1.ObjectMeta{Name: "g.web-0"},
			Spec:       v1alpha1.GroupMemberSpec{Group: "g", MemberName: "web-0", Incarnation: "i"},
		}},
		{"self-registered under an object name of its own", v1alpha1.GroupMember{
			ObjectMeta: metav1.ObjectMeta{Name: "mine"},
			Spec:       v1alpha1.GroupMemberSpec{Group: "g", MemberName: "web-0", Incarnation: "i"},
		}},
		{"of another workload", v1alpha1.GroupMember{
			ObjectMeta: metav1.ObjectMeta{Name: "g.web-0"},
			Spec: v1alpha1.GroupMemberSpec{
				Group: "g", MemberName: "web-0", Incarnation: "i",
				Workload: &v1alpha1.WorkloadReference{Kind: "StatefulSet", Name: "other"},
			},
		}},
		{"of another kind", v1alpha1.GroupMember{
			ObjectMeta: metav1.ObjectMeta{Name: "g.web-0"},
			Spec: v1alpha1.GroupMemberSpec{
				Group: "g", MemberName: "web-0", Incarnation: "i",
				Workload: &v1alpha1.WorkloadReference{Kind: "Deployment", Name: "web"},
			},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.start("web-0")
			w.s.Members = []*v1alpha1.GroupMember{&test.holder}
			d := w.decide()
			if len(d.Creates)+len(d.Updates)+len(d.Deletes) > 0 {
				t.Errorf("it writes: %+v", d)
			}
			expectEvents(t, d, "Warning NameTaken")
		})
	}
}

func TestMembersOfAGroupThatIsGone(t *testing.T) {
	gone := func(w *world) { w.s.Groups = map[string]*v1alpha1.ConsumerGroup{} }
	again := func(w *world) { w.s.Groups["g"] = newGroup("g"); w.s.Groups["g"].UID = "group-g-again" }
	for name, happen := range map[string]func(*world){"gone": gone, "gone and made again": again} {
		t.Run(name, func(t *testing.T) {
			w := settled(t, "web-0")
			happen(w)
			w.s.Live = Live{Workload: true}
			d := w.decide()
			if !d.Need.Groups["g"] || len(d.Deletes) > 0 || d.Need.Workload {
				t.Fatalf("need %+v, %d deletes; want the group to be read first", d.Need, len(d.Deletes))
			}
			w.s.Live.Groups = map[string]bool{"g": true}
			if d = Decide(w.s); len(d.Deletes) != 1 || len(d.Creates)+len(d.Updates) > 0 {
				t.Fatalf("want one delete, got %+v", d)
			}
			w.s.Members[0] = w.s.Members[0].DeepCopy()
			w.s.Members[0].DeletionTimestamp = metaTime(noon)
			if d = Decide(w.s); len(d.Deletes)+len(d.Creates)+len(d.Updates) > 0 {
				t.Errorf("written while it is being deleted: %+v", d)
			}
		})
	}
}

func TestBeforeLeavingTheWorkloadIsReadLive(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.scale(1)
	w.s.Live = Live{}
	d := w.decide()
	if !d.Need.Workload || len(d.Updates) > 0 {
		t.Fatalf("need %+v, %d updates", d.Need, len(d.Updates))
	}
	// The cache was behind: the pod is wanted.
	w.scale(2)
	w.s.Live.Workload = true
	w.decide()
	w.expect("web-1", "Present Ready 0s")
	// Who is leaving already needs no reading again.
	w.scale(1)
	w.decide()
	w.s.Live = Live{}
	w.pod("web-1", failed)
	if d := w.decide(); !d.Need.Empty() {
		t.Errorf("need %+v", d.Need)
	}
	w.expect("web-1", "Leaving PodGoing 1m0s stopped")
}

// Kubernetes writes that the node is lost, then that its pods are not ready; a cache may show the second first.
func TestBeforeNotReadyTheNodeIsReadLive(t *testing.T) {
	w := settled(t, "web-0")
	w.s.Live = Live{}
	w.pod("web-0", w.notReady)
	d := w.decide()
	if !d.Need.Nodes["n1"] || len(d.Updates) > 0 || len(d.Sights) > 0 {
		t.Fatalf("need %+v, updates %v, sights %v", d.Need, d.Updates, d.Sights)
	}
	w.node("n1", corev1.ConditionUnknown)
	w.s.Live.Nodes = map[string]bool{"n1": true}
	w.decide()
	w.expect("web-0", "Away NodeLost 1m0s")
	// An absence that has begun keeps its reason: nothing is read again.
	w.node("n1", corev1.ConditionTrue)
	w.s.Live = Live{}
	if d := w.decide(); !d.Need.Empty() {
		t.Errorf("need %+v", d.Need)
	}
}

func TestTopicsCountWithThePodThatBringsThem(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	roll(w, 1)
	w.create("web-1")
	w.pod("web-1", note(v1alpha1.TopicsAnnotation, "b, a,b"))
	w.decide()
	if got := w.member("web-1").Spec.Topics; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("topics %v", got)
	}
}

func TestCapacityWaitsForTheEndOfTheRoll(t *testing.T) {
	w := settled(t, "web-0", "web-1", "web-2")
	for i, name := range []string{"web-2", "web-1"} {
		roll(w, int32(i+1))
		w.start(name)
		w.pod(name, note(v1alpha1.CapacityAnnotation, "5"))
		w.decide()
		if got := share(w.member(name).Spec.Capacity); got != 1 {
			t.Errorf("%s: capacity %d in the midst of the roll", name, got)
		}
	}
	roll(w, 3)
	w.start("web-0")
	w.pod("web-0", note(v1alpha1.CapacityAnnotation, "5"))
	if d := w.decide(); len(d.Updates) != 3 {
		t.Errorf("%d updates at the end of the roll, want all three at once", len(d.Updates))
	}
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		if got := share(w.member(name).Spec.Capacity); got != 5 {
			t.Errorf("%s: capacity %d after the roll", name, got)
		}
	}
}

func TestWhenAWorkloadRolls(t *testing.T) {
	tests := []struct {
		name               string
		updated, partition int32
		current, update    string
		replicas           int32
		wantTakenOver      bool
		withoutPolicy      bool
	}{
		{name: "half way", updated: 1, current: "a", update: "b", replicas: 3},
		{name: "over", updated: 3, current: "a", update: "b", replicas: 3, wantTakenOver: true},
		{name: "at its partition", updated: 1, partition: 2, current: "a", update: "b", replicas: 3, wantTakenOver: true},
		{name: "above its partition", updated: 0, partition: 2, current: "a", update: "b", replicas: 3},
		{name: "partition above the replicas", updated: 0, partition: 9, current: "a", update: "b", replicas: 3, wantTakenOver: true},
		{name: "one revision", updated: 0, current: "b", update: "b", replicas: 3, wantTakenOver: true},
		{name: "no policy given", updated: 1, current: "a", update: "b", replicas: 3, withoutPolicy: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := settled(t, "web-0")
			w.set(func(s *appsv1.StatefulSet) {
				s.Status = appsv1.StatefulSetStatus{UpdateRevision: test.update, CurrentRevision: test.current, UpdatedReplicas: test.updated}
				if !test.withoutPolicy {
					s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &test.partition}
				}
			})
			w.pod("web-0", note(v1alpha1.CapacityAnnotation, "2"))
			w.decide()
			if got := share(w.member("web-0").Spec.Capacity) == 2; got != test.wantTakenOver {
				t.Errorf("capacity taken over: %v", got)
			}
		})
	}
}

// A node's zone may be learned later, and a node that is gone takes no zone away.
func TestHostAndZoneFollowThePodThatIsPresent(t *testing.T) {
	w := newWorld(t)
	delete(w.s.Nodes["n1"].Labels, corev1.LabelTopologyZone)
	w.start("web-0")
	w.decide()
	w.s.Nodes["n1"] = newNode("n1", "north")
	w.decide()
	if got := w.member("web-0").Spec.Zone; got != "north" {
		t.Errorf("zone %q", got)
	}
	delete(w.s.Nodes, "n1")
	w.decide()
	w.create("web-0")
	w.decide()
	if spec := w.member("web-0").Spec; spec.Zone != "north" || spec.Host != "" {
		t.Errorf("a pod on no node yet is on %q in %q", spec.Host, spec.Zone)
	}
	w.advance(time.Second)
	w.pod("web-0", on("n2"))
	if d := w.decide(); len(d.Updates) > 0 {
		t.Error("a node for a pod that does not run is written by itself")
	}
}

func roll(w *world, updated int32) {
	w.set(func(s *appsv1.StatefulSet) {
		s.Status = appsv1.StatefulSetStatus{UpdateRevision: "b", CurrentRevision: "a", UpdatedReplicas: updated}
	})
}

func note(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

func expectEvents(t *testing.T, d Decision, want ...string) {
	t.Helper()
	var got []string
	for _, event := range d.Events {
		kind := "Normal "
		if event.Warning {
			kind = "Warning "
		}
		got = append(got, kind+event.Reason)
		if event.Message == "" || event.Key == "" || event.About == nil {
			t.Errorf("event without its parts: %+v", event)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}
