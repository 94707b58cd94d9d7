package presence

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func metaTime(at time.Time) *metav1.Time {
	t := metav1.NewTime(at)
	return &t
}

// What a StatefulSet does to one pod in a rolling restart costs two writes of its member.
func TestARollCostsTwoWritesAPod(t *testing.T) {
	w := settled(t, "web-0", "web-1", "web-2")
	for _, name := range []string{"web-2", "web-1", "web-0"} {
		steps := []func(){
			func() { w.pod(name, w.terminating) },
			func() { w.pod(name, w.notReady) },
			func() { w.pod(name, w.crashed) },
			func() { w.remove(name) },
			func() { w.create(name) },
			func() { w.pod(name, on("n2")) },
			func() { w.pod(name, w.running) },
			func() { w.pod(name, w.ready) },
		}
		for _, step := range steps {
			w.advance(500 * time.Millisecond)
			step()
			w.decide()
		}
		if got := w.writes["g."+name]; got != 2 {
			t.Errorf("%s: %d writes", name, got)
		}
		member := w.member(name)
		if member.Spec.Host != "n2" || member.Spec.Zone != "west" {
			t.Errorf("%s is on %s in %s", name, member.Spec.Host, member.Spec.Zone)
		}
	}
}

// Scaled away and wanted again while the pod still terminates: presence follows what is seen.
func TestSixFiveSixWithinTheTerminationGrace(t *testing.T) {
	w := settled(t, "web-0", "web-1", "web-2")
	w.scale(2)
	w.decide()
	w.expect("web-2", "Leaving PodGoing 1m0s")
	w.status("web-2", state(v1alpha1.MemberLeaving))
	w.pod("web-2", w.terminating)
	w.decide()

	w.advance(5 * time.Second)
	w.scale(3)
	w.decide()
	w.expect("web-2", "Present Terminating 1m5s")

	w.advance(5 * time.Second)
	w.remove("web-2")
	w.decide()
	w.expect("web-2", "Away Replacing 1m10s stopped")
	w.create("web-2")
	w.decide()
	w.expect("web-2", "Away Replacing 1m10s")
	w.pod("web-2", on("n1"), w.running)
	w.decide()
	w.expect("web-2", "Present Starting 1m10s")
}

// The coordinator takes a crash loop out once; nothing here brings it back before it lasts.
func TestACrashLoopStaysAway(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	for range 20 {
		w.pod("web-1", w.crashed)
		w.decide()
		w.advance(session / 2)
		w.pod("web-1", w.running)
		w.decide()
		w.advance(session / 2)
		w.decide()
	}
	w.expect("web-1", "Away Crashing 1m0s")
	if got := w.writes["g.web-1"]; got != 1 {
		t.Errorf("%d writes", got)
	}
}

// A StatefulSet deleted with its pods orphaned, and created again: nobody stopped. The members learn their new owner.
func TestAStatefulSetDeletedWithoutItsPods(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	set := w.s.StatefulSet
	w.s.StatefulSet = nil
	w.pod("web-0", orphaned)
	w.pod("web-1", orphaned)
	w.advance(time.Hour)
	if d := w.decide(); len(d.Updates) > 0 {
		t.Fatalf("orphans changed: %s", w.said("web-1"))
	}
	set.UID = "set-again"
	w.s.StatefulSet = set
	if d := w.decide(); len(d.Updates) > 0 {
		t.Fatalf("not adopted yet and changed: %s", w.said("web-1"))
	}
	for _, name := range []string{"web-0", "web-1"} {
		w.pod(name, adoptedBy(set))
	}
	w.decide()
	w.expect("web-1", "Present Ready 0s")
	if got := w.member("web-1").Spec.Workload.UID; got != "set-again" {
		t.Errorf("owner %s", got)
	}
}

// The set vanished in the midst of a roll: the pod that bears the name goes on.
func TestAnOrphanThatIsNewTakesOver(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.start("web-1")
	w.s.StatefulSet = nil
	w.decide()
	w.expect("web-1", "Present Ready 0s")
	if got := w.member("web-1").Spec.Incarnation; got != string(w.s.Pods[1].UID) {
		t.Errorf("incarnation %s", got)
	}
}

// Upgrade and downgrade: whoever runs keeps what it is, the next pod is the other kind.
func TestFromStaticToDynamicAndBack(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.annotate(v1alpha1.MembershipAnnotation, "dynamic")
	w.decide()
	w.expect("web-1", "Present Ready 0s")

	w.start("web-1")
	w.decide()
	w.expect("web-1", "Leaving Withdrawn 1m0s stopped")
	w.expect("g.web-1-00000003", "Present Ready 1m0s")

	// Static again before the static member is gone: the pod stays who it is.
	w.annotate(v1alpha1.MembershipAnnotation, "static")
	w.decide()
	w.expect("web-1", "Leaving Withdrawn 1m0s stopped")
	w.expect("g.web-1-00000003", "Present Ready 1m0s")

	w.start("web-1")
	w.decide()
	w.expect("g.web-1-00000003", "Leaving PodGoing 1m0s stopped")
	w.expect("web-1", "Present Ready 1m0s")
}

// A member that was deleted by hand takes no new pod and is made again when its object is gone.
func TestAMemberDeletedByHand(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.deleteMember("web-1")
	if d := w.decide(); len(d.Updates)+len(d.Creates) > 0 {
		t.Fatalf("written while it is being deleted: %s", w.said("web-1"))
	}
	w.start("web-1")
	w.decide()
	w.expect("web-1", "Away Replacing 1m0s stopped")

	w.s.Members = w.s.Members[:0:0]
	w.decide()
	w.expect("web-1", "Present Ready 1m0s")
	if got := w.member("web-1").Spec.Incarnation; got != string(w.s.Pods[1].UID) {
		t.Errorf("incarnation %s", got)
	}
}

func TestScaledAwayMemberIsNotMadeAgain(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.scale(1)
	w.decide()
	w.s.Members = []*v1alpha1.GroupMember{w.member("web-0")}
	if d := w.decide(); len(d.Creates) > 0 {
		t.Errorf("created %s, whose ordinal is out of range", d.Creates[0].Name)
	}
}

func adoptedBy(set *appsv1.StatefulSet) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	}
}
