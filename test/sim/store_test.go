package sim_test

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/sim"
)

func newStore() *sim.Store {
	return sim.NewStore(func() time.Time { return sim.Start })
}

func newMember(t *testing.T, store *sim.Store, name string) *v1alpha1.GroupMember {
	t.Helper()
	created, err := store.Create(sim.MemberProcess, &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{v1alpha1.HandoverFinalizer}},
		Spec:       v1alpha1.GroupMemberSpec{Group: "g", Incarnation: "one"},
		Status:     v1alpha1.GroupMemberStatus{MemberID: "forged"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return created.(*v1alpha1.GroupMember)
}

func TestAWriteIsLockedByTheVersionItWasDecidedFrom(t *testing.T) {
	store := newStore()
	first := newMember(t, store, "g.a")
	changed := first.DeepCopy()
	changed.Spec.Host = "h1"
	if _, err := store.Update(sim.MemberProcess, changed); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Update(sim.MemberProcess, changed); !apierrors.IsConflict(err) {
		t.Errorf("an update of a former version: %v, want a conflict", err)
	}
	lock := sim.Precondition{ResourceVersion: first.ResourceVersion}
	if _, err := store.Delete(sim.Person, sim.KeyFor(sim.KindGroupMember, "g.a"), lock); !apierrors.IsConflict(err) {
		t.Errorf("a delete of a former version: %v, want a conflict", err)
	}
}

func TestStatusIsWrittenApart(t *testing.T) {
	store := newStore()
	member := newMember(t, store, "g.a")
	if member.Status.MemberID != "" {
		t.Error("a create wrote the status")
	}
	changed := member.DeepCopy()
	changed.Status.MemberID, changed.Spec.Host = "a-one", "h1"
	stored, err := store.UpdateStatus(sim.Coordinator, changed)
	if err != nil {
		t.Fatal(err)
	}
	member = stored.(*v1alpha1.GroupMember)
	if member.Status.MemberID != "a-one" || member.Spec.Host != "" || member.Generation != 1 {
		t.Errorf("after a status update: memberID %q, host %q, generation %d", member.Status.MemberID, member.Spec.Host, member.Generation)
	}
	changed = member.DeepCopy()
	changed.Status.MemberID, changed.Spec.Host = "forged", "h1"
	stored, err = store.Update(sim.MemberProcess, changed)
	if err != nil {
		t.Fatal(err)
	}
	member = stored.(*v1alpha1.GroupMember)
	if member.Status.MemberID != "a-one" || member.Spec.Host != "h1" || member.Generation != 2 {
		t.Errorf("after an update: memberID %q, host %q, generation %d", member.Status.MemberID, member.Spec.Host, member.Generation)
	}
}

func TestAnObjectGoesWithItsLastFinalizer(t *testing.T) {
	store := newStore()
	newMember(t, store, "g.a")
	key := sim.KeyFor(sim.KindGroupMember, "g.a")
	marked, err := store.Delete(sim.Person, key, sim.Precondition{})
	if err != nil || marked == nil || marked.GetDeletionTimestamp() == nil {
		t.Fatalf("delete of an object with a finalizer: %v, %v", marked, err)
	}
	released := marked.DeepCopyObject().(*v1alpha1.GroupMember)
	released.Finalizers = nil
	if _, err := store.Update(sim.Coordinator, released); err != nil {
		t.Fatal(err)
	}
	if store.Get(key) != nil {
		t.Error("the object is still there")
	}
	again := newMember(t, store, "g.a")
	if again.UID == marked.GetUID() {
		t.Error("the next object of the name has the same UID")
	}
}

func TestAWriteThatChangesNothingIsNone(t *testing.T) {
	store := newStore()
	member := newMember(t, store, "g.a")
	before := store.Version()
	stored, err := store.Update(sim.MemberProcess, member)
	if err != nil || stored.GetResourceVersion() != member.ResourceVersion || store.Version() != before {
		t.Errorf("version %d -> %d, object at %s, %v", before, store.Version(), stored.GetResourceVersion(), err)
	}
}

func TestAcknowledgementsAreNotTakenBack(t *testing.T) {
	store := newStore()
	member := newMember(t, store, "g.a")
	acknowledge := func(memberID string, revision int64, final bool) error {
		changed := sim.Get[*v1alpha1.GroupMember](store, "g.a").DeepCopy()
		changed.Spec.Acknowledged = &v1alpha1.Acknowledged{MemberID: memberID, Revision: revision, Final: final}
		_, err := store.Update(sim.MemberProcess, changed)
		return err
	}
	if err := acknowledge("a-one", 1, false); !apierrors.IsInvalid(err) {
		t.Errorf("before there is a memberID: %v", err)
	}
	status := member.DeepCopy()
	status.Status.MemberID = "a-one"
	if _, err := store.UpdateStatus(sim.Coordinator, status); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		memberID string
		revision int64
		final    bool
		refused  bool
	}{
		{"a-one", 2, false, false},
		{"a-one", 1, false, true},
		{"a-two", 3, false, true},
		{"a-one", 2, true, false},
		{"a-one", 3, false, true},
		{"a-one", 3, true, false},
	} {
		err := acknowledge(step.memberID, step.revision, step.final)
		if refused := apierrors.IsInvalid(err); refused != step.refused || err != nil && !refused {
			t.Errorf("acknowledged %+v: %v", step, err)
		}
	}
}

func TestAViewOneBehindMissesTheNewestWriteOnly(t *testing.T) {
	store := newStore()
	newMember(t, store, "g.a")
	newMember(t, store, "g.c")
	names := func(view sim.View) string {
		text := ""
		for _, member := range sim.ListFrom[*v1alpha1.GroupMember](view) {
			text += member.Name + "@" + member.ResourceVersion + " "
		}
		return text
	}
	if got, want := names(store.OneBehind()), "g.a@1 "; got != want {
		t.Errorf("after a create: %q, want %q", got, want)
	}
	changed := sim.Get[*v1alpha1.GroupMember](store, "g.a").DeepCopy()
	changed.Finalizers = nil
	if _, err := store.Update(sim.Person, changed); err != nil {
		t.Fatal(err)
	}
	if got, want := names(store.OneBehind()), "g.a@1 g.c@2 "; got != want {
		t.Errorf("after an update: %q, want %q", got, want)
	}
	if _, err := store.Delete(sim.Person, sim.KeyFor(sim.KindGroupMember, "g.a"), sim.Precondition{}); err != nil {
		t.Fatal(err)
	}
	if got, want := names(store.OneBehind()), "g.a@3 g.c@2 "; got != want {
		t.Errorf("after a delete: %q, want %q", got, want)
	}
	if got, want := names(store.Now()), "g.c@2 "; got != want {
		t.Errorf("now: %q, want %q", got, want)
	}
}
