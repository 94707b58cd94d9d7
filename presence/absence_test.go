package presence

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func TestAnAbsenceKeepsItsReasonAndInstant(t *testing.T) {
	tests := []struct {
		name   string
		happen []func(*world) // one second apart, from a minute after noon on
		want   string
	}{
		{"not ready, then crashing", []func(*world){
			func(w *world) { w.pod("web-1", w.notReady) },
			func(w *world) { w.pod("web-1", w.crashed) },
		}, "Away NotReady 1m0s"},
		{"crashing, then deleted for good on a dead node", []func(*world){
			func(w *world) { w.pod("web-1", w.crashed) },
			func(w *world) { delete(w.s.Nodes, "n1"); w.remove("web-1") },
			func(*world) {},
			func(*world) {},
		}, "Away Crashing 1m0s stopped"},
		{"replaced, the next pod comes up slowly", []func(*world){
			func(w *world) { w.create("web-1") },
			func(w *world) { w.pod("web-1", on("n2")) },
			func(w *world) { w.pod("web-1", w.running, oneWaits) },
		}, "Away Replacing 1m0s"},
		{"replaced, the next pod crashes and is not restarted yet: the same absence", []func(*world){
			func(w *world) { w.create("web-1") },
			func(w *world) { w.pod("web-1", w.running, w.crashed) },
		}, "Away Replacing 1m0s"},
		{"replaced, the next pod is restarted: a new absence", []func(*world){
			func(w *world) { w.create("web-1") },
			func(w *world) { w.pod("web-1", w.running, w.crashed) },
			func(w *world) { w.pod("web-1", w.running) },
		}, "Away Crashing 1m2s"},
		{"replaced, the next pod crashes again and again: one absence", []func(*world){
			func(w *world) { w.create("web-1") },
			func(w *world) { w.pod("web-1", w.running, w.crashed) },
			func(w *world) { w.pod("web-1", w.running) },
			func(w *world) { w.pod("web-1", w.crashed) },
		}, "Away Crashing 1m2s"},
		{"node lost, forced away, the next pod is restarted: a new absence", []func(*world){
			func(w *world) { delete(w.s.Nodes, "n1") },
			func(w *world) { w.create("web-1") },
			func(w *world) { w.pod("web-1", on("n2"), w.running, w.crashed, w.running) },
		}, "Away Crashing 1m2s"},
		{"node lost and back, the same pod was restarted with it: the same absence", []func(*world){
			func(w *world) { w.node("n1", corev1.ConditionUnknown) },
			func(w *world) { w.node("n1", corev1.ConditionTrue); w.pod("web-1", w.crashed, w.running) },
		}, "Away NodeLost 1m0s"},
		{"node lost and back, Ready all the time", []func(*world){
			func(w *world) { w.node("n1", corev1.ConditionUnknown) },
			func(w *world) { w.node("n1", corev1.ConditionTrue) },
		}, "Present Ready 1m1s"},
		{"being replaced, the next pod's node is lost: a session is shorter", []func(*world){
			func(w *world) { w.create("web-1") },
			func(w *world) { w.pod("web-1", on("n2")); w.node("n2", corev1.ConditionUnknown) },
		}, "Away NodeLost 1m1s"},
		{"not ready, then its node is lost: the first session ends earlier", []func(*world){
			func(w *world) { w.pod("web-1", w.notReady) },
			func(w *world) { delete(w.s.Nodes, "n1") },
		}, "Away NotReady 1m0s"},
		{"force-deleted on a lost node: stopped by the person's word", []func(*world){
			func(w *world) { w.node("n1", corev1.ConditionUnknown) },
			func(w *world) { w.remove("web-1") },
			func(*world) {},
			func(*world) {},
		}, "Away NodeLost 1m0s stopped"},
		{"away and Ready again", []func(*world){
			func(w *world) { w.pod("web-1", w.notReady) },
			func(w *world) { w.pod("web-1", w.ready) },
		}, "Present Ready 1m1s"},
		{"not ready in the generation, then deleted: it is being replaced", []func(*world){
			func(w *world) { w.pod("web-1", w.notReady) },
			func(w *world) { w.pod("web-1", w.terminating) },
		}, "Present Terminating 1m1s"},
		{"dead of a crash loop, then deleted: present until it has stopped", []func(*world){
			func(w *world) { w.pod("web-1", w.crashed) },
			func(w *world) { w.status("web-1", state(v1alpha1.MemberDead)); w.pod("web-1", w.terminating) },
		}, "Present Terminating 1m1s"},
		{"the next pod is deleted before it has run", []func(*world){
			func(w *world) { w.create("web-1") },
			func(w *world) { w.pod("web-1", w.terminating) },
		}, "Present Terminating 1m1s"},
		{"leaving for a withdrawn group, then deleted", []func(*world){
			func(w *world) { w.annotate(v1alpha1.GroupAnnotation, "") },
			func(w *world) { w.pod("web-1", w.terminating) },
		}, "Leaving PodGoing 1m0s"},
		{"dead of a crash loop, its next pod crashes too: the same absence", []func(*world){
			func(w *world) { w.pod("web-1", w.crashed) },
			func(w *world) { w.status("web-1", state(v1alpha1.MemberDead)); w.create("web-1") },
			func(w *world) { w.pod("web-1", on("n2"), w.running, w.crashed) },
		}, "Away Crashing 1m0s"},
		{"leaving for a withdrawn group, deleted, and gone", []func(*world){
			func(w *world) { w.annotate(v1alpha1.GroupAnnotation, "") },
			func(w *world) { w.pod("web-1", w.terminating) },
			func(w *world) { w.remove("web-1") },
		}, "Leaving PodGoing 1m0s stopped"},
		{"leaving for its ordinal, wanted again, withdrawn", []func(*world){
			func(w *world) { w.scale(1) },
			func(w *world) { w.scale(3) },
			func(w *world) { w.annotate(v1alpha1.GroupAnnotation, "") },
		}, "Leaving Withdrawn 1m2s"},
		{"leaving, then its node is lost", []func(*world){
			func(w *world) { w.scale(1) },
			func(w *world) { delete(w.s.Nodes, "n1") },
		}, "Leaving NodeLost 1m1s"},
		{"leaving on a lost node that comes back", []func(*world){
			func(w *world) { w.scale(1) },
			func(w *world) { w.node("n1", corev1.ConditionUnknown) },
			func(w *world) { w.node("n1", corev1.ConditionTrue) },
		}, "Leaving PodGoing 1m2s"},
		{"on a lost node, then scaled away: since the node was lost", []func(*world){
			func(w *world) { delete(w.s.Nodes, "n1") },
			func(w *world) { w.scale(1) },
		}, "Leaving NodeLost 1m0s"},
		{"leaving, stopped, and gone", []func(*world){
			func(w *world) { w.scale(1) },
			func(w *world) { w.pod("web-1", w.terminating, failed) },
			func(w *world) { w.remove("web-1") },
		}, "Leaving PodGoing 1m0s stopped"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := settled(t, "web-0", "web-1", "web-2")
			for i, happen := range test.happen {
				if i > 0 {
					w.advance(time.Second)
				}
				happen(w)
				w.decide()
			}
			w.expect("web-1", test.want)
		})
	}
}

