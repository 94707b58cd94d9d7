package publish

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func nowhere(p *corev1.Pod) { p.Spec.Volumes = nil }

func refer(volume corev1.Volume) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Volumes = []corev1.Volume{volume} }
}

func env() corev1.EnvVar {
	field := &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['" + key + "']"}
	return corev1.EnvVar{Name: "ASSIGNMENT", ValueFrom: &corev1.EnvVarSource{FieldRef: field}}
}

func metaTime(at time.Time) *metav1.Time {
	t := metav1.NewTime(at)
	return &t
}

func ownedBy(uid types.UID) []metav1.OwnerReference {
	yes := true
	return []metav1.OwnerReference{{Kind: "ConsumerGroup", Name: "g", UID: uid, Controller: &yes}}
}

// The pod is told at once; when the grace has passed since then, and not a microsecond earlier, the word is given for it.
func TestTheGraceRunsFromTheWrite(t *testing.T) {
	w := newWorld(t)
	w.decide()
	w.revoke()
	w.advance(time.Second) // the coordinator's write was slow to be seen
	w.decide()
	d := w.decide()
	if want := w.s.Now.Add(grace); !d.WakeAt.Equal(want) {
		t.Errorf("wake at %s, want %s", d.WakeAt, want)
	}
	w.advance(grace - time.Microsecond)
	w.expectAcknowledged(0)
	w.advance(time.Microsecond)
	w.expectAcknowledged(2)
	if got := w.writes; got != 3 {
		t.Errorf("%d writes: want the first document, the one of the revocation and the acknowledgement", got)
	}
	if d = w.decide(); !d.WakeAt.IsZero() {
		t.Errorf("wake at %s though nothing is due", d.WakeAt)
	}
}

// A later revision has its own wait and does not restart the earlier one's.
func TestEachRevisionHasItsOwnWait(t *testing.T) {
	w := newWorld(t)
	w.revoke()
	w.decide()
	w.advance(3 * time.Second)
	w.revoke()
	w.decide()
	if got := w.document("g").Published; len(got) != 2 || got[0].Revision != 2 || got[1].Revision != 3 {
		t.Fatalf("published %+v", got)
	}
	w.advance(grace - 3*time.Second)
	w.expectAcknowledged(2)
	w.advance(3*time.Second - time.Microsecond)
	w.expectAcknowledged(2)
	w.advance(time.Microsecond)
	w.expectAcknowledged(3)
}

// One document may tell of several revocations: those that were not seen one by one.
func TestOneDocumentTellsOfAllRevocations(t *testing.T) {
	w := newWorld(t)
	w.revoke()
	w.revoke()
	w.member(func(m *v1alpha1.GroupMember) { m.Status.Revision++ }) // and of a grant
	w.decide()
	if got := w.document("g").Published; len(got) != 1 || got[0].Revision != 4 {
		t.Fatalf("published %+v", got)
	}
	w.advance(grace)
	w.expectAcknowledged(4)
}

// A revision that takes nothing away is not waited for.
func TestAGrantRestartsNothing(t *testing.T) {
	w := newWorld(t)
	w.revoke()
	w.decide()
	w.advance(time.Second)
	w.member(func(m *v1alpha1.GroupMember) { m.Status.Revision++ })
	w.decide()
	if got := w.document("g").Published; len(got) != 1 || got[0].Revision != 2 {
		t.Fatalf("published %+v", got)
	}
	w.advance(grace - time.Second)
	w.expectAcknowledged(2)
}

// What has been acknowledged leaves the document with its next change, not by a write of its own.
func TestAcknowledgedRevisionsLeaveWithTheNextChange(t *testing.T) {
	w := newWorld(t)
	w.revoke()
	w.decide()
	w.advance(grace)
	w.decide()
	w.writes = 0
	w.decide()
	if w.writes > 0 {
		t.Error("an acknowledgement makes another document")
	}
	w.member(func(m *v1alpha1.GroupMember) { m.Status.Revision, m.Status.Revoking = 3, nil })
	w.decide()
	if got := w.document("g").Published; len(got) > 0 || w.writes != 1 {
		t.Errorf("published %+v, %d writes", got, w.writes)
	}
}

