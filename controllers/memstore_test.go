package controllers

import (
	"context"
	"slices"
	"strconv"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// memStore is a Store in memory that can be told to fail.
type memStore struct {
	mu      sync.Mutex
	version int
	objects map[Key]coordinator.Object
	applied []string
	// fault is asked before each write: an error to answer with, and whether the write is applied nevertheless.
	fault func(coordinator.Write) (err error, apply bool)
	// flights observes how many writes are under way.
	enter, leave func()
}

func newMemStore() *memStore {
	return &memStore{version: 100, objects: map[Key]coordinator.Object{}}
}

// put stores an object as somebody else's write and returns the stored form.
func (s *memStore) put(obj coordinator.Object) coordinator.Object {
	s.version++
	stored := obj.DeepCopyObject().(coordinator.Object)
	stored.SetResourceVersion(strconv.Itoa(s.version))
	if stored.GetUID() == "" {
		stored.SetUID(types.UID("uid-" + stored.GetName() + "-" + strconv.Itoa(s.version)))
	}
	s.objects[KeyOf(stored)] = stored
	return stored.DeepCopyObject().(coordinator.Object)
}

func (s *memStore) get(key Key) coordinator.Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key]
}

func (s *memStore) Apply(_ context.Context, write coordinator.Write) (coordinator.Object, error) {
	if s.enter != nil {
		s.enter()
		defer s.leave()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != nil {
		if err, apply := s.fault(write); err != nil {
			if apply {
				_, _ = s.apply(write)
			}
			return nil, err
		}
	}
	return s.apply(write)
}

func (s *memStore) apply(write coordinator.Write) (coordinator.Object, error) {
	key := KeyOf(subject(write))
	stored, exists := s.objects[key]
	resource := schema.GroupResource{Resource: key.Kind}
	switch {
	case write.Verb == coordinator.Create && exists:
		return nil, apierrors.NewAlreadyExists(resource, key.Name)
	case write.Verb == coordinator.Create:
	case !exists:
		return nil, apierrors.NewNotFound(resource, key.Name)
	case stored.GetResourceVersion() != write.Old.GetResourceVersion() || stored.GetUID() != write.Old.GetUID():
		return nil, apierrors.NewConflict(resource, key.Name, errFake)
	}
	s.applied = append(s.applied, string(write.Verb)+" "+key.Name)
	if write.Verb == coordinator.Delete {
		return s.delete(key, stored), nil
	}
	written := s.put(write.New)
	if written.GetDeletionTimestamp() != nil && len(written.GetFinalizers()) == 0 {
		delete(s.objects, key)
	}
	return written, nil
}

func (s *memStore) delete(key Key, stored coordinator.Object) coordinator.Object {
	if len(stored.GetFinalizers()) == 0 {
		delete(s.objects, key)
		return nil
	}
	marked := stored.DeepCopyObject().(coordinator.Object)
	now := metav1.Now()
	marked.SetDeletionTimestamp(&now)
	return s.put(marked)
}

func (s *memStore) GetLive(_ context.Context, key types.NamespacedName, obj coordinator.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	full := Key{Kind: KeyOf(obj).Kind, NamespacedName: key}
	stored, ok := s.objects[full]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: full.Kind}, key.Name)
	}
	copyInto(stored.DeepCopyObject().(coordinator.Object), obj)
	return nil
}

func (s *memStore) ListPlansLive(_ context.Context, group types.NamespacedName) ([]*appsv1.ControllerRevision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var plans []*appsv1.ControllerRevision
	for _, key := range slices.Backward(sortedKeys(s.objects)) {
		if plan, ok := s.objects[key].(*appsv1.ControllerRevision); ok && GroupOf(plan) == group {
			plans = append(plans, plan.DeepCopy())
		}
	}
	return plans, nil
}