// The stop waits two seconds for the next pod, and not a microsecond longer.
func TestStopAndNewIdentityAreOneWrite(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.remove("web-1")
	first := w.decide()
	if want := w.s.Now.Add(mergeWindow); len(first.Updates) > 0 || !first.WakeAt.Equal(want) {
		t.Fatalf("%d updates, wake at %s; want none, wake at %s", len(first.Updates), first.WakeAt, want)
	}
	w.advance(mergeWindow - time.Microsecond)
	if early := w.decide(); len(early.Updates) > 0 {
		t.Fatalf("written before the window is over: %v", w.said("web-1"))
	}
	w.create("web-1")
	w.decide()
	w.expect("web-1", "Away Replacing 1m0s")
	if got := w.writes["g.web-1"]; got != 1 {
		t.Errorf("%d writes for stop and new identity", got)
	}
}

func TestStopIsWrittenWhenNobodyFollowsInTime(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.remove("web-1")
	w.decide()
	w.advance(mergeWindow)
	w.decide()
	w.expect("web-1", "Away Replacing 1m0s stopped")
	d := w.decide()
	if !d.WakeAt.IsZero() || len(d.Sights) > 0 {
		t.Errorf("wake at %s, sights %v; want neither", d.WakeAt, d.Sights)
	}
}

