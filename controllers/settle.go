package controllers

import (
	"context"
	"fmt"
	"reflect"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// settleTries is how often an object that others write at the same time is touched before giving up for now.
const settleTries = 5

// Settle makes what this process knows of the objects in scope certain again; nothing may be decided from them before.
//
// After a write of unknown outcome the object is read live. If it is a member or a group it is then also touched: the
// lost write may still be on its way, and it is locked by the version that the touch replaces, so it can no longer land.
// An own write that the cache should have shown long ago is read live, too, so that nothing waits for it for good.
//
// Generation is the group's, for the touched annotation; 0 when it is not known.
func (e *Executor) Settle(ctx context.Context, inScope func(coordinator.Object) bool, generation int64) error {
	open := e.Memory.unsettled(inScope)
	for _, key := range sortedKeys(open) {
		var err error
		if open[key].unknown {
			err = e.settleUnknown(ctx, open[key].object, generation)
		} else {
			_, err = e.reread(ctx, open[key].object)
		}
		if err != nil {
			return fmt.Errorf("settle %s: %w", key, err)
		}
	}
	return nil
}

// settleUnknown reads an object and touches it until no earlier write to it can land any more.
func (e *Executor) settleUnknown(ctx context.Context, obj coordinator.Object, generation int64) error {
	var err error
	for range settleTries {
		var live coordinator.Object
		if live, err = e.reread(ctx, obj); err != nil {
			return err
		}
		if live == nil || !touchable(live) {
			e.Memory.settled(KeyOf(obj))
			return nil
		}
		if err = e.touch(ctx, live, generation); err == nil {
			e.Memory.settled(KeyOf(obj))
			return nil
		}
		if !IsOvertaken(err) {
			return err
		}
	}
	return err
}

// reread replaces what is known of an object by a live read; nil when it is not there.
func (e *Executor) reread(ctx context.Context, obj coordinator.Object) (coordinator.Object, error) {
	live, err := e.getLive(ctx, obj)
	if err != nil {
		return nil, err
	}
	e.Memory.refresh(KeyOf(obj), live)
	return live, nil
}

// touch changes an object, locked by its version, and nothing of its meaning.
func (e *Executor) touch(ctx context.Context, live coordinator.Object, generation int64) error {
	touched := live.DeepCopyObject().(coordinator.Object)
	setAnnotation(touched, v1alpha1.TouchedAnnotation, coordinator.TouchValue(e.Term.Next(), generation))
	write := coordinator.Write{Verb: coordinator.Update, Old: live, New: touched}
	stored, err := e.Store.Apply(ctx, write)
	if err != nil {
		return &WriteError{Verb: write.Verb, Key: KeyOf(live), Err: err}
	}
	e.Memory.refresh(KeyOf(live), stored)
	return nil
}

// touchable: late writes to plans and pods harm nobody. A plan never changes, and a document says what once was true.
func touchable(obj coordinator.Object) bool {
	switch obj.(type) {
	case *v1alpha1.ConsumerGroup, *v1alpha1.GroupMember:
		return true
	}
	return false
}

func setAnnotation(obj coordinator.Object, key, value string) {
	annotations := map[string]string{}
	for k, v := range obj.GetAnnotations() {
		annotations[k] = v
	}
	annotations[key] = value
	obj.SetAnnotations(annotations)
}

// emptyLike is a new object of the same kind.
func emptyLike(obj coordinator.Object) coordinator.Object {
	return reflect.New(reflect.TypeOf(obj).Elem()).Interface().(coordinator.Object)
}
