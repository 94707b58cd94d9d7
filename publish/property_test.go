package publish

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Whatever happens to a pod and its members: the answer does not depend on the order of lists, changes none of the objects
// that it was given, and once carried out leaves nothing to do until WakeAt; and nothing is acknowledged before the pod
// was told and the grace has passed.
func TestWhateverHappens(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 2))
			w := newWorld(t)
			w.s.Groups["h"] = newGroup("h")
			w.s.Members = append(w.s.Members, newMember("h"))
			if chance.IntN(3) == 0 {
				w.pod(refer(downward("metadata.annotations")))
			}
			for range 60 {
				w.anything(chance)
				w.check(chance)
				w.s.Now = w.s.Now.Add(time.Duration(chance.Int64N(int64(3 * time.Second))))
			}
		})
	}
}

func (w *world) check(chance *rand.Rand) {
	w.t.Helper()
	before := w.copyOf()
	d := Decide(w.s)
	if !reflect.DeepEqual(before, w.copyOf()) {
		w.t.Fatal("the decision changed its snapshot")
	}
	mixed := w.s
	mixed.Members = append([]*v1alpha1.GroupMember{}, w.s.Members...)
	chance.Shuffle(len(mixed.Members), func(i, j int) { mixed.Members[i], mixed.Members[j] = mixed.Members[j], mixed.Members[i] })
	if other := Decide(mixed); !reflect.DeepEqual(d, other) {
		w.t.Fatalf("in another order: %+v, not %+v", other, d)
	}
	if !d.WakeAt.IsZero() && !d.WakeAt.After(w.s.Now) {
		w.t.Fatalf("at %s it wants to be woken at %s", w.s.Now, d.WakeAt)
	}
	w.neverTooEarly(d)
	w.apply(d)
	// Without a grace what was published just now may be acknowledged, once.
	again := Decide(w.s)
	w.apply(again)
	if len(again.Annotations) > 0 || len(again.Updates) > 0 && graceOf(w.s.Groups["g"]) > 0 {
		w.t.Fatalf("decided again it writes %+v", again)
	}
	w.sleepsWell(Decide(w.s))
}

// neverTooEarly looks at each acknowledgement with other eyes: who has been told of each revocation it covers, and when.
func (w *world) neverTooEarly(d Decision) {
	w.t.Helper()
	for _, update := range d.Updates {
		member, word := update.New, update.New.Spec.Acknowledged
		group := w.s.Groups[member.Spec.Group]
		limit := w.s.Now.Add(-graceOf(group))
		for _, entry := range member.Status.Revoking {
			if entry.MemberID != word.MemberID || entry.Revision > word.Revision || covers(update.Old.Spec.Acknowledged, member, entry.Revision) {
				continue
			}
			told := !reads(w.s.Pod, group.Name) && !entry.Since.After(limit)
			for _, p := range w.document(group.Name).Published {
				told = told || p.UID == string(member.UID) && p.Revision >= entry.Revision && !p.At.After(limit)
			}
			if !told {
				w.t.Fatalf("revision %d is acknowledged too early: %s", word.Revision, w.s.Pod.Annotations)
			}
		}
	}
}

func (w *world) sleepsWell(d Decision) {
	w.t.Helper()
	later := w.s
	later.Now = w.s.Now.Add(time.Hour)
	if !d.WakeAt.IsZero() {
		later.Now = d.WakeAt.Add(-time.Microsecond)
	}
	if early := Decide(later); len(early.Annotations)+len(early.Updates) > 0 {
		w.t.Fatalf("asleep until %s, it should have written at %s: %+v", d.WakeAt, later.Now, early)
	}
}

func (w *world) copyOf() Snapshot {
	s := w.s
	s.Pod, s.Members, s.Groups = w.s.Pod.DeepCopy(), nil, map[string]*v1alpha1.ConsumerGroup{}
	for _, member := range w.s.Members {
		s.Members = append(s.Members, member.DeepCopy())
	}
	for name, group := range w.s.Groups {
		s.Groups[name] = group.DeepCopy()
	}
	return s
}

func (w *world) anything(chance *rand.Rand) {
	happenings := []func(){
		func() { w.revokeAny() },
		func() { w.revokeAny() },
		func() { w.member(func(m *v1alpha1.GroupMember) { m.Status.Revision++ }) },
		func() {
			w.member(func(m *v1alpha1.GroupMember) {
				m.Status.Revision++
				m.Status.Revoking = nil
				m.Status.Assignment.TopicPartitions[0].Partitions = []int32{0, 1, 2, 3, 4, 5}
			})
		},
		func() {
			w.member(func(m *v1alpha1.GroupMember) {
				m.UID += "+"
				m.Spec.Acknowledged, m.Status.Revoking, m.Status.Revision = nil, nil, 0
			})
		},
		func() { w.pod(func(p *corev1.Pod) { p.Annotations[key] = "broken" }) },
		func() { w.pod(func(p *corev1.Pod) { delete(p.Annotations, key) }) },
		func() {
			w.group(func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics[0].Partitions = chance.Int32N(8) + 1 })
		},
		func() {
			w.group(func(g *v1alpha1.ConsumerGroup) {
				g.Spec.Handover.RevocationGracePeriod = &metav1.Duration{Duration: time.Duration(chance.IntN(4)) * time.Second}
			})
		},
		func() {
			w.member(func(m *v1alpha1.GroupMember) {
				m.Spec.Acknowledgement = []v1alpha1.AcknowledgementMode{v1alpha1.AcknowledgeNone, v1alpha1.AcknowledgeExplicit}[chance.IntN(2)]
			})
		},
		func() {
			w.member(func(m *v1alpha1.GroupMember) { m.Status.MemberID = []string{id, "web-1-before"}[chance.IntN(2)] })
		},
		func() {
			w.pod(func(p *corev1.Pod) { p.UID = types.UID([]string{"pod", "next"}[chance.IntN(2)]) })
		},
		func() {
			w.pod(func(p *corev1.Pod) { p.Labels[v1alpha1.InjectLabel] = []string{"", "volume"}[chance.IntN(2)] })
		},
	}
	happenings[chance.IntN(len(happenings))]()
}

// revokeAny revokes if there is anything to take.
func (w *world) revokeAny() {
	if len(w.s.Members[0].Status.Assignment.TopicPartitions[0].Partitions) > 0 {
		w.revoke()
	}
}
