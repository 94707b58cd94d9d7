package sim

import (
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// wholePlans is how many of a group's plans a snapshot carries with their contents.
const wholePlans = 2

// never is later than anything that a test waits for.
const never = 10_000 * time.Hour

// groupSource is one group as a manager's cache shows it, overlaid with the manager's own writes.
type groupSource struct {
	manager *Manager
	group   string
}

var _ controllers.Source = (*groupSource)(nil)

// Snapshot is the newest that the manager knows.
func (g *groupSource) Snapshot(context.Context) (coordinator.Snapshot, error) {
	m := g.manager
	view := m.view()
	snapshot := g.base()
	cached := GetFrom[*v1alpha1.ConsumerGroup](view, g.group)
	key := KeyFor(KindConsumerGroup, g.group)
	if newest := m.memory.Newest(key, objectOrNil(cached)); newest != nil {
		snapshot.Group = newest.(*v1alpha1.ConsumerGroup)
	}
	snapshot.Members = controllers.Overlay(m.memory, membersOf(view, g.group), func(member *v1alpha1.GroupMember) bool {
		return member.Spec.Group == g.group
	})
	plans := controllers.Overlay(m.memory, plansOf(view, g.group), func(plan *appsv1.ControllerRevision) bool {
		return plan.Labels[v1alpha1.GroupLabel] == g.group
	})
	snapshot.Plans = m.world.plans.parse(ownPlans(snapshot.Group, plans))
	snapshot.Declared = declared(view, g.group)
	snapshot.Rivals = m.rivals(view, snapshot.Members)
	return snapshot, nil
}

// base is what a snapshot bears besides the objects.
func (g *groupSource) base() coordinator.Snapshot {
	m := g.manager
	flags := m.world.flags
	return coordinator.Snapshot{
		LastSeen: m.sessions,
		Config: coordinator.Config{
			SessionMin: flags.SessionMin, SessionMax: flags.SessionMax,
			NoForcedRebalance: flags.NoForcedRebalance, ServeSelfRegistered: true,
			NoStaticMembership: flags.NoStaticMembership,
		},
		Term: m.term.Next(),
		Now:  m.world.Now(),
	}
}

// ReadLive reads past the cache. It does not fail while the process lives and the API server can be reached.
func (g *groupSource) ReadLive(_ context.Context, snapshot *coordinator.Snapshot, need coordinator.Live) error {
	m := g.manager
	store := m.world.Store
	if need.Plans {
		snapshot.Plans = m.world.plans.parse(ownPlans(snapshot.Group, plansOf(store.Now(), g.group)))
		snapshot.Live.Plans = true
	}
	snapshot.Members = slices.Clone(snapshot.Members)
	for name := range need.Members {
		g.readMember(snapshot, name)
	}
	return nil
}

// readMember reads a member, and its Lease or its pod.
func (g *groupSource) readMember(snapshot *coordinator.Snapshot, name string) {
	m := g.manager
	member := Get[*v1alpha1.GroupMember](m.world.Store, name)
	at := slices.IndexFunc(snapshot.Members, func(known *v1alpha1.GroupMember) bool { return known.Name == name })
	switch {
	case member != nil && at >= 0 && member.Spec.Workload != nil:
		snapshot.Members[at] = m.present(member)
	case member != nil && at >= 0:
		snapshot.Members[at] = member
	case at >= 0:
		snapshot.Members = slices.Delete(snapshot.Members, at, at+1)
	}
	if lease := Get[*coordinationv1.Lease](m.world.Store, name); lease != nil {
		m.sessions.observe(lease, m.world.Now())
	}
	if snapshot.Live.Members == nil {
		snapshot.Live.Members = map[string]bool{}
	}
	snapshot.Live.Members[name] = true
}

func objectOrNil(group *v1alpha1.ConsumerGroup) Object {
	if group == nil {
		return nil
	}
	return group
}

func membersOf(view View, group string) []*v1alpha1.GroupMember {
	all := ListFrom[*v1alpha1.GroupMember](view)
	return slices.DeleteFunc(all, func(member *v1alpha1.GroupMember) bool { return member.Spec.Group != group })
}

// ownPlans leaves out those of a former life of the group, newest first.
func ownPlans(group *v1alpha1.ConsumerGroup, plans []*appsv1.ControllerRevision) []*appsv1.ControllerRevision {
	own := slices.DeleteFunc(slices.Clone(plans), func(plan *appsv1.ControllerRevision) bool {
		return group == nil || !ownedBy(plan, group.UID)
	})
	slices.SortFunc(own, func(a, b *appsv1.ControllerRevision) int { return int(b.Revision - a.Revision) })
	return own
}

func ownedBy(object Object, uid types.UID) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.UID == uid {
			return true
		}
	}
	return false
}

// planCache keeps plans with their contents by UID: a plan never changes.
type planCache map[types.UID]*coordinator.Plan

// parse gives the newest plans whole, of the others what their objects say.
func (c planCache) parse(revisions []*appsv1.ControllerRevision) []*coordinator.Plan {
	plans := make([]*coordinator.Plan, 0, len(revisions))
	for i, revision := range revisions {
		if i < wholePlans {
			plans = append(plans, c.whole(revision))
		} else {
			plans = append(plans, &coordinator.Plan{Revision: revision})
		}
	}
	return plans
}

