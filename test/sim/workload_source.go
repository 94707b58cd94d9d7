package sim

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// maxDecisions bounds the decisions of one reconcile of a workload or a pod.
const maxDecisions = 50

// runWorkload lets presence decide about one workload ("StatefulSet/web") until it wants nothing more.
func (m *Manager) runWorkload(ctx context.Context, name string) (time.Time, error) {
	kind, object, _ := strings.Cut(name, "/")
	workload := presence.Workload{Kind: kind, Name: object}
	err := m.executors[Workload].Settle(ctx, func(object Object) bool {
		member, isMember := object.(*v1alpha1.GroupMember)
		return isMember && belongsTo(member, workload)
	}, 0)
	if err != nil {
		return time.Time{}, err
	}
	for range maxDecisions {
		decision := m.decideWorkload(name, m.view())
		m.sights[name] = decision.Sights
		m.tellPresence(decision.Events)
		writes := presenceWrites(decision)
		if len(writes) == 0 {
			return decision.WakeAt, nil
		}
		if _, err := m.executors[Workload].Run(ctx, []coordinator.Batch{{Phase: coordinator.PhaseFacts, Writes: writes}}); err != nil {
			return time.Time{}, err
		}
	}
	return time.Time{}, fmt.Errorf("workload %s: %w", name, controllers.ErrNotSettled)
}

// decideWorkload decides from a view; what is needed live is read past it.
func (m *Manager) decideWorkload(name string, view View) presence.Decision {
	snapshot := m.workloadSnapshot(name, view)
	for {
		decision := presence.Decide(snapshot)
		if decision.Need.Empty() {
			return decision
		}
		snapshot = m.workloadSnapshot(name, m.world.Store.Now())
		snapshot.Live = decision.Need
	}
}

func (m *Manager) workloadSnapshot(name string, view View) presence.Snapshot {
	kind, object, _ := strings.Cut(name, "/")
	snapshot := presence.Snapshot{
		Namespace: Namespace,
		Workload:  presence.Workload{Kind: kind, Name: object},
		Nodes:     map[string]*corev1.Node{},
		Groups:    map[string]*v1alpha1.ConsumerGroup{},
		Sights:    m.sights[name],
		Config: presence.Config{
			NoStaticMembership: m.world.flags.NoStaticMembership,
			SessionMin:         m.world.flags.SessionMin, SessionMax: m.world.flags.SessionMax,
		},
		Now: m.world.Now(),
	}
	var workload metav1.Object
	if set := GetFrom[*appsv1.StatefulSet](view, object); kind == KindStatefulSet && set != nil {
		snapshot.StatefulSet, workload = set, set
	}
	if deployment := GetFrom[*appsv1.Deployment](view, object); kind == KindDeployment && deployment != nil {
		snapshot.Deployment, workload = deployment, deployment
	}
	for _, node := range ListFrom[*corev1.Node](view) {
		snapshot.Nodes[node.Name] = node
	}
	snapshot.Members = m.membersAround(view, snapshot.Workload, workload)
	snapshot.Pods = podsAround(view, snapshot.Workload, snapshot.Members)
	for _, group := range ListFrom[*v1alpha1.ConsumerGroup](view) {
		snapshot.Groups[group.Name] = group
	}
	return snapshot
}

// membersAround are those of the workload, and those of the groups that its annotation names.
func (m *Manager) membersAround(view View, workload presence.Workload, object metav1.Object) []*v1alpha1.GroupMember {
	concerned := func(member *v1alpha1.GroupMember) bool {
		return belongsTo(member, workload) || object != nil && names(object, member.Spec.Group)
	}
	all := controllers.Overlay(m.memory, ListFrom[*v1alpha1.GroupMember](view), concerned)
	return slices.DeleteFunc(all, func(member *v1alpha1.GroupMember) bool { return !concerned(member) })
}

func belongsTo(member *v1alpha1.GroupMember, workload presence.Workload) bool {
	owner := member.Spec.Workload
	return owner != nil && owner.Kind == workload.Kind && owner.Name == workload.Name
}

// names says that the workload's annotation names the group.
func names(workload metav1.Object, group string) bool {
	for name := range strings.SplitSeq(workload.GetAnnotations()[v1alpha1.GroupAnnotation], ",") {
		if strings.TrimSpace(name) == group {
			return true
		}
	}
	return false
}

