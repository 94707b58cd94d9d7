package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
	"github.com/rollcall-dev/rollcall/publish"
)

const (
	// retryAfter is how long after a failure without an answer a reconcile is tried again.
	retryAfter = time.Second
	// maxRetries bounds how often a reconcile that was overtaken is tried again at one instant.
	maxRetries = 50
)

// Kinds whose change concerns each reconciler.
var (
	groupKinds    = []string{KindConsumerGroup, KindGroupMember, KindControllerRevision, KindStatefulSet, KindDeployment, KindPod}
	workloadKinds = []string{KindConsumerGroup, KindGroupMember, KindStatefulSet, KindDeployment, KindReplicaSet, KindPod, KindNode}
	publishKinds  = []string{KindConsumerGroup, KindGroupMember, KindPod}
)

// Manager is one start of the operator's process: three reconcilers that share one memory.
type Manager struct {
	world          *World
	alive          bool
	term           *controllers.Term
	memory         *controllers.Memory
	executors      map[Writer]*controllers.Executor
	driver         controllers.Driver
	workloadDriver controllers.WorkloadDriver
	publishDriver  controllers.PublishDriver
	sessions       sessions
	// leases is the version up to which Leases have been looked at.
	leases int64
	queue  map[item]*schedule
}

// item is what one reconcile is about: a group, a workload or a pod.
type item struct {
	who  Writer
	name string
}

// schedule is when an item is looked at again.
type schedule struct {
	// seen is the version of the store at which it was last found to have nothing to do.
	seen int64
	// due is when it changes by itself; retry is when a failure is tried again. Zero: never.
	due, retry time.Time
}

// startManager begins a new process that knows nothing but what is stored.
func (w *World) startManager() {
	w.terms++
	m := &Manager{
		world: w, alive: true,
		term:     controllers.NewTerm(fmt.Sprintf("term-%d", w.terms)),
		memory:   controllers.NewMemory(&w.clock),
		sessions: sessions{}, queue: map[item]*schedule{},
		leases: -1,
	}
	m.executors = map[Writer]*controllers.Executor{}
	for _, who := range []Writer{Coordinator, Workload, Publish} {
		m.executors[who] = &controllers.Executor{
			Store: &client{manager: m, who: who}, Memory: m.memory, Term: m.term, Concurrency: 1, Events: w.noteEvent,
		}
	}
	m.driver = controllers.Driver{Executor: m.executors[Coordinator], Decide: coordinator.Decide}
	m.workloadDriver = controllers.WorkloadDriver{Executor: m.executors[Workload], Decide: presence.Decide}
	m.publishDriver = controllers.PublishDriver{Executor: m.executors[Publish], Decide: publish.Decide}
	w.manager = m
}

// die ends the process with everything that it knows.
func (m *Manager) die() { m.alive = false }

// startSuccessor starts a manager where none runs and one is due.
func (w *World) startSuccessor() bool {
	if w.manager.alive || w.isDark() || w.successorAt.After(w.Now()) {
		return false
	}
	w.successorAt = time.Time{}
	w.startManager()
	return true
}

// operate lets the reconcilers work until none has anything to do.
func (w *World) operate() bool {
	m, acted := w.manager, false
	for range maxPasses {
		if !m.alive || w.isDark() {
			return acted
		}
		looked := m.observeLeases()
		present := m.items()
		m.forget(present)
		for _, next := range present {
			if m.alive && m.wanted(next) {
				m.reconcile(next)
				looked = true
			}
		}
		if !looked {
			return acted
		}
		acted = true
	}
	w.fail(fmt.Errorf("the reconcilers do not come to rest at one instant within %d passes", maxPasses))
	return acted
}

// wanted: something has changed since the item was last looked at, or something is due.
func (m *Manager) wanted(next item) bool {
	s := m.schedule(next)
	now := m.world.Now()
	if !s.retry.IsZero() {
		return !s.retry.After(now)
	}
	changed := m.world.Store.KindVersion(kindsOf(next.who)...) > s.seen
	return changed || s.seen < 0 || !s.due.IsZero() && !s.due.After(now)
}

