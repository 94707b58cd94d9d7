package sim

import (
	"context"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// workloadSource is one workload as a manager's cache shows it, overlaid with the manager's own writes.
type workloadSource struct {
	manager  *Manager
	workload presence.Workload
}

var _ controllers.WorkloadSource = (*workloadSource)(nil)

// Snapshot is the newest that the manager knows.
func (s *workloadSource) Snapshot(context.Context) (presence.Snapshot, error) {
	return s.snapshot(s.manager.view()), nil
}

// ReadLive reads the workload, groups and nodes past the cache. It does not fail while the process lives.
func (s *workloadSource) ReadLive(_ context.Context, snapshot *presence.Snapshot, need presence.Live) error {
	store := s.manager.world.Store
	if need.Workload {
		s.readWorkload(snapshot, store.Now())
		snapshot.Live.Workload = true
	}
	read := map[string]bool{}
	maps.Copy(read, snapshot.Live.Groups)
	for name := range need.Groups {
		delete(snapshot.Groups, name)
		if group := Get[*v1alpha1.ConsumerGroup](store, name); group != nil {
			snapshot.Groups[name] = group
		}
		read[name] = true
	}
	snapshot.Live.Groups = read
	snapshot.Live.Nodes = maps.Clone(snapshot.Live.Nodes)
	if snapshot.Live.Nodes == nil {
		snapshot.Live.Nodes = map[string]bool{}
	}
	for name := range need.Nodes {
		snapshot.Live.Nodes[name] = true
		delete(snapshot.Nodes, name)
		if node := Get[*corev1.Node](store, name); node != nil {
			snapshot.Nodes[name] = node
		}
	}
	return nil
}

func (s *workloadSource) snapshot(view View) presence.Snapshot {
	m := s.manager
	flags := m.world.flags
	snapshot := presence.Snapshot{
		Namespace: Namespace,
		Workload:  s.workload,
		Nodes:     map[string]*corev1.Node{},
		Groups:    map[string]*v1alpha1.ConsumerGroup{},
		Config: presence.Config{
			NoStaticMembership: flags.NoStaticMembership, SessionMin: flags.SessionMin, SessionMax: flags.SessionMax,
		},
		Now: m.world.Now(),
	}
	workload := s.readWorkload(&snapshot, view)
	for _, node := range ListFrom[*corev1.Node](view) {
		snapshot.Nodes[node.Name] = node
	}
	snapshot.Members = m.membersAround(view, s.workload, workload)
	snapshot.Pods = podsAround(view, s.workload, snapshot.Members)
	for _, group := range ListFrom[*v1alpha1.ConsumerGroup](view) {
		snapshot.Groups[group.Name] = group
	}
	return snapshot
}

// readWorkload puts the workload itself into the snapshot; nil when it is not there.
func (s *workloadSource) readWorkload(snapshot *presence.Snapshot, view View) metav1.Object {
	snapshot.StatefulSet, snapshot.Deployment = nil, nil
	switch s.workload.Kind {
	case KindStatefulSet:
		if set := GetFrom[*appsv1.StatefulSet](view, s.workload.Name); set != nil {
			snapshot.StatefulSet = set
			return set
		}
	case KindDeployment:
		if deployment := GetFrom[*appsv1.Deployment](view, s.workload.Name); deployment != nil {
			snapshot.Deployment = deployment
			return deployment
		}
	}
	return nil
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

// present is the member with the presence that its pod has now, past the cache, where that is Present: nobody is declared
// dead from a stale word.
func (m *Manager) present(member *v1alpha1.GroupMember) *v1alpha1.GroupMember {
	source := &workloadSource{manager: m, workload: presence.Workload{
		Kind: member.Spec.Workload.Kind, Name: member.Spec.Workload.Name,
	}}
	snapshot := source.snapshot(m.world.Store.Now())
	snapshot.Sights = m.workloadDriver.SightsOf(workloadKey(source.workload))
	snapshot.Live.Workload = true
	snapshot.Live.Groups = map[string]bool{member.Spec.Group: true}
	snapshot.Live.Nodes = map[string]bool{}
	for _, pod := range snapshot.Pods {
		snapshot.Live.Nodes[pod.Spec.NodeName] = true
	}
	for _, update := range presence.Decide(snapshot).Updates {
		shown := update.New.Spec.Presence
		if update.New.Name == member.Name && shown != nil && shown.State == v1alpha1.Present {
			back := member.DeepCopy()
			back.Spec.Presence = shown
			return back
		}
	}
	return member
}

func workloadKey(workload presence.Workload) controllers.WorkloadKey {
	return controllers.WorkloadKey{
		Kind: workload.Kind, NamespacedName: types.NamespacedName{Namespace: Namespace, Name: workload.Name},
	}
}

func (w *World) noteEvent(event coordinator.Event) {
	noted := Event{Time: w.Now(), Reason: event.Reason, Message: event.Message, Warning: event.Warning}
	if event.About != nil {
		noted.About = event.About.GetName()
	}
	w.events = append(w.events, noted)
}
