package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// Writer is who writes.
type Writer string

// Writers. The first three are the operator's.
const (
	Coordinator Writer = "coordinator"
	Workload    Writer = "workload"
	Publish     Writer = "publish"
	// MemberProcess is a member's own process, or its agent.
	MemberProcess Writer = "process"
	// Person is someone at the keyboard, or a client of theirs.
	Person Writer = "person"
	// Cluster is the rest of Kubernetes: kubelets, garbage collection, other controllers.
	Cluster Writer = "cluster"
)

// Operator says that the writer is one of the operator's reconcilers.
func (w Writer) Operator() bool { return w == Coordinator || w == Workload || w == Publish }

// Record is one write that changed an object.
type Record struct {
	// Version is the write's place in the history; the first is 1.
	Version int64
	Time    time.Time
	Who     Writer
	Verb    coordinator.Verb
	Key     Key
	// Before is nil for a create, After when the object is gone.
	Before, After Object
}

// String is one line for people: who did what to which object, and what changed.
func (r Record) String() string {
	line := fmt.Sprintf("%s  %-11s %-13s %s %s", clockText(r.Time), r.Who, r.Verb, r.Key.Kind, r.Key.Name)
	if changes := changedFields(r.Before, r.After); len(changes) > 0 {
		line += ": " + strings.Join(changes, ", ")
	}
	return line
}

// OnWrite calls hook after every write that changed an object.
func (s *Store) OnWrite(hook func(Record)) { s.hooks = append(s.hooks, hook) }

// Records are all writes so far, oldest first. Those of Leases are left out: there are too many and nobody asks.
func (s *Store) Records() []Record { return slices.Clip(s.records) }

func (s *Store) record(who Writer, verb coordinator.Verb, key Key, before, after Object) {
	written := Record{
		Version: s.version, Time: s.clock(), Who: who, Verb: verb, Key: key, Before: before, After: after,
	}
	s.touched[key.Kind] = s.version
	s.newest = written
	if key.Kind != KindLease {
		s.records = append(s.records, written)
	}
	for _, hook := range s.hooks {
		hook(written)
	}
}

// View is a set of objects to read from: the store as it is, or as it was before its newest write.
type View struct {
	store *Store
	// behind is the write that the view does not show yet; its Version is 0 when it shows all.
	behind Record
}

// Now shows the store as it is.
func (s *Store) Now() View { return View{store: s} }

// OneBehind shows the store without its newest write, as a cache does that has not heard of it.
func (s *Store) OneBehind() View {
	return View{store: s, behind: s.newest}
}

// Stale says that the view misses a write.
func (v View) Stale() bool { return v.behind.Version != 0 }

// ListFrom reads all objects of one type, by name.
func ListFrom[T Object](v View) []T {
	found := List[T](v.store)
	if !v.Stale() {
		return found
	}
	if at := slices.IndexFunc(found, func(object T) bool { return keyOf(object) == v.behind.Key }); at >= 0 {
		found = slices.Delete(found, at, at+1)
	}
	if before, ok := v.behind.Before.(T); ok {
		at, _ := slices.BinarySearchFunc(found, before.GetName(), func(object T, name string) int {
			return strings.Compare(object.GetName(), name)
		})
		found = slices.Insert(found, at, before)
	}
	return found
}

// GetFrom reads an object of one type by name; nil when the view does not show it.
func GetFrom[T Object](v View, name string) T {
	var none T
	key := KeyFor(kindOf(none), name)
	if v.Stale() && v.behind.Key == key {
		before, _ := v.behind.Before.(T)
		return before
	}
	return Get[T](v.store, name)
}
