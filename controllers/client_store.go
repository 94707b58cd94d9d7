package controllers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// ClientStore is the Store over the API server.
type ClientStore struct {
	// Writer sends writes.
	Writer client.Writer
	// Status sends writes of statuses.
	Status client.StatusClient
	// Live reads past every cache.
	Live client.Reader
	// Owner is the field manager of the writes: each side of the API has its own.
	Owner client.FieldOwner
}

var _ Store = (*ClientStore)(nil)

// Apply carries out one write.
func (s *ClientStore) Apply(ctx context.Context, write coordinator.Write) (coordinator.Object, error) {
	stored, err := s.apply(ctx, write)
	log := logf.FromContext(ctx).V(1)
	if log.Enabled() {
		log.Info("Write", "verb", write.Verb, "object", KeyOf(subject(write)).String(), "outcome", outcomeOf(err))
	}
	return stored, err
}

func (s *ClientStore) apply(ctx context.Context, write coordinator.Write) (coordinator.Object, error) {
	switch write.Verb {
	case coordinator.Create:
		return s.create(ctx, write.New)
	case coordinator.Update, coordinator.UpdateStatus:
		return s.patch(ctx, write)
	case coordinator.Delete:
		return s.delete(ctx, write.Old)
	default:
		return nil, fmt.Errorf("verb %q: %w", write.Verb, ErrNotSent)
	}
}

func (s *ClientStore) create(ctx context.Context, obj coordinator.Object) (coordinator.Object, error) {
	created := obj.DeepCopyObject().(coordinator.Object)
	if err := s.Writer.Create(ctx, created, s.Owner); err != nil {
		return nil, err
	}
	return stripped(created), nil
}

// patch sends what differs between Old and New, locked by Old's resourceVersion. The answer is read into an empty object:
// decoding into a filled one would keep what the answer no longer has.
func (s *ClientStore) patch(ctx context.Context, write coordinator.Write) (coordinator.Object, error) {
	locked := client.MergeFromWithOptions(write.Old, client.MergeFromWithOptimisticLock{})
	data, err := locked.Data(write.New)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	stored := emptyLike(write.Old)
	stored.SetNamespace(write.Old.GetNamespace())
	stored.SetName(write.Old.GetName())
	patch := client.RawPatch(types.MergePatchType, data)
	if write.Verb == coordinator.UpdateStatus {
		err = s.Status.Status().Patch(ctx, stored, patch, s.Owner)
	} else {
		err = s.Writer.Patch(ctx, stored, patch, s.Owner)
	}
	if err != nil {
		return nil, err
	}
	return stripped(stored), nil
}

// delete deletes that very object. One with finalizers is still there afterwards, in a version that the answer does not
// tell, so it is read.
func (s *ClientStore) delete(ctx context.Context, obj coordinator.Object) (coordinator.Object, error) {
	uid, version := obj.GetUID(), obj.GetResourceVersion()
	err := s.Writer.Delete(ctx, obj, client.Preconditions{UID: &uid, ResourceVersion: &version})
	if err != nil || len(obj.GetFinalizers()) == 0 {
		return nil, err
	}
	live := emptyLike(obj)
	err = s.GetLive(ctx, client.ObjectKeyFromObject(obj), live)
	if IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read after delete: %w", err)
	}
	return live, nil
}

// GetLive reads one object past the cache.
func (s *ClientStore) GetLive(ctx context.Context, key types.NamespacedName, obj coordinator.Object) error {
	if err := s.Live.Get(ctx, key, obj); err != nil {
		return err
	}
	stripped(obj)
	return nil
}

// ListPlansLive reads a group's plans past the cache.
func (s *ClientStore) ListPlansLive(ctx context.Context, group types.NamespacedName) ([]*appsv1.ControllerRevision, error) {
	var list appsv1.ControllerRevisionList
	err := s.Live.List(ctx, &list, client.InNamespace(group.Namespace), client.MatchingLabels{v1alpha1.GroupLabel: group.Name})
	if err != nil {
		return nil, err
	}
	plans := make([]*appsv1.ControllerRevision, 0, len(list.Items))
	for i := range list.Items {
		stripped(&list.Items[i])
		plans = append(plans, &list.Items[i])
	}
	return plans, nil
}

// stripped removes what nobody reads and what takes most of the room.
func stripped(obj coordinator.Object) coordinator.Object {
	obj.SetManagedFields(nil)
	return obj
}
