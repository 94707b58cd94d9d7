package coordinator

import (
	"fmt"
	"testing"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// stableGroup is a group at rest: members pods, copies partitions in topics of a hundred.
func stableGroup(b *testing.B, members, partitions int) *bed {
	b.Helper()
	w := newBed(&testing.T{})
	w.group.Spec.Topics = nil
	for i := range partitions / 100 {
		w.group.Spec.Topics = append(w.group.Spec.Topics, v1alpha1.TopicSpec{Name: fmt.Sprintf("t%d", i), Partitions: 100, Replicas: 1, Weight: 1})
	}
	for i := range members {
		w.pod(fmt.Sprintf("web-%d", i))
	}
	w.settle()
	if st := w.group.Status; st.State != v1alpha1.GroupStable || int(st.AssignedPartitions) != partitions {
		b.Fatalf("not at rest: %+v", st)
	}
	return w
}

func BenchmarkDecideNothingToDo(b *testing.B) {
	w := stableGroup(b, 1000, 10_000)
	s := w.snapshot()
	b.ReportAllocs()
	for b.Loop() {
		if d := Decide(s); len(d.Batches) != 0 {
			b.Fatal("a group at rest is written")
		}
	}
}

func BenchmarkDecideOneLeaves(b *testing.B) {
	w := stableGroup(b, 1000, 10_000)
	m := w.members["g.web-7"].DeepCopy()
	m.Spec.Presence = &v1alpha1.Presence{State: v1alpha1.Leaving, Reason: v1alpha1.PresencePodGoing, Since: micro(w.now), Stopped: true}
	w.members[m.Name] = m
	w.apply(Decide(w.snapshot()).Batches[0].Writes[0])
	s := w.snapshot()
	b.ReportAllocs()
	for b.Loop() {
		if d := Decide(s); len(d.Batches) != 1 || d.Batches[0].Phase != PhasePlan {
			b.Fatal("no plan is made")
		}
	}
}
