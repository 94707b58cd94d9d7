package controllers

import (
	"context"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// Store is the API server as the executor sees it. Its reads go past every cache.
type Store interface {
	// Apply carries out one write, locked by the resourceVersion of its Old (a delete by the UID too). It returns the
	// object as stored afterwards, or nil when the object is gone.
	Apply(ctx context.Context, write coordinator.Write) (coordinator.Object, error)
	// GetLive reads the object of that key into obj.
	GetLive(ctx context.Context, key types.NamespacedName, obj coordinator.Object) error
	// ListPlansLive reads the plans that bear the group's name as label, whole, in any order.
	ListPlansLive(ctx context.Context, group types.NamespacedName) ([]*appsv1.ControllerRevision, error)
}

// Key names an object across kinds.
type Key struct {
	// Kind is the name of the Go type, which for all our kinds is the API's kind.
	Kind string
	types.NamespacedName
}

// String is for messages: "GroupMember default/web-0".
func (k Key) String() string { return k.Kind + " " + k.NamespacedName.String() }

// KeyOf names an object.
func KeyOf(obj coordinator.Object) Key {
	return Key{
		Kind:           reflect.TypeOf(obj).Elem().Name(),
		NamespacedName: types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()},
	}
}

// GroupOf is the group that an object belongs to: a ConsumerGroup itself, a member's or a plan's; empty for all else.
func GroupOf(obj coordinator.Object) types.NamespacedName {
	name := ""
	switch o := obj.(type) {
	case *v1alpha1.ConsumerGroup:
		name = o.Name
	case *v1alpha1.GroupMember:
		name = o.Spec.Group
	case *appsv1.ControllerRevision:
		name = o.Labels[v1alpha1.GroupLabel]
	}
	if name == "" {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: name}
}

// subject is the object that a write is about: what is to be, or what is to go.
func subject(w coordinator.Write) coordinator.Object {
	if w.New != nil {
		return w.New
	}
	return w.Old
}

// WriteError is the failure of one write.
type WriteError struct {
	Verb coordinator.Verb
	Key  Key
	Err  error
}

// Error names verb and object.
func (e *WriteError) Error() string { return fmt.Sprintf("%s %s: %v", e.Verb, e.Key, e.Err) }

// Unwrap gives the store's error.
func (e *WriteError) Unwrap() error { return e.Err }
