package sim

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// clusterActs does what the rest of Kubernetes does at once, and says whether it did anything.
func (w *World) clusterActs() bool {
	if w.isDark() {
		return false
	}
	before := w.Store.KindVersion(clusterKinds...)
	if before == w.clusterSaw {
		return false
	}
	w.statefulSetsAct()
	w.collectGarbage()
	w.clusterSaw = w.Store.KindVersion(clusterKinds...)
	return w.clusterSaw != before
}

// clusterKinds are those whose change may concern the rest of Kubernetes: all but Leases, of which none comes without its
// owner.
var clusterKinds = []string{
	KindConsumerGroup, KindGroupMember, KindControllerRevision, KindStatefulSet, KindDeployment, KindReplicaSet, KindPod, KindNode,
}

// collectGarbage deletes what belongs to an object that is gone.
func (w *World) collectGarbage() {
	alive := map[types.UID]bool{}
	for _, object := range w.Store.objects {
		alive[object.GetUID()] = true
	}
	for _, object := range w.dependents() {
		owners := object.GetOwnerReferences()
		orphan := len(owners) > 0 && !slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool { return alive[owner.UID] })
		if orphan && object.GetDeletionTimestamp() == nil {
			_, err := w.Store.Delete(Cluster, keyOf(object), Precondition{UID: object.GetUID()})
			w.fail(err)
		}
	}
}

// dependents are the objects that have owners, but pods: their end is told by the test.
func (w *World) dependents() []Object {
	var found []Object
	for _, member := range List[*v1alpha1.GroupMember](w.Store) {
		found = append(found, member)
	}
	for _, plan := range List[*appsv1.ControllerRevision](w.Store) {
		found = append(found, plan)
	}
	for _, lease := range List[*coordinationv1.Lease](w.Store) {
		found = append(found, lease)
	}
	for _, set := range List[*appsv1.ReplicaSet](w.Store) {
		found = append(found, set)
	}
	return found
}

// later does something as soon as the API server can be reached.
func (w *World) later(do func() error) { w.delayed = append(w.delayed, do) }

// Cluster does something that the rest of Kubernetes tells the API server, now or as soon as that can be reached.
func (w *World) Cluster(do func() error) error {
	if w.isDark() {
		w.later(do)
		return nil
	}
	return do()
}

// Dark makes the API server unreachable for everyone.
func (w *World) Dark() {
	if !w.isDark() {
		w.dark = w.Now()
	}
}

// Light makes it reachable again.
func (w *World) Light() error {
	if !w.isDark() {
		return nil
	}
	began := w.dark
	w.dark = time.Time{}
	if w.manager.alive {
		w.manager.sessions.outage(began, w.Now(), w.sessionOf)
		w.manager.lookAgain(Coordinator)
	}
	delayed := w.delayed
	w.delayed = nil
	for _, do := range delayed {
		if err := do(); err != nil {
			return err
		}
	}
	w.catchUp()
	return nil
}

// sessionOf is the session timeout in force of the member of that name.
func (w *World) sessionOf(name string) time.Duration {
	member := Get[*v1alpha1.GroupMember](w.Store, name)
	if member == nil || member.Status.SessionTimeout == nil {
		return defaultSession
	}
	return member.Status.SessionTimeout.Duration
}

// Crash lets the operator's process end after some more writes, 0 now, and start again.
func (w *World) Crash(after int) {
	if after > 0 {
		w.Faults.Crash(after)
		return
	}
	w.manager.die()
	w.successorAt = earliest(w.successorAt, w.Now())
}

// Thaw lets the writes arrive that were on their way when a manager froze; that manager then notices and ends.
func (w *World) Thaw() {
	frozen := w.Faults.frozen
	w.Faults.frozen = nil
	for _, sent := range frozen {
		_, _ = carryOut(w.Store, sent.who, sent.write) // The old process hears of its fate and stops.
	}
}

// SetFlags changes the manager's flags, which restarts it.
func (w *World) SetFlags(change func(*Flags)) {
	change(&w.flags)
	w.Crash(0)
}

// PublishRuns says whether the publish reconciler runs.
func (w *World) PublishRuns(runs bool) { w.publishOff = !runs }

// IsDark says that the API server cannot be reached.
func (w *World) IsDark() bool { return w.isDark() }
