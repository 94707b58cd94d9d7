package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// Namespace is the one namespace of a Store.
const Namespace = "default"

// Key names an object across kinds.
type Key = controllers.Key

// Object is any object in a Store.
type Object = coordinator.Object

// Store is an API server's storage in memory: a resourceVersion for every write, a UID for every create, optimistic
// locks, finalizers, and a status that is written apart from the rest.
//
// Stored objects are never changed, only replaced: what Get and List return is shared and must not be changed either.
type Store struct {
	clock   func() time.Time
	objects map[Key]Object
	version int64
	uids    int64
	records []Record
	newest  Record
	hooks   []func(Record)
	// touched is the version at which an object of a kind was last written or removed.
	touched map[string]int64
}

// NewStore is empty. Its clock is read for creation and deletion instants.
func NewStore(clock func() time.Time) *Store {
	return &Store{clock: clock, objects: map[Key]Object{}, touched: map[string]int64{}}
}

// KeyFor is the key of an object of the store's namespace: KeyFor("GroupMember", "g.web-0").
func KeyFor(kind, name string) Key {
	return Key{Kind: kind, NamespacedName: types.NamespacedName{Namespace: Namespace, Name: name}}
}

// Version is that of the newest write.
func (s *Store) Version() int64 { return s.version }

// KindVersion is the newest write's that concerned one of these kinds; 0 when there was none.
func (s *Store) KindVersion(kinds ...string) int64 {
	newest := int64(0)
	for _, kind := range kinds {
		newest = max(newest, s.touched[kind])
	}
	return newest
}

// Get reads an object; nil when it is not there.
func (s *Store) Get(key Key) Object { return s.objects[key] }

// Get reads an object of one type by name; nil when it is not there.
func Get[T Object](s *Store, name string) T {
	var none T
	object, _ := s.objects[KeyFor(kindOf(none), name)].(T)
	return object
}

