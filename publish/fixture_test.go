package publish

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

const (
	grace = 5 * time.Second
	key   = "assignment.rollcall.dev/g"
	id    = "web-1-pod"
)

// noon is when every test begins.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// world is one pod, web-1, that reads its annotation, with a member in group "g" that cannot acknowledge.
type world struct {
	t      *testing.T
	s      Snapshot
	writes int
}

func newWorld(t *testing.T) *world {
	return &world{t: t, s: Snapshot{
		Pod: &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", UID: "pod", Labels: map[string]string{}, Annotations: map[string]string{}},
			Spec:       corev1.PodSpec{Volumes: []corev1.Volume{downward("metadata.annotations['" + key + "']")}},
			Status:     corev1.PodStatus{Phase: corev1.PodRunning},
		},
		Members: []*v1alpha1.GroupMember{newMember("g")},
		Groups:  map[string]*v1alpha1.ConsumerGroup{"g": newGroup("g")},
		Now:     noon,
	}}
}

func downward(path string) corev1.Volume {
	return corev1.Volume{VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
		Items: []corev1.DownwardAPIVolumeFile{{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}},
	}}}
}

func newGroup(name string) *v1alpha1.ConsumerGroup {
	return &v1alpha1.ConsumerGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("group-" + name)},
		Spec: v1alpha1.ConsumerGroupSpec{
			Topics:   []v1alpha1.TopicSpec{{Name: "orders", Partitions: 6}, {Name: "stock", Partitions: 4, Replicas: 2}},
			Handover: v1alpha1.Handover{Policy: v1alpha1.HandoverAvailable, RevocationGracePeriod: &metav1.Duration{Duration: grace}},
		},
	}
}

// newMember holds orders 0 to 2 at revision 1.
func newMember(group string) *v1alpha1.GroupMember {
	return &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: group + ".web-1", UID: types.UID("member-" + group)},
		Spec: v1alpha1.GroupMemberSpec{
			Group: group, MemberName: "web-1", Incarnation: "pod", Acknowledgement: v1alpha1.AcknowledgeNone,
			Workload: &v1alpha1.WorkloadReference{Kind: "StatefulSet", Name: "web"},
		},
		Status: v1alpha1.GroupMemberStatus{
			MemberID: id, State: v1alpha1.MemberActive, Generation: 1, Revision: 1,
			Assignment: &v1alpha1.MemberAssignment{TopicPartitions: []v1alpha1.TopicPartitions{{Topic: "orders", Partitions: []int32{0, 1, 2}, Token: 77}}},
		},
	}
}

func (w *world) advance(d time.Duration) { w.s.Now = w.s.Now.Add(d) }

// member changes the member in g, as others would.
func (w *world) member(change func(*v1alpha1.GroupMember)) {
	w.s.Members[0] = w.s.Members[0].DeepCopy()
	change(w.s.Members[0])
}

func (w *world) group(change func(*v1alpha1.ConsumerGroup)) {
	w.s.Groups["g"] = w.s.Groups["g"].DeepCopy()
	change(w.s.Groups["g"])
}

func (w *world) pod(change func(*corev1.Pod)) {
	w.s.Pod = w.s.Pod.DeepCopy()
	change(w.s.Pod)
}

// revoke takes the highest partition from the member, as the coordinator would: at the next revision.
func (w *world) revoke() {
	w.member(func(m *v1alpha1.GroupMember) {
		status := &m.Status
		status.Revision++
		held := &status.Assignment.TopicPartitions[0]
		last := len(held.Partitions) - 1
		taken := v1alpha1.TopicPartitions{Topic: held.Topic, Partitions: []int32{held.Partitions[last]}, Token: held.Token}
		held.Partitions = held.Partitions[:last]
		status.Revoking = append(status.Revoking, v1alpha1.Revocation{
			MemberID: status.MemberID, Revision: status.Revision, Since: metav1.NewMicroTime(w.s.Now),
			TopicPartitions: []v1alpha1.TopicPartitions{taken},
		})
	})
}

// decide asks once and carries the answer out.
func (w *world) decide() Decision {
	w.t.Helper()
	d := Decide(w.s)
	if !d.WakeAt.IsZero() && !d.WakeAt.After(w.s.Now) {
		w.t.Fatalf("at %s it wants to be woken at %s", w.s.Now, d.WakeAt)
	}
	w.apply(d)
	return d
}

func (w *world) apply(d Decision) {
	if len(d.Annotations) > 0 {
		w.writes++
		w.pod(func(p *corev1.Pod) {
			for key, text := range d.Annotations {
				if text == nil {
					delete(p.Annotations, key)
				} else {
					p.Annotations[key] = *text
				}
			}
		})
	}
	for _, update := range d.Updates {
		w.writes++
		for i, member := range w.s.Members {
			if member.Name == update.New.Name {
				w.s.Members[i] = update.New
			}
		}
	}
}

// document is the one that stands in the pod for that group.
func (w *world) document(group string) v1alpha1.AssignmentDocument {
	return parse(w.s.Pod.Annotations[v1alpha1.AssignmentAnnotationPrefix+group])
}

// acknowledged is the revision that was acknowledged for the member in g; 0 for none.
func (w *world) acknowledged() int64 {
	word := w.s.Members[0].Spec.Acknowledged
	if word == nil {
		return 0
	}
	if word.MemberID != id {
		w.t.Errorf("acknowledged for %s", word.MemberID)
	}
	return word.Revision
}

// expectAcknowledged carries out one decision; 0 stands for nothing acknowledged.
func (w *world) expectAcknowledged(revision int64) {
	w.t.Helper()
	w.decide()
	if got := w.acknowledged(); got != revision {
		w.t.Errorf("%s after noon: revision %d is acknowledged, want %d", w.s.Now.Sub(noon), got, revision)
	}
}