// podsAround are the pods that the workload controls or has lost, and those of its members.
func podsAround(view View, workload presence.Workload, members []*v1alpha1.GroupMember) []*corev1.Pod {
	incarnations := map[string]bool{}
	for _, member := range members {
		incarnations[member.Spec.Incarnation] = belongsTo(member, workload)
	}
	return slices.DeleteFunc(ListFrom[*corev1.Pod](view), func(pod *corev1.Pod) bool {
		return !incarnations[string(pod.UID)] && workloadOf(view, pod) != workload
	})
}

// workloadOf is the workload that a pod belongs to by its owner, or by its name where it has none.
func workloadOf(view View, pod *corev1.Pod) presence.Workload {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		at := strings.LastIndex(pod.Name, "-")
		if at < 0 {
			return presence.Workload{}
		}
		return presence.Workload{Kind: KindStatefulSet, Name: pod.Name[:at]}
	}
	if owner.Kind == KindReplicaSet {
		if set := GetFrom[*appsv1.ReplicaSet](view, owner.Name); set != nil {
			owner = metav1.GetControllerOfNoCopy(set)
		}
	}
	if owner == nil {
		return presence.Workload{}
	}
	return presence.Workload{Kind: owner.Kind, Name: owner.Name}
}

// workloads are those that name a group, and those that a member names.
func (m *Manager) workloads() []string {
	store := m.world.Store
	var found []string
	for _, set := range List[*appsv1.StatefulSet](store) {
		found = append(found, KindStatefulSet+"/"+set.Name)
	}
	for _, deployment := range List[*appsv1.Deployment](store) {
		found = append(found, KindDeployment+"/"+deployment.Name)
	}
	for _, member := range List[*v1alpha1.GroupMember](store) {
		if owner := member.Spec.Workload; owner != nil {
			found = append(found, owner.Kind+"/"+owner.Name)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// presenceWrites are the writes that presence wants.
func presenceWrites(decision presence.Decision) []coordinator.Write {
	var writes []coordinator.Write
	for _, member := range decision.Creates {
		writes = append(writes, coordinator.Write{Verb: coordinator.Create, New: member})
	}
	for _, update := range decision.Updates {
		writes = append(writes, coordinator.Write{Verb: coordinator.Update, Old: update.Old, New: update.New})
	}
	for _, member := range decision.Deletes {
		writes = append(writes, coordinator.Write{Verb: coordinator.Delete, Old: member})
	}
	return writes
}

// presenceStands looks at a member's workload past the cache. Where what is seen there differs from the member's presence,
// that is to be written before anything is decided about the member.
func (m *Manager) presenceStands(member *v1alpha1.GroupMember) error {
	name := member.Spec.Workload.Kind + "/" + member.Spec.Workload.Name
	decision := m.decideWorkload(name, m.world.Store.Now())
	for _, update := range decision.Updates {
		if update.Old.Name == member.Name {
			m.schedule(item{Workload, name}).seen = -1
			if _, err := m.executors[Workload].Run(context.Background(), []coordinator.Batch{{
				Phase: coordinator.PhaseFacts, Writes: []coordinator.Write{{Verb: coordinator.Update, Old: update.Old, New: update.New}},
			}}); err != nil {
				return err
			}
			return conflict(keyOf(member), "its pod has changed")
		}
	}
	return nil
}

// tellPresence sends the events of presence that did not stand before.
func (m *Manager) tellPresence(events []presence.Event) {
	for _, event := range events {
		m.tell(event.Key, coordinator.Event{
			About: event.About, Warning: event.Warning, Reason: event.Reason, Message: event.Message,
		})
	}
}

// tell sends an event once for as long as its cause stands.
func (m *Manager) tell(key string, event coordinator.Event) {
	if !m.standing[key] {
		m.standing[key] = true
		m.world.noteEvent(event)
	}
}

func (w *World) noteEvent(event coordinator.Event) {
	noted := Event{Time: w.Now(), Reason: event.Reason, Message: event.Message, Warning: event.Warning}
	if event.About != nil {
		noted.About = event.About.GetName()
	}
	w.events = append(w.events, noted)
}
