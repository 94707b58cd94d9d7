package presence

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Every row begins with web-1 Ready on n1 and present since noon; what happens to it is seen a minute later.
func TestWhatIsSeenOfAMembersPod(t *testing.T) {
	tests := []struct {
		name   string
		happen func(*world)
		want   string
	}{
		// Its name is no longer wanted.
		{"its ordinal is out of range", func(w *world) { w.scale(1) }, "Leaving PodGoing 1m0s"},
		{"ordinals begin above it", func(w *world) {
			w.set(func(s *appsv1.StatefulSet) { s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 2} })
		}, "Leaving PodGoing 1m0s"},
		{"ordinals begin at it", func(w *world) {
			w.set(func(s *appsv1.StatefulSet) { s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1} })
			w.scale(1)
		}, "Present Ready 0s"},
		{"out of range and stopped", func(w *world) {
			w.scale(1)
			w.pod("web-1", w.terminating, failed)
		}, "Leaving PodGoing 1m0s stopped"},
		{"out of range and gone", func(w *world) {
			w.scale(1)
			w.remove("web-1")
		}, "Leaving PodGoing 1m0s stopped"},
		{"out of range on a lost node", func(w *world) {
			w.scale(1)
			w.node("n1", corev1.ConditionUnknown)
		}, "Leaving NodeLost 1m0s"},
		{"out of range, stopped, and its node is lost", func(w *world) {
			w.scale(1)
			w.pod("web-1", w.terminating, failed)
			w.node("n1", corev1.ConditionUnknown)
		}, "Leaving PodGoing 1m0s stopped"},
		{"the group is taken out of the annotation", func(w *world) { w.annotate(v1alpha1.GroupAnnotation, "h") }, "Leaving Withdrawn 1m0s"},
		{"the annotation is taken away", func(w *world) { w.annotate(v1alpha1.GroupAnnotation, "") }, "Leaving Withdrawn 1m0s"},
		{"the annotation is taken away and the pod is being deleted", func(w *world) {
			w.annotate(v1alpha1.GroupAnnotation, "")
			w.pod("web-1", w.terminating)
		}, "Leaving PodGoing 1m0s"},
		{"membership is dynamic now, and the pod runs", func(w *world) { w.annotate(v1alpha1.MembershipAnnotation, "dynamic") }, "Present Ready 0s"},
		{"membership is dynamic now, and the pod is being deleted", func(w *world) {
			w.annotate(v1alpha1.MembershipAnnotation, "dynamic")
			w.pod("web-1", w.terminating)
		}, "Present Ready 0s"},
		{"membership is dynamic now, and the pod has stopped", func(w *world) {
			w.annotate(v1alpha1.MembershipAnnotation, "dynamic")
			w.pod("web-1", failed)
		}, "Leaving Withdrawn 1m0s stopped"},
		{"membership is dynamic now, and the pod is gone", func(w *world) {
			w.annotate(v1alpha1.MembershipAnnotation, "dynamic")
			w.remove("web-1")
		}, "Leaving Withdrawn 1m0s stopped"},
		{"static membership is switched off, and the pod is gone", func(w *world) {
			w.s.Config.NoStaticMembership = true
			w.remove("web-1")
		}, "Leaving Withdrawn 1m0s stopped"},
		{"the workload is absent, the pod goes on", func(w *world) { w.s.StatefulSet = nil }, "Present Ready 0s"},
		{"the workload is being deleted, the pod goes on", func(w *world) { w.set(deleted) }, "Present Ready 0s"},
		{"the workload is being deleted at no replicas, the pod goes on", func(w *world) {
			w.set(deleted)
			w.scale(0)
		}, "Present Ready 0s"},
		{"the workload is absent, the pod is being deleted", func(w *world) {
			w.s.StatefulSet = nil
			w.pod("web-1", w.terminating)
		}, "Leaving PodGoing 1m0s"},
		{"the workload is absent, the pod is gone", func(w *world) {
			w.s.StatefulSet = nil
			w.remove("web-1")
		}, "Leaving PodGoing 1m0s stopped"},
		{"the workload is absent, the pod gone, and the next of its name is being deleted", func(w *world) {
			w.s.StatefulSet = nil
			w.start("web-1")
			w.pod("web-1", w.terminating)
		}, "Leaving PodGoing 1m0s stopped"},
		{"the workload is being deleted, the pod too", func(w *world) {
			w.set(deleted)
			w.pod("web-1", w.terminating)
		}, "Leaving PodGoing 1m0s"},
		{"the workload is absent, the pod has failed but is not deleted", func(w *world) {
			w.s.StatefulSet = nil
			w.pod("web-1", failed)
			w.decide()
			w.advance(2 * time.Second)
		}, "Away Gone 1m0s stopped"},
		{"the workload is absent, the orphan loses readiness", func(w *world) {
			w.s.StatefulSet = nil
			w.pod("web-1", orphaned, w.notReady)
		}, "Away NotReady 1m0s"},

		// Node lost.
		{"nobody hears of its node", func(w *world) { w.node("n1", corev1.ConditionUnknown) }, "Away NodeLost 1m0s"},
		{"its Node object is gone", func(w *world) { delete(w.s.Nodes, "n1") }, "Away NodeLost 1m0s"},
		{"its node says that it is not ready", func(w *world) { w.node("n1", corev1.ConditionFalse) }, "Present Ready 0s"},
		{"evicted from a lost node, still terminating", func(w *world) {
			w.node("n1", corev1.ConditionUnknown)
			w.pod("web-1", w.terminating)
		}, "Away NodeLost 1m0s"},

		// Being deleted and wanted.
		{"being deleted", func(w *world) { w.pod("web-1", w.terminating) }, "Present Ready 0s"},
		{"being deleted, its containers have ended one by one", func(w *world) { w.pod("web-1", w.terminating, w.crashed) }, "Present Ready 0s"},
		{"being deleted, no longer Ready", func(w *world) { w.pod("web-1", w.terminating, w.notReady) }, "Present Ready 0s"},

		// No pod, or one that has stopped.
		{"deleted and stopped on a Ready node", func(w *world) {
			w.pod("web-1", w.terminating, failed)
			w.decide()
			w.advance(2 * time.Second)
		}, "Away Replacing 1m0s stopped"},
		{"gone from a Ready node", func(w *world) {
			w.remove("web-1")
			w.decide()
			w.advance(2 * time.Second)
		}, "Away Replacing 1m0s stopped"},
		{"gone from a node that was not Ready", func(w *world) {
			w.node("n1", corev1.ConditionFalse)
			w.remove("web-1")
			w.decide()
			w.advance(2 * time.Second)
		}, "Away Gone 1m0s stopped"},
		{"gone with its node", func(w *world) {
			delete(w.s.Nodes, "n1")
			w.remove("web-1")
			w.decide()
			w.advance(2 * time.Second)
		}, "Away Gone 1m0s stopped"},
		{"deletion seen on a Ready node, then gone with its node", func(w *world) {
			w.pod("web-1", w.terminating)
			w.decide()
			delete(w.s.Nodes, "n1")
			w.remove("web-1")
			w.decide()
			w.advance(2 * time.Second)
		}, "Away Replacing 1m0s stopped"},
		{"failed (evicted), not deleted", func(w *world) {
			w.pod("web-1", failed)
			w.decide()
			w.advance(2 * time.Second)
		}, "Away Gone 1m0s stopped"},
		{"succeeded, not deleted", func(w *world) {
			w.pod("web-1", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
			w.decide()
			w.advance(2 * time.Second)
		}, "Away Gone 1m0s stopped"},
		{"replaced by a pod that is not scheduled", func(w *world) { w.create("web-1") }, "Away Replacing 1m0s"},
		{"replaced by a pod of which one container has run", func(w *world) {
			w.create("web-1")
			w.pod("web-1", on("n2"), w.running, oneWaits)
		}, "Away Replacing 1m0s"},
		{"replaced by a pod that is deleted before it has run", func(w *world) {
			w.create("web-1")
			w.pod("web-1", w.terminating)
		}, "Present Terminating 0s"},
		{"replaced by a pod of which one container fails before the other has run", func(w *world) {
			w.create("web-1")
			w.pod("web-1", on("n2"), w.running, w.crashed, w.running, oneWaits, func(p *corev1.Pod) { p.Status.ContainerStatuses[1].RestartCount = 0 },
				func(p *corev1.Pod) { p.Status.ContainerStatuses[1].LastTerminationState = corev1.ContainerState{} })
		}, "Away Crashing 1m0s"},
		{"replaced from a lost node by a pod elsewhere", func(w *world) {
			delete(w.s.Nodes, "n1")
			w.create("web-1")
		}, "Away Gone 1m0s"},

		// Present again in its next pod.
		{"replaced by a pod that is Ready", func(w *world) { w.start("web-1") }, "Present Ready 0s"},
		{"replaced by a pod that runs and was never Ready", func(w *world) {
			w.create("web-1")
			w.pod("web-1", on("n2"), w.running)
		}, "Present Starting 0s"},
		{"replaced by a pod that has lost readiness already", func(w *world) {
			w.start("web-1")
			w.advance(time.Second)
			w.pod("web-1", w.notReady)
		}, "Away NotReady 1m1s"},

		// Otherwise.
		{"Ready is lost", func(w *world) { w.pod("web-1", w.notReady) }, "Away NotReady 1m0s"},
		{"a container has exited and waits", func(w *world) { w.pod("web-1", w.crashed) }, "Away Crashing 1m0s"},
		{"the containers were restarted just now", func(w *world) { w.pod("web-1", w.crashed, w.running) }, "Away Crashing 1m0s"},
		{"the containers were restarted a session ago, never Ready since", func(w *world) {
			w.pod("web-1", w.crashed, w.running)
			w.advance(session)
		}, "Present Ready 0s"},
		{"restarted and Ready again", func(w *world) { w.pod("web-1", w.crashed, w.running, w.ready) }, "Present Ready 0s"},
		{"restarted long ago, then Ready, now not", func(w *world) {
			w.pod("web-1", w.crashed, w.running, w.ready)
			w.advance(time.Hour)
			w.pod("web-1", w.notReady)
		}, "Away NotReady 1h1m0s"},
		{"a sidecar restarts", func(w *world) {
			w.pod("web-1", func(p *corev1.Pod) {
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "proxy", RestartCount: 4}}
			})
		}, "Present Ready 0s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := settled(t, "web-0", "web-1", "web-2")
			w.expect("web-1", "Present Ready 0s")
			test.happen(w)
			w.decide()
			w.expect("web-1", test.want)
			if again := Decide(w.s); len(again.Creates)+len(again.Updates)+len(again.Deletes) > 0 {
				t.Errorf("decided again it writes %d more", len(again.Creates)+len(again.Updates)+len(again.Deletes))
			}
		})
	}
}