func TestWhoIsAcknowledgedFor(t *testing.T) {
	tests := []struct {
		name   string
		change func(*world)
		want   int64
	}{
		{"a member that cannot", func(*world) {}, 2},
		{"a member that does so itself", func(w *world) {
			w.member(func(m *v1alpha1.GroupMember) { m.Spec.Acknowledgement = v1alpha1.AcknowledgeExplicit })
		}, 0},
		{"under Exclusive nobody", func(w *world) {
			w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Handover.Policy = v1alpha1.HandoverExclusive })
		}, 0},
		{"under the default policy", func(w *world) {
			w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Handover.Policy = "" })
		}, 2},
		{"a member that leaves", func(w *world) {
			w.member(func(m *v1alpha1.GroupMember) { m.Status.State = v1alpha1.MemberLeaving })
		}, 2},
		{"what was taken from the incarnation before is over", func(w *world) {
			w.member(func(m *v1alpha1.GroupMember) { m.Status.Revoking[0].MemberID = "web-1-before" })
		}, 0},
		{"the incarnation before had the last word", func(w *world) {
			w.member(func(m *v1alpha1.GroupMember) {
				m.Spec.Acknowledged = &v1alpha1.Acknowledged{MemberID: "web-1-before", Revision: 9, Final: true}
			})
		}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.revoke()
			test.change(w)
			w.decide()
			w.advance(grace)
			d := w.decide()
			if want := test.want; want == 0 && len(d.Updates) > 0 || want > 0 && (len(d.Updates) != 1 || w.acknowledged() != want) {
				t.Errorf("updates %+v, want %d", d.Updates, test.want)
			}
			published := w.document("g").Published
			if test.want == 0 && len(published) > 0 {
				t.Errorf("published %+v though nobody waits for it", published)
			}
		})
	}
}

// What is said already is not said again, and never taken back.
func TestAcknowledgedAlready(t *testing.T) {
	for _, word := range []v1alpha1.Acknowledged{{MemberID: id, Revision: 2}, {MemberID: id, Revision: 7}, {MemberID: id, Final: true}} {
		w := newWorld(t)
		w.revoke()
		w.member(func(m *v1alpha1.GroupMember) { m.Spec.Acknowledged = &word })
		w.decide()
		w.advance(time.Hour)
		if d := w.decide(); len(d.Updates) > 0 {
			t.Errorf("after %+v it says %+v", word, d.Updates[0].New.Spec.Acknowledged)
		}
	}
}

// A member that was made again has the same memberID and counts its revisions from zero: what the pod was told of the one
// before is no start of its grace.
func TestAnotherObjectsDocumentsDoNotCount(t *testing.T) {
	w := newWorld(t)
	w.revoke()
	w.decide()
	w.advance(grace)
	w.member(func(m *v1alpha1.GroupMember) { m.UID = "again" })
	w.expectAcknowledged(0)
	if got := w.document("g").Published; len(got) != 1 || got[0].UID != "again" || !got[0].At.Time.Equal(w.s.Now) {
		t.Fatalf("published %+v", got)
	}
	w.advance(grace)
	w.expectAcknowledged(2)
}

// Nobody can tell a pod that reads no document: its grace runs from the revocation.
func TestTheGraceOfAPodThatReadsNothing(t *testing.T) {
	w := newWorld(t)
	w.pod(nowhere)
	w.revoke()
	w.advance(time.Second)
	w.revoke()
	w.advance(grace - time.Second - time.Microsecond)
	w.expectAcknowledged(0)
	if d := w.decide(); !d.WakeAt.Equal(w.s.Now.Add(time.Microsecond)) {
		t.Errorf("wake at %s", d.WakeAt)
	}
	w.advance(time.Microsecond)
	w.expectAcknowledged(2)
	w.advance(time.Second)
	w.expectAcknowledged(3)
	if len(w.s.Pod.Annotations) > 0 {
		t.Errorf("annotated: %v", w.s.Pod.Annotations)
	}
}

// Without a grace the word comes after the document, not with it.
func TestNoGrace(t *testing.T) {
	w := newWorld(t)
	w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Handover.RevocationGracePeriod = &metav1.Duration{} })
	w.revoke()
	if d := w.decide(); len(d.Annotations) != 1 || len(d.Updates) > 0 {
		t.Fatalf("first %+v", d)
	}
	w.expectAcknowledged(2)
}

func TestTheDefaultGrace(t *testing.T) {
	w := newWorld(t)
	w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Handover.RevocationGracePeriod = nil })
	w.revoke()
	w.decide()
	if d := w.decide(); !d.WakeAt.Equal(noon.Add(10 * time.Second)) {
		t.Errorf("wake at %s", d.WakeAt)
	}
}

// A pod that has stopped needs no word: its stop ends the revocation.
func TestAStoppedPodIsNotSpokenFor(t *testing.T) {
	w := newWorld(t)
	w.revoke()
	w.decide()
	w.pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	w.advance(grace)
	if d := w.decide(); len(d.Updates)+len(d.Annotations) > 0 || !d.WakeAt.IsZero() {
		t.Errorf("decided %+v", d)
	}
}

func TestTheWordsOfOthersStay(t *testing.T) {
	w := newWorld(t)
	w.revoke()
	w.member(func(m *v1alpha1.GroupMember) {
		m.Spec.Protocols = []v1alpha1.MemberProtocol{{Name: "range"}}
		m.Spec.Presence = &v1alpha1.Presence{State: v1alpha1.Present}
	})
	w.decide()
	w.advance(grace)
	d := w.decide()
	if after := d.Updates[0].New; len(after.Spec.Protocols) != 1 || after.Spec.Presence == nil || len(after.Status.Revoking) != 1 {
		t.Errorf("lost: %+v", after)
	}
}
