package coordinator

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// bed is the smallest world in which Decide can run: objects in maps, writes applied one by one.
type bed struct {
	t       *testing.T
	now     time.Time
	group   *v1alpha1.ConsumerGroup
	members map[string]*v1alpha1.GroupMember
	plans   []*Plan
	seen    map[string]Session
	term    string
	config  Config
	writes  []Write
	version int
}

func newBed(t *testing.T) *bed {
	b := &bed{
		t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), members: map[string]*v1alpha1.GroupMember{},
		seen: map[string]Session{}, term: "t1",
		config: Config{SessionMin: 6 * time.Second, SessionMax: 30 * time.Minute, ServeSelfRegistered: true},
	}
	b.group = &v1alpha1.ConsumerGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "g", UID: "0123456789", ResourceVersion: "1", Generation: 1},
		Spec: v1alpha1.ConsumerGroupSpec{
			AssignedBy: v1alpha1.AssignedByCoordinator, Assignor: "sticky",
			Topics:                []v1alpha1.TopicSpec{{Name: "orders", Partitions: 6, Replicas: 1, Weight: 1}},
			InitialRebalanceDelay: &metav1.Duration{}, ExpansionTimeout: &metav1.Duration{},
		},
	}
	return b
}

func (b *bed) pod(name string) *v1alpha1.GroupMember {
	m := &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "g." + name, UID: types.UID("uid-" + name), ResourceVersion: "1", Generation: 1,
			Finalizers:        []string{v1alpha1.HandoverFinalizer},
			CreationTimestamp: metav1.NewTime(b.now), OwnerReferences: []metav1.OwnerReference{ownerReference(b.group)},
		},
		Spec: v1alpha1.GroupMemberSpec{
			Group: "g", MemberName: name, Workload: &v1alpha1.WorkloadReference{Kind: "StatefulSet", Name: "web"},
			Incarnation: "pod-" + name, Acknowledgement: v1alpha1.AcknowledgeNone,
			Presence: &v1alpha1.Presence{State: v1alpha1.Present, Reason: v1alpha1.PresenceReady, Since: micro(b.now)},
		},
	}
	b.members[m.Name] = m
	return m
}

func (b *bed) snapshot() Snapshot {
	s := Snapshot{
		Group: b.group, Plans: b.plans, Declared: map[Workload]int32{}, LastSeen: b.seen,
		Config: b.config, Term: Term{ID: b.term}, Now: b.now, Live: Live{Plans: true, Members: map[string]bool{}},
	}
	for name, m := range b.members {
		s.Members = append(s.Members, m)
		s.Live.Members[name] = true
	}
	return s
}

// settle decides and applies until nothing is left to do, and returns the next wake-up.
func (b *bed) settle() time.Time {
	b.t.Helper()
	for range 50 {
		d := Decide(b.snapshot())
		if len(d.Batches) == 0 {
			if !d.WakeAt.IsZero() && !d.WakeAt.After(b.now) {
				b.t.Fatalf("WakeAt %s is not after now %s", d.WakeAt, b.now)
			}
			return d.WakeAt
		}
		for _, batch := range d.Batches {
			for _, w := range batch.Writes {
				b.apply(w)
			}
		}
	}
	b.t.Fatalf("not settled after 50 decisions; last writes: %v", b.writes[len(b.writes)-3:])
	return time.Time{}
}

func (b *bed) apply(w Write) {
	b.t.Helper()
	b.writes = append(b.writes, w)
	b.version++
	version := strconv.Itoa(b.version)
	if w.Verb == Delete {
		b.delete(w.Old)
		return
	}
	w.New.SetResourceVersion(version)
	switch o := w.New.(type) {
	case *v1alpha1.ConsumerGroup:
		b.group = o
	case *v1alpha1.GroupMember:
		b.members[o.Name] = o
		if o.DeletionTimestamp != nil && len(o.Finalizers) == 0 {
			delete(b.members, o.Name)
		}
	case *appsv1.ControllerRevision:
		o.UID = types.UID(o.Name)
		content, err := ParsePlan(o)
		if err != nil {
			b.t.Fatal(err)
		}
		b.plans = append([]*Plan{{Revision: o, Content: content}}, b.plans...)
	}
}

func (b *bed) delete(o Object) {
	switch o := o.(type) {
	case *v1alpha1.GroupMember:
		now := metav1.NewTime(b.now)
		m := o.DeepCopy()
		m.DeletionTimestamp = &now
		b.members[o.Name] = m
	case *appsv1.ControllerRevision:
		b.plans = b.plans[:len(b.plans)-1]
	}
}

func (b *bed) shares() string {
	text := ""
	for _, name := range []string{"g.web-0", "g.web-1", "g.web-2", "g.web-3"} {
		if m := b.members[name]; m != nil {
			text += fmt.Sprintf("%s:%s:%d ", m.Spec.MemberName, m.Status.State, m.Status.AssignedPartitions)
		}
	}
	return text
}