// List reads all objects of one type, by name.
func List[T Object](s *Store) []T {
	var found []T
	for _, object := range s.objects {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	slices.SortFunc(found, func(a, b T) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return found
}

// Create stores a new object. It sets UID, versions and creation instant, and drops a status that would be written apart.
func (s *Store) Create(who Writer, object Object) (Object, error) {
	key := keyOf(object)
	if s.objects[key] != nil {
		return nil, apierrors.NewAlreadyExists(resource(key), key.Name)
	}
	created := object.DeepCopyObject().(Object)
	dropStatus(created)
	setDefaults(created)
	if err := validate(nil, created); err != nil {
		return nil, invalid(key, err)
	}
	s.uids++
	created.SetNamespace(namespaceOf(created))
	created.SetUID(types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", s.uids, s.uids)))
	created.SetCreationTimestamp(metav1.NewTime(s.clock()))
	created.SetDeletionTimestamp(nil)
	created.SetGeneration(1)
	return s.store(who, coordinator.Create, key, nil, created), nil
}

// Update replaces metadata and spec, locked by UID and resourceVersion where the object bears them. An object that is
// being deleted goes with its last finalizer; the answer then is the object as it went.
func (s *Store) Update(who Writer, object Object) (Object, error) {
	key := keyOf(object)
	stored, err := s.locked(key, object)
	if err != nil {
		return nil, err
	}
	updated := object.DeepCopyObject().(Object)
	takeStatus(updated, stored)
	setDefaults(updated)
	keepIdentity(updated, stored)
	if stored.GetDeletionTimestamp() != nil {
		for _, finalizer := range updated.GetFinalizers() {
			if !slices.Contains(stored.GetFinalizers(), finalizer) {
				return nil, invalid(key, fmt.Errorf("finalizer %s cannot be added: the object is being deleted", finalizer))
			}
		}
	}
	if specChanged(stored, updated) {
		updated.SetGeneration(stored.GetGeneration() + 1)
	}
	return s.replace(who, coordinator.Update, key, stored, updated)
}

// UpdateStatus replaces the status alone, locked as Update is.
func (s *Store) UpdateStatus(who Writer, object Object) (Object, error) {
	key := keyOf(object)
	stored, err := s.locked(key, object)
	if err != nil {
		return nil, err
	}
	updated := stored.DeepCopyObject().(Object)
	takeStatus(updated, object)
	return s.replace(who, coordinator.UpdateStatus, key, stored, updated)
}

// replace stores what has changed; an update that changes nothing is no write.
func (s *Store) replace(who Writer, verb coordinator.Verb, key Key, stored, updated Object) (Object, error) {
	updated.SetResourceVersion(stored.GetResourceVersion())
	if equal(stored, updated) {
		return stored, nil
	}
	if err := validate(stored, updated); err != nil {
		return nil, invalid(key, err)
	}
	if updated.GetDeletionTimestamp() != nil && len(updated.GetFinalizers()) == 0 && !graceful(updated) {
		return s.remove(who, verb, key, stored, updated), nil
	}
	return s.store(who, verb, key, stored, updated), nil
}

// Precondition locks a delete; the zero value locks nothing.
type Precondition struct {
	UID             types.UID
	ResourceVersion string
}

// Delete removes an object, or marks it as being deleted while it has finalizers. It returns the object as it is, or nil
// when it is gone. Pods go through Terminate first when they are to end in peace.
func (s *Store) Delete(who Writer, key Key, lock Precondition) (Object, error) {
	stored := s.objects[key]
	if stored == nil {
		return nil, apierrors.NewNotFound(resource(key), key.Name)
	}
	if lock.UID != "" && lock.UID != stored.GetUID() {
		return nil, conflict(key, "another object has this name now")
	}
	if lock.ResourceVersion != "" && lock.ResourceVersion != stored.GetResourceVersion() {
		return nil, conflict(key, "the object has been modified")
	}
	if len(stored.GetFinalizers()) == 0 {
		s.remove(who, coordinator.Delete, key, stored, nil)
		return nil, nil
	}
	return s.Terminate(who, key)
}

// Terminate marks an object as being deleted and leaves it there.
func (s *Store) Terminate(who Writer, key Key) (Object, error) {
	stored := s.objects[key]
	if stored == nil {
		return nil, apierrors.NewNotFound(resource(key), key.Name)
	}
	if stored.GetDeletionTimestamp() != nil {
		return stored, nil
	}
	updated := stored.DeepCopyObject().(Object)
	now := metav1.NewTime(s.clock())
	updated.SetDeletionTimestamp(&now)
	updated.SetGeneration(stored.GetGeneration() + 1)
	return s.store(who, coordinator.Delete, key, stored, updated), nil
}

// locked finds the object that an update is for.
func (s *Store) locked(key Key, object Object) (Object, error) {
	stored := s.objects[key]
	if stored == nil {
		return nil, apierrors.NewNotFound(resource(key), key.Name)
	}
	if object.GetUID() != "" && object.GetUID() != stored.GetUID() {
		return nil, conflict(key, "another object has this name now")
	}
	if version := object.GetResourceVersion(); version != "" && version != stored.GetResourceVersion() {
		return nil, conflict(key, "the object has been modified")
	}
	return stored, nil
}

// store puts an object in place under the next version.
func (s *Store) store(who Writer, verb coordinator.Verb, key Key, before, after Object) Object {
	s.version++
	after.SetResourceVersion(strconv.FormatInt(s.version, 10))
	s.objects[key] = after
	s.record(who, verb, key, before, after)
	return after
}

// remove takes an object away; last is its form at the end, where that differs from what was stored.
func (s *Store) remove(who Writer, verb coordinator.Verb, key Key, before, last Object) Object {
	s.version++
	delete(s.objects, key)
	if last != nil {
		last.SetResourceVersion(strconv.FormatInt(s.version, 10))
	}
	s.record(who, verb, key, before, nil)
	return last
}

func resource(key Key) schema.GroupResource { return schema.GroupResource{Resource: key.Kind} }

func conflict(key Key, why string) error {
	return apierrors.NewConflict(resource(key), key.Name, fmt.Errorf("%s", why))
}

func invalid(key Key, err error) error {
	refused := apierrors.NewInvalid(schema.GroupKind{Kind: key.Kind}, key.Name, nil)
	refused.ErrStatus.Message = fmt.Sprintf("%s %s is invalid: %v", key.Kind, key.Name, err)
	return refused
}