// Somebody may wait for the stop: then it is told at once.
func TestStopIsWrittenAtOnce(t *testing.T) {
	tests := []struct {
		name   string
		before func(*world)
		want   string
	}{
		{"its status is Leaving", func(w *world) { w.status("web-1", state(v1alpha1.MemberLeaving)) }, "Away Replacing 1m0s stopped"},
		{"it has a revocation", func(w *world) {
			w.status("web-1", func(s *v1alpha1.GroupMemberStatus) { s.Revoking = []v1alpha1.Revocation{{Revision: 1}} })
		}, "Away Replacing 1m0s stopped"},
		{"its object is being deleted", func(w *world) { w.deleteMember("web-1") }, "Away Replacing 1m0s stopped"},
		{"it was leaving and is wanted again", func(w *world) {
			w.scale(1)
			w.decide()
			w.scale(2)
		}, "Away Replacing 1m0s stopped"},
		{"its name is out of range", func(w *world) { w.scale(1) }, "Leaving PodGoing 1m0s stopped"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := settled(t, "web-0", "web-1")
			test.before(w)
			w.remove("web-1")
			w.decide()
			w.expect("web-1", test.want)
		})
	}
}

// The memory of first sights may be lost at any time: the wait begins anew, nothing else happens.
func TestLostSightsLengthenTheWait(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.remove("web-1")
	w.decide()
	w.advance(time.Second)
	w.s.Sights = nil
	w.decide()
	w.expect("web-1", "Present Ready 0s")
	w.advance(mergeWindow)
	w.decide()
	w.expect("web-1", "Away Replacing 1m1s stopped")
}

// A write that failed is decided again later: the absence still began when it was first seen.
func TestAFailedWriteKeepsTheFirstSight(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.pod("web-1", w.notReady)
	failed := Decide(w.s)
	w.s.Sights = failed.Sights
	w.advance(3 * time.Second)
	w.decide()
	w.expect("web-1", "Away NotReady 1m0s")
}

// Deadlines are judged with the group's timeouts, inside what the manager allows.
func TestRestartedContainersHaveToLastForASession(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.s.Config.SessionMin = 20 * time.Second
	w.pod("web-1", w.crashed, w.running)
	d := w.decide()
	if want := w.s.Now.Add(20 * time.Second); !d.WakeAt.Equal(want) {
		t.Fatalf("wake at %s, want %s", d.WakeAt, want)
	}
	w.advance(20*time.Second - time.Microsecond)
	w.decide()
	w.expect("web-1", "Away Crashing 1m0s")
	w.advance(time.Microsecond)
	w.decide()
	w.expect("web-1", "Present Starting 1m20s")
}

func TestTroubleIsToldOnce(t *testing.T) {
	w := settled(t, "web-0", "web-1")
	w.create("web-1")
	w.pod("web-1", on("n2"), func(p *corev1.Pod) { p.Labels = map[string]string{"controller-revision-hash": "web-5f7"} })
	w.decide()
	waiting := func(reason string) {
		w.advance(time.Second)
		w.pod("web-1", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{
				{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}, {Name: "log"},
			}
		})
		w.decide()
	}
	waiting("ContainerCreating")
	if got := w.member("web-1").Spec.Presence.Message; got != "" || w.writes["g.web-1"] != 1 {
		t.Errorf("creating its containers is no trouble: %q, %d writes", got, w.writes["g.web-1"])
	}
	for range 3 {
		waiting("ErrImagePull")
		waiting("ImagePullBackOff")
	}
	want := `revision web-5f7: container app waits for its image, which cannot be pulled`
	if got := w.member("web-1").Spec.Presence.Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got := w.writes["g.web-1"]; got != 2 {
		t.Errorf("%d writes, want one for the pod and one for the trouble", got)
	}
	w.pod("web-1", func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }, w.running)
	w.decide()
	if got := w.member("web-1").Spec.Presence; got.Message != "" || got.State != v1alpha1.Present {
		t.Errorf("present again it still says %+v", got)
	}
}

func (w *world) deleteMember(name string) {
	for i, member := range w.s.Members {
		if member.Spec.MemberName == name {
			w.s.Members[i] = member.DeepCopy()
			now := w.s.Now
			w.s.Members[i].DeletionTimestamp = metaTime(now)
		}
	}
}