func (m *Manager) schedule(next item) *schedule {
	if m.queue[next] == nil {
		m.queue[next] = &schedule{seen: -1}
	}
	return m.queue[next]
}

func kindsOf(who Writer) []string {
	switch who {
	case Workload:
		return workloadKinds
	case Publish:
		return publishKinds
	}
	return groupKinds
}

// reconcile looks at one item until it has nothing to do, was overtaken too often, or got no answer.
func (m *Manager) reconcile(next item) {
	s := m.schedule(next)
	s.retry = time.Time{}
	for range maxRetries {
		stale := m.world.Faults.stale
		version := m.world.Store.Version()
		due, err := m.run(next)
		switch {
		case !m.alive:
			return
		case err == nil:
			s.seen, s.due = max(version, m.world.Store.Version()), due
			if stale != m.world.Faults.stale {
				s.seen = -1 // The cache catches up and wakes the reconciler again.
			}
			return
		case !controllers.IsOvertaken(err):
			s.seen, s.due, s.retry = -1, time.Time{}, m.world.Now().Add(retryAfter)
			m.noteRefused(next, err)
			return
		}
	}
	m.world.fail(fmt.Errorf("%s %s is overtaken again and again", next.who, next.name))
}

// noteRefused reports what no trying again will change: the operator asked for something that the API refuses.
func (m *Manager) noteRefused(next item, err error) {
	if controllers.IsRefused(err) || errors.Is(err, controllers.ErrNotSettled) {
		m.world.fail(fmt.Errorf("%s %s: %w", next.who, next.name, err))
	}
}

func (m *Manager) run(next item) (time.Time, error) {
	ctx := context.Background()
	switch next.who {
	case Workload:
		kind, name, _ := strings.Cut(next.name, "/")
		source := &workloadSource{manager: m, workload: presence.Workload{Kind: kind, Name: name}}
		return m.workloadDriver.Drive(ctx, workloadKey(source.workload), source)
	case Publish:
		pod := types.NamespacedName{Namespace: Namespace, Name: m.world.podNamed(next.name)}
		return m.publishDriver.Drive(ctx, pod, &publishSource{manager: m, uid: next.name})
	}
	group := types.NamespacedName{Namespace: Namespace, Name: next.name}
	return m.driver.Drive(ctx, group, &groupSource{manager: m, group: next.name})
}

// view is what the reconciler's cache shows now.
func (m *Manager) view() View {
	if m.world.Faults.takeStale() {
		return m.world.Store.OneBehind()
	}
	return m.world.Store.Now()
}

// items are all that there is to reconcile: workloads first, then groups, then pods.
func (m *Manager) items() []item {
	var all []item
	for _, name := range m.workloads() {
		all = append(all, item{Workload, name})
	}
	for _, name := range m.groups() {
		all = append(all, item{Coordinator, name})
	}
	if !m.world.publishOff {
		for _, name := range m.publishedPods() {
			all = append(all, item{Publish, name})
		}
	}
	return all
}

// groups that are there, or that a member names.
func (m *Manager) groups() []string {
	var names []string
	for _, group := range List[*v1alpha1.ConsumerGroup](m.world.Store) {
		names = append(names, group.Name)
	}
	for _, member := range List[*v1alpha1.GroupMember](m.world.Store) {
		names = append(names, member.Spec.Group)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// forget drops the schedules of what is no longer there.
func (m *Manager) forget(present []item) {
	for known := range m.queue {
		if !slices.Contains(present, known) {
			delete(m.queue, known)
		}
	}
}

// operatorDue is when the operator next has something to do by itself.
func (w *World) operatorDue() time.Time {
	return w.operatorDueOf(func(_ item, s *schedule) time.Time { return s.due })
}

// operatorDueOf takes the instant of each item from dueOf, save where a failure is to be tried again.
func (w *World) operatorDueOf(dueOf func(item, *schedule) time.Time) time.Time {
	var due time.Time
	if !w.manager.alive || w.isDark() {
		return due
	}
	for next, s := range w.manager.queue {
		if s.retry.IsZero() {
			due = earliest(due, dueOf(next, s))
		} else {
			due = earliest(due, s.retry)
		}
	}
	return due
}
