package sim

import (
	"context"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// client is one reconciler's way to the store, through the faults.
type client struct {
	manager *Manager
	who     Writer
}

var _ controllers.Store = (*client)(nil)

// Apply sends one write.
func (c *client) Apply(_ context.Context, write coordinator.Write) (coordinator.Object, error) {
	w := c.manager.world
	if err := c.reachable(); err != nil {
		return nil, err
	}
	faults := &w.Faults
	if faults.crash.fire() {
		c.manager.die()
		return nil, errDied
	}
	if faults.freeze.fire() {
		faults.frozen = append(faults.frozen, sentWrite{who: c.who, write: write})
		c.manager.die()
		w.successorAt = w.Now().Add(faults.freezeFor)
		return nil, errDied
	}
	stored, err := c.send(write)
	faults.noteSent(w.Store)
	if faults.crash.fire() {
		c.manager.die()
		return nil, errDied
	}
	return stored, err
}

// errDied ends what a process was doing when it died or froze.
var errDied = fmt.Errorf("the process is gone: %w", controllers.ErrNotSent)

// send lets the write arrive, or not.
func (c *client) send(write coordinator.Write) (Object, error) {
	faults, store := &c.manager.world.Faults, c.manager.world.Store
	switch faults.failNext() {
	case FailConflict:
		return nil, conflict(keyOf(subject(write)), "a failure on purpose")
	case FailLate:
		faults.late = append(faults.late, sentWrite{who: c.who, write: write, left: faults.lateAfter})
		return nil, timeout()
	case FailTimeout:
		if faults.applied() {
			_, _ = carryOut(store, c.who, write) // Its answer is what is lost.
		}
		return nil, timeout()
	}
	return carryOut(store, c.who, write)
}

func subject(write coordinator.Write) Object {
	if write.New != nil {
		return write.New
	}
	return write.Old
}

// GetLive reads one object as it is.
func (c *client) GetLive(_ context.Context, key types.NamespacedName, into coordinator.Object) error {
	if err := c.reachable(); err != nil {
		return err
	}
	found := c.manager.world.Store.Get(KeyFor(kindOf(into), key.Name))
	if found == nil {
		return apierrors.NewNotFound(resource(KeyFor(kindOf(into), key.Name)), key.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(found.DeepCopyObject()).Elem())
	return nil
}

// ListPlansLive reads a group's plans as they are.
func (c *client) ListPlansLive(_ context.Context, group types.NamespacedName) ([]*appsv1.ControllerRevision, error) {
	if err := c.reachable(); err != nil {
		return nil, err
	}
	return plansOf(c.manager.world.Store.Now(), group.Name), nil
}

func (c *client) reachable() error {
	if !c.manager.alive {
		return errDied
	}
	if c.manager.world.isDark() {
		return fmt.Errorf("the API server cannot be reached: %w", controllers.ErrNotSent)
	}
	return nil
}

func plansOf(view View, group string) []*appsv1.ControllerRevision {
	var plans []*appsv1.ControllerRevision
	for _, revision := range ListFrom[*appsv1.ControllerRevision](view) {
		if revision.Labels[v1alpha1.GroupLabel] == group {
			plans = append(plans, revision)
		}
	}
	return plans
}
