package presence

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Whatever happens to a workload: the answer does not depend on the order of lists, changes none of the objects that it was
// given, and once carried out leaves nothing to do; who wakes it finds that an instant is still to come.
func TestWhateverHappens(t *testing.T) {
	for seed := range uint64(100) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 1))
			w := settled(t, "web-0", "web-1", "web-2")
			if chance.IntN(4) == 0 {
				w.annotate(v1alpha1.MembershipAnnotation, "dynamic")
			}
			for range 60 {
				w.anything(chance)
				w.check(chance)
				w.s.Now = w.s.Now.Add(time.Duration(chance.Int64N(int64(4 * time.Second))))
			}
		})
	}
}

// check asks for a decision twice, in two orders, carries it out, and asks again.
func (w *world) check(chance *rand.Rand) {
	w.t.Helper()
	before := w.copyOf()
	d := Decide(w.s)
	if !reflect.DeepEqual(before, w.copyOf()) {
		w.t.Fatal("the decision changed its snapshot")
	}
	shuffled := w.s
	shuffled.Pods, shuffled.Members = shuffle(chance, w.s.Pods), shuffle(chance, w.s.Members)
	if other := Decide(shuffled); !reflect.DeepEqual(d, other) {
		w.t.Fatalf("in another order: %+v, not %+v", other, d)
	}
	if !d.WakeAt.IsZero() && !d.WakeAt.After(w.s.Now) {
		w.t.Fatalf("at %s it wants to be woken at %s", w.s.Now, d.WakeAt)
	}
	w.apply(d)
	again := Decide(w.s)
	if n := len(again.Creates) + len(again.Updates) + len(again.Deletes); n > 0 {
		w.t.Fatalf("decided again it writes %d more: %+v", n, again)
	}
	w.sleepsWell(again)
}

// sleepsWell: as long as nothing happens, nothing is to be written before WakeAt.
func (w *world) sleepsWell(d Decision) {
	w.t.Helper()
	later := w.s
	later.Sights = d.Sights
	later.Now = w.s.Now.Add(time.Hour)
	if !d.WakeAt.IsZero() {
		later.Now = d.WakeAt.Add(-time.Microsecond)
	}
	if early := Decide(later); len(early.Creates)+len(early.Updates)+len(early.Deletes) > 0 {
		w.t.Fatalf("asleep until %s, it should have written at %s", d.WakeAt, later.Now)
	}
}

func (w *world) copyOf() Snapshot {
	s := w.s
	s.Pods, s.Members = nil, nil
	for _, pod := range w.s.Pods {
		s.Pods = append(s.Pods, pod.DeepCopy())
	}
	for _, member := range w.s.Members {
		s.Members = append(s.Members, member.DeepCopy())
	}
	s.StatefulSet = w.s.StatefulSet.DeepCopy()
	s.Sights = Sights{}
	for name, sight := range w.s.Sights {
		s.Sights[name] = sight
	}
	return s
}

func shuffle[T any](chance *rand.Rand, list []T) []T {
	mixed := append([]T{}, list...)
	chance.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed
}

// anything lets one thing happen to the workload, a pod, a node, or a member's status.
func (w *world) anything(chance *rand.Rand) {
	name := fmt.Sprintf("web-%d", chance.IntN(4))
	there := w.s.Pods != nil && len(w.podsNamed(name)) > 0
	change := func(changes ...func(*corev1.Pod)) {
		if there {
			w.pod(name, changes...)
		}
	}
	happenings := []func(){
		func() { w.create(name) },
		func() { w.start(name) },
		func() { w.remove(name) },
		func() { change(on("n2")) },
		func() { change(w.running) },
		func() { change(w.ready) },
		func() { change(w.notReady) },
		func() { change(w.crashed) },
		func() { change(w.terminating) },
		func() { change(failed) },
		func() { change(orphaned) },
		func() { change(note(v1alpha1.CapacityAnnotation, fmt.Sprint(chance.IntN(5)-1))) },
		func() { change(note(v1alpha1.TopicsAnnotation, []string{"", "a,b", "b", "x y"}[chance.IntN(4)])) },
		func() { w.scale(int32(chance.IntN(5))) },
		func() { roll(w, int32(chance.IntN(5))) },
		func() {
			w.node("n1", []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionUnknown, corev1.ConditionFalse}[chance.IntN(3)])
		},
		func() {
			w.annotate(v1alpha1.MembershipAnnotation, []string{"static", "dynamic", "both"}[chance.IntN(3)])
		},
		func() { w.annotate(v1alpha1.GroupAnnotation, []string{"g", "", "g,h"}[chance.IntN(3)]) },
		func() {
			w.status(name, state([]v1alpha1.MemberState{v1alpha1.MemberActive, v1alpha1.MemberDead, v1alpha1.MemberLeaving}[chance.IntN(3)]))
		},
		func() { w.deleteMember(name) },
		func() { w.forget(name) },
	}
	happenings[chance.IntN(len(happenings))]()
}

func (w *world) podsNamed(name string) []*corev1.Pod {
	var found []*corev1.Pod
	for _, pod := range w.s.Pods {
		if pod.Name == name {
			found = append(found, pod)
		}
	}
	return found
}

// forget lets a member's object go, as the coordinator would.
func (w *world) forget(name string) {
	var others []*v1alpha1.GroupMember
	for _, member := range w.s.Members {
		if member.Spec.MemberName != name || member.DeletionTimestamp == nil {
			others = append(others, member)
		}
	}
	w.s.Members = others
}