// whole has no content where what is stored cannot be read.
func (c planCache) whole(revision *appsv1.ControllerRevision) *coordinator.Plan {
	if known := c[revision.UID]; known != nil {
		return known
	}
	plan := &coordinator.Plan{Revision: revision}
	if content, err := coordinator.ParsePlan(revision); err == nil {
		plan.Content = content
	}
	c[revision.UID] = plan
	return plan
}

// rivals are the pods that would be members under the name of one that registered itself.
func (m *Manager) rivals(view View, members []*v1alpha1.GroupMember) map[string]coordinator.Rival {
	config := presence.Config{NoStaticMembership: m.world.flags.NoStaticMembership}
	rivals := map[string]coordinator.Rival{}
	for _, member := range members {
		if member.Spec.Workload != nil || member.Spec.MemberName == "" {
			continue
		}
		pod := GetFrom[*corev1.Pod](view, member.Spec.MemberName)
		if pod == nil || metav1.GetControllerOf(pod) == nil {
			continue
		}
		set := GetFrom[*appsv1.StatefulSet](view, metav1.GetControllerOf(pod).Name)
		if set != nil && presence.Claims(set, pod, member.Spec.Group, config) {
			rivals[member.Name] = coordinator.Rival{Pod: pod.Name, Node: pod.Spec.NodeName}
		}
	}
	return rivals
}

// declared are the replicas of the workloads whose annotation names the group.
func declared(view View, group string) map[coordinator.Workload]int32 {
	replicas := map[coordinator.Workload]int32{}
	for _, set := range ListFrom[*appsv1.StatefulSet](view) {
		if names(set, group) && set.DeletionTimestamp == nil {
			replicas[coordinator.Workload{Kind: KindStatefulSet, Name: set.Name}] = *set.Spec.Replicas
		}
	}
	for _, deployment := range ListFrom[*appsv1.Deployment](view) {
		if names(deployment, group) && deployment.DeletionTimestamp == nil {
			replicas[coordinator.Workload{Kind: KindDeployment, Name: deployment.Name}] = *deployment.Spec.Replicas
		}
	}
	return replicas
}

// observeLeases lets the manager see all renewals, and says whether any of them concerns a decision.
func (m *Manager) observeLeases() bool {
	store := m.world.Store
	version := store.KindVersion(KindLease)
	if version == m.leases {
		return false
	}
	m.leases = version
	concerns := m.forgetLeases()
	for _, lease := range List[*coordinationv1.Lease](store) {
		if m.sessions.observe(lease, m.world.Now()) || m.waitsForRenewal(lease.Name) {
			concerns = true
		}
	}
	if concerns {
		m.lookAgain(Coordinator)
	}
	return concerns
}

// forgetLeases drops what was seen of Leases that are gone.
func (m *Manager) forgetLeases() bool {
	forgotten := false
	for name := range m.sessions {
		if Get[*coordinationv1.Lease](m.world.Store, name) == nil {
			delete(m.sessions, name)
			forgotten = true
		}
	}
	return forgotten
}

// waitsForRenewal: a member is not simply Active, so a renewal may mean its return.
func (m *Manager) waitsForRenewal(name string) bool {
	member := Get[*v1alpha1.GroupMember](m.world.Store, name)
	if member == nil {
		return false
	}
	state := member.Status.State
	return state == v1alpha1.MemberUnavailable || state == v1alpha1.MemberPending || member.Status.Unavailable != nil
}

func (m *Manager) lookAgain(who Writer) {
	for next, s := range m.queue {
		if next.who == who {
			s.seen = -1
		}
	}
}

// operatorDueIfRenewed is when the operator has something to do although every living process goes on renewing.
func (w *World) operatorDueIfRenewed() time.Time {
	return w.operatorDueOf(func(next item, s *schedule) time.Time {
		if next.who != Coordinator {
			return s.due
		}
		return w.dueIfRenewed(next.name)
	})
}

func (w *World) dueIfRenewed(group string) time.Time {
	source := &groupSource{manager: w.manager, group: group}
	stale := w.Faults.stale
	w.Faults.stale = 0
	snapshot, err := source.Snapshot(context.Background())
	w.Faults.stale = stale
	if err != nil || snapshot.Group == nil {
		return time.Time{}
	}
	snapshot.LastSeen = w.renewedForEver(snapshot.LastSeen)
	decision := coordinator.Decide(snapshot)
	for range wholePlans {
		if !decision.Need.Empty() {
			_ = source.ReadLive(context.Background(), &snapshot, decision.Need) // It cannot fail here.
			decision = coordinator.Decide(snapshot)
		}
	}
	due := decision.WakeAt
	if due.After(w.Now().Add(never / 2)) {
		return time.Time{}
	}
	return due
}

// renewedForEver are the sessions as if no living process would ever miss a renewal.
func (w *World) renewedForEver(seen sessions) sessions {
	renewed := sessions{}
	for name, session := range seen {
		if process := w.processOf(session.Holder); process != nil && process.beating() {
			session.Seen = w.Now().Add(never)
		}
		renewed[name] = session
	}
	return renewed
}
