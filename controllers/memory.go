package controllers

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// overdueAfter is how long the cache may take to show an own write before that object is read live: a long time for a
// watch, a short one for a person who waits.
const overdueAfter = 10 * time.Second

// Memory holds what this process has written and its cache does not show yet, and which objects it wrote with unknown
// outcome. A decision made from older objects than the process's own last write could give a partition away twice,
// although each write is locked: a grant changes one object, and what it rests on stands in others.
type Memory struct {
	clock clock.PassiveClock

	mu      sync.Mutex
	ahead   map[Key]ahead
	unknown map[Key]coordinator.Object
}

// ahead is an object of which a later version is known than the cache has shown.
type ahead struct {
	object coordinator.Object
	// gone: that object (by its UID) no longer exists.
	gone bool
	// created: the cache has never shown the object; otherwise its absence there means that it is gone.
	created bool
	noted   time.Time
}

// NewMemory is empty.
func NewMemory(c clock.PassiveClock) *Memory {
	return &Memory{clock: c, ahead: map[Key]ahead{}, unknown: map[Key]coordinator.Object{}}
}

// noteStored remembers an object as stored by an own write, or as read live.
func (m *Memory) noteStored(obj coordinator.Object, created bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := KeyOf(obj)
	before, known := m.ahead[key]
	if known && !before.gone {
		if before.object.GetUID() == obj.GetUID() && !older(before.object, obj) {
			return
		}
		created = created || before.created
	}
	// An object that is being deleted goes with its last finalizer: what the API server answers then no longer exists.
	gone := obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0
	m.ahead[key] = ahead{object: obj, gone: gone, created: created, noted: m.clock.Now()}
}

// noteGone remembers that an object no longer exists.
func (m *Memory) noteGone(obj coordinator.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ahead[KeyOf(obj)] = ahead{object: obj, gone: true, noted: m.clock.Now()}
}

// noteUnknown remembers that a write of that object may or may not have been applied.
func (m *Memory) noteUnknown(obj coordinator.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unknown[KeyOf(obj)] = obj
}

// settled forgets that the outcome of a write was unknown.
func (m *Memory) settled(key Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.unknown, key)
}

// Saw is told of every object that the cache shows.
func (m *Memory) Saw(obj coordinator.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := KeyOf(obj)
	if known, ok := m.ahead[key]; ok && caughtUp(known, obj) {
		delete(m.ahead, key)
	}
}

// SawGone is told of every object whose deletion the cache shows.
func (m *Memory) SawGone(obj coordinator.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := KeyOf(obj)
	if known, ok := m.ahead[key]; ok && (known.object.GetUID() == obj.GetUID() || !older(obj, known.object)) {
		delete(m.ahead, key)
	}
}

// Newest is the newest known form of an object that the cache shows (nil: it does not), or nil when it is gone.
func (m *Memory) Newest(key Key, cached coordinator.Object) coordinator.Object {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.newest(key, cached)
}

func (m *Memory) newest(key Key, cached coordinator.Object) coordinator.Object {
	known, ok := m.ahead[key]
	switch {
	case !ok:
		return cached
	case cached == nil && (known.gone || !known.created), cached != nil && caughtUp(known, cached):
		delete(m.ahead, key)
		return cached
	case known.gone:
		return nil
	default:
		return known.object
	}
}

// Overlay gives the newest known form of a list that was read from the cache: what was created and is not there yet is
// added if it belongs to the list, what is gone is left out. An object must belong to the list for all its life or never.
// The order is the list's, additions by name.
func Overlay[T coordinator.Object](m *Memory, cached []T, belongs func(T) bool) []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := make(map[Key]bool, len(cached))
	result := make([]T, 0, len(cached))
	for _, obj := range cached {
		key := KeyOf(obj)
		seen[key] = true
		if newest, ok := m.newest(key, obj).(T); ok {
			result = append(result, newest)
		}
	}
	for _, key := range sortedKeys(m.ahead) {
		obj, ok := m.ahead[key].object.(T)
		if !ok || seen[key] || !belongs(obj) {
			continue
		}
		if newest, ok := m.newest(key, nil).(T); ok {
			result = append(result, newest)
		}
	}
	return result
}

// Known are the names of the objects of a kind that this process knows in a newer form than the cache, and that belong.
func Known[T coordinator.Object](m *Memory, belongs func(T) bool) map[types.NamespacedName]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := map[types.NamespacedName]bool{}
	for key, known := range m.ahead {
		if obj, ok := known.object.(T); ok && !known.gone && belongs(obj) {
			names[key.NamespacedName] = true
		}
	}
	return names
}

// unsettled are the objects in scope whose state must be read live: written with unknown outcome, or written so long ago
// that the cache should have shown it. The bool says which.
func (m *Memory) unsettled(inScope func(coordinator.Object) bool) map[Key]unsettled {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[Key]unsettled{}
	due := m.clock.Now().Add(-overdueAfter)
	for key, known := range m.ahead {
		if !known.gone && !known.noted.After(due) && inScope(known.object) {
			found[key] = unsettled{object: known.object}
		}
	}
	for key, obj := range m.unknown {
		if inScope(obj) {
			found[key] = unsettled{object: obj, unknown: true}
		}
	}
	return found
}

// unsettled is an object to read live.
type unsettled struct {
	object  coordinator.Object
	unknown bool
}

// refresh replaces what is known by a live read (nil: not there), whatever was known before.
func (m *Memory) refresh(key Key, live coordinator.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.ahead[key]
	if live == nil {
		if ok {
			known.gone, known.noted = true, m.clock.Now()
			m.ahead[key] = known
		}
		return
	}
	m.ahead[key] = ahead{object: live, created: ok && known.created, noted: m.clock.Now()}
}

// Size is the number of remembered own writes and of unknown outcomes, for metrics and tests.
func (m *Memory) Size() (ahead, unknown int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.ahead), len(m.unknown)
}

// caughtUp: the cache shows what is known, or something later.
func caughtUp(known ahead, cached coordinator.Object) bool {
	if known.gone {
		return cached.GetUID() != known.object.GetUID() && !older(cached, known.object)
	}
	return !older(cached, known.object)
}

// older: a is an earlier version than b. Versions that cannot be compared are never older, so that nothing waits for them.
func older(a, b coordinator.Object) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order < 0
}

func sortedKeys[V any](m map[Key]V) []Key {
	keys := make([]Key, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

func compareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// inGroup tells whether an object belongs to a group.
func inGroup(group types.NamespacedName) func(coordinator.Object) bool {
	return func(obj coordinator.Object) bool { return GroupOf(obj) == group }
}
