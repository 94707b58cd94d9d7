package controllers

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

func clusterStore(t *testing.T) (*ClientStore, string) {
	admin, namespace := onCluster(t)
	return &ClientStore{Writer: admin, Status: admin, Live: admin, Owner: "test"}, namespace
}

func apply(t *testing.T, s Store, write coordinator.Write) coordinator.Object {
	t.Helper()
	stored, err := s.Apply(t.Context(), write)
	if err != nil {
		t.Fatalf("%s: %v", write.Verb, err)
	}
	return stored
}

// live is the member as it is stored.
func live(t *testing.T, s Store, like coordinator.Object) *v1alpha1.GroupMember {
	t.Helper()
	member := &v1alpha1.GroupMember{}
	if err := s.GetLive(t.Context(), KeyOf(like).NamespacedName, member); err != nil {
		t.Fatal(err)
	}
	return member
}

func TestWritesAreLocked(t *testing.T) {
	store, namespace := clusterStore(t)
	member := clusterMember(namespace)
	member.Finalizers = []string{v1alpha1.HandoverFinalizer}
	create := coordinator.Write{Verb: coordinator.Create, New: member}
	created := apply(t, store, create).(*v1alpha1.GroupMember)
	if _, err := store.Apply(t.Context(), create); !IsAlreadyExists(err) || IsUnknownOutcome(err) {
		t.Errorf("creating it again gave %v", err)
	}

	stale := writeHost(created, "a")
	moved := apply(t, store, stale).(*v1alpha1.GroupMember)
	if moved.Spec.Host != "a" || moved.ResourceVersion != live(t, store, member).ResourceVersion {
		t.Errorf("the store returned %s of version %s", moved.Spec.Host, moved.ResourceVersion)
	}
	if _, err := store.Apply(t.Context(), stale); !IsConflict(err) || !IsOvertaken(err) || IsUnknownOutcome(err) {
		t.Errorf("a stale update gave %v", err)
	}

	status := moved.DeepCopy()
	status.Status.State, status.Status.Pending = v1alpha1.MemberActive, []v1alpha1.TopicPartitions{{Topic: "t", Partitions: []int32{1, 2}}}
	status.Spec.Host = "not by a status write"
	active := apply(t, store, coordinator.Write{Verb: coordinator.UpdateStatus, Old: moved, New: status}).(*v1alpha1.GroupMember)
	if active.Status.State != v1alpha1.MemberActive || active.Spec.Host != "a" {
		t.Errorf("the status write left state %s and host %s", active.Status.State, active.Spec.Host)
	}
	emptied := active.DeepCopy()
	emptied.Status.Pending = nil
	if got := apply(t, store, coordinator.Write{Verb: coordinator.UpdateStatus, Old: active, New: emptied}).(*v1alpha1.GroupMember); got.Status.Pending != nil {
		t.Errorf("what was removed is returned: %v", got.Status.Pending)
	}
	if _, err := store.Apply(t.Context(), coordinator.Write{Verb: coordinator.UpdateStatus, Old: active, New: status}); !IsConflict(err) {
		t.Errorf("a stale status write gave %v", err)
	}
	if _, err := store.Apply(t.Context(), coordinator.Write{Verb: coordinator.Delete, Old: active}); !IsConflict(err) {
		t.Errorf("a stale delete gave %v", err)
	}
}

func TestDeletingTakesThatVeryObject(t *testing.T) {
	store, namespace := clusterStore(t)
	member := clusterMember(namespace)
	member.Finalizers = []string{v1alpha1.HandoverFinalizer}
	created := apply(t, store, coordinator.Write{Verb: coordinator.Create, New: member}).(*v1alpha1.GroupMember)

	another := created.DeepCopy()
	another.UID = "another"
	if _, err := store.Apply(t.Context(), coordinator.Write{Verb: coordinator.Delete, Old: another}); !IsConflict(err) {
		t.Errorf("deleting one of another UID gave %v", err)
	}
	deleted := apply(t, store, coordinator.Write{Verb: coordinator.Delete, Old: created}).(*v1alpha1.GroupMember)
	if deleted.DeletionTimestamp == nil || deleted.ResourceVersion != live(t, store, member).ResourceVersion {
		t.Errorf("the store returned %+v", deleted.ObjectMeta)
	}
	released := deleted.DeepCopy()
	released.Finalizers = nil
	apply(t, store, coordinator.Write{Verb: coordinator.Update, Old: deleted, New: released})
	if err := store.GetLive(t.Context(), KeyOf(member).NamespacedName, &v1alpha1.GroupMember{}); !IsNotFound(err) {
		t.Errorf("without its last finalizer it is still there: %v", err)
	}
	if _, err := store.Apply(t.Context(), coordinator.Write{Verb: coordinator.Update, Old: deleted, New: released}); !IsNotFound(err) {
		t.Errorf("updating what is gone gave %v", err)
	}
}

func TestPlansAreListedByLabel(t *testing.T) {
	store, namespace := clusterStore(t)
	for i, name := range []string{"g", "g", "other"} {
		apply(t, store, coordinator.Write{Verb: coordinator.Create, New: &appsv1.ControllerRevision{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + "-" + string(rune('a'+i)), Labels: map[string]string{v1alpha1.GroupLabel: name}},
			Revision:   int64(i), Data: runtime.RawExtension{Raw: []byte(`{"a":1}`)},
		}})
	}
	plans, err := store.ListPlansLive(t.Context(), types.NamespacedName{Namespace: namespace, Name: "g"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, plan := range plans {
		names = append(names, plan.Name)
		if len(plan.Data.Raw) == 0 || plan.ManagedFields != nil {
			t.Errorf("plan %s has data %q and %d managed fields", plan.Name, plan.Data.Raw, len(plan.ManagedFields))
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"g-a", "g-b"}) {
		t.Errorf("listed %v", names)
	}
	if got := apply(t, store, coordinator.Write{Verb: coordinator.Delete, Old: plans[0]}); got != nil {
		t.Errorf("a deleted plan is returned: %v", got)
	}
}

// Nothing can be created in a namespace that is going, and that is told from other refusals.
func TestANamespaceThatIsGoing(t *testing.T) {
	store, namespace := clusterStore(t)
	member := clusterMember(namespace)
	member.Finalizers = []string{v1alpha1.HandoverFinalizer}
	created := apply(t, store, coordinator.Write{Verb: coordinator.Create, New: member})
	admin := clientFor(t, testCluster.Config())
	if _, err := testCluster.Kubectl(t.Context(), "delete", "namespace", namespace, "--wait=false"); err != nil {
		t.Fatal(err)
	}
	var err error
	eventually(t, "creating is refused", func() error {
		late := clusterMember(namespace)
		late.Name = "late"
		_, err = store.Apply(t.Context(), coordinator.Write{Verb: coordinator.Create, New: late})
		if err == nil {
			_ = admin.Delete(t.Context(), late)
			return errFake
		}
		return nil
	})
	if !IsNamespaceTerminating(err) || IsUnknownOutcome(err) {
		t.Errorf("creating gave %v", err)
	}
	eventually(t, "the member is let go", func() error {
		old := live(t, store, created)
		released := old.DeepCopy()
		released.Finalizers = nil
		_, err := store.Apply(t.Context(), coordinator.Write{Verb: coordinator.Update, Old: old, New: released})
		return client.IgnoreNotFound(err)
	})
}