// A dynamic member has no name that another pod could bear.
func TestWhatIsSeenOfADynamicPod(t *testing.T) {
	tests := []struct {
		name   string
		happen func(*world)
		want   string
	}{
		{"its pod is being deleted", func(w *world) { w.pod("web-x", w.terminating) }, "Leaving PodGoing 1m0s"},
		{"its pod has stopped", func(w *world) { w.pod("web-x", failed) }, "Leaving PodGoing 1m0s stopped"},
		{"its pod is gone", func(w *world) { w.remove("web-x") }, "Leaving PodGoing 1m0s stopped"},
		{"its pod is gone, another bears its name", func(w *world) { w.start("web-x") }, "Leaving PodGoing 1m0s stopped"},
		{"its node is lost", func(w *world) { delete(w.s.Nodes, "n1") }, "Away NodeLost 1m0s"},
		{"deleted on a lost node", func(w *world) {
			delete(w.s.Nodes, "n1")
			w.decide()
			w.advance(5 * time.Second)
			w.pod("web-x", w.terminating)
		}, "Leaving NodeLost 1m0s"},
		{"its container has exited", func(w *world) { w.pod("web-x", w.crashed) }, "Away Crashing 1m0s"},
		{"the Deployment is absent, the pod goes on", func(w *world) { w.s.Deployment = nil }, "Present Ready 0s"},
		{"the Deployment is absent, the pod is being deleted", func(w *world) {
			w.s.Deployment = nil
			w.pod("web-x", w.terminating)
		}, "Leaving PodGoing 1m0s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t).deployed()
			w.start("web-x")
			w.decide()
			const name = "g.web-x-00000001"
			w.expect(name, "Present Ready 0s")
			w.advance(time.Minute)
			test.happen(w)
			w.decide()
			w.expect(name, test.want)
		})
	}
}

func (w *world) annotate(key, value string) {
	w.set(func(s *appsv1.StatefulSet) { s.Annotations[key] = value })
}

func deleted(s *appsv1.StatefulSet) {
	now := metav1.NewTime(noon)
	s.DeletionTimestamp = &now
}

func orphaned(p *corev1.Pod) { p.OwnerReferences = nil }

func oneWaits(p *corev1.Pod) {
	p.Status.ContainerStatuses[1].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
}
