package presence

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

const (
	session     = 10 * time.Second
	replacement = time.Minute
)

// noon is when every test begins.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// world is a namespace with a StatefulSet "web" in group "g", in which time passes and decisions are carried out.
type world struct {
	t       *testing.T
	s       Snapshot
	writes  map[string]int
	created int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, writes: map[string]int{}, s: Snapshot{
		Namespace:   "shop",
		Workload:    Workload{KindStatefulSet, "web"},
		StatefulSet: newSet(3),
		Nodes:       map[string]*corev1.Node{"n1": newNode("n1", "east"), "n2": newNode("n2", "west")},
		Groups:      map[string]*v1alpha1.ConsumerGroup{"g": newGroup("g")},
		Live:        Live{Workload: true, Groups: map[string]bool{"g": true, "h": true}, Nodes: map[string]bool{"n1": true, "n2": true}},
		Now:         noon,
	}}
	return w
}

// deployed makes the workload a Deployment.
func (w *world) deployed() *world {
	w.s.Workload.Kind, w.s.StatefulSet = KindDeployment, nil
	w.s.Deployment = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: "web", UID: "deployment", Annotations: map[string]string{v1alpha1.GroupAnnotation: "g"},
	}}
	return w
}

func newSet(replicas int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "set", Annotations: map[string]string{v1alpha1.GroupAnnotation: "g"}},
		Spec:       appsv1.StatefulSetSpec{Replicas: &replicas},
	}
}

func newGroup(name string) *v1alpha1.ConsumerGroup {
	return &v1alpha1.ConsumerGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("group-" + name)},
		Spec: v1alpha1.ConsumerGroupSpec{
			SessionTimeout:     &metav1.Duration{Duration: session},
			ReplacementTimeout: &metav1.Duration{Duration: replacement},
		},
	}
}

func newNode(name, zone string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: zone}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

func (w *world) node(name string, ready corev1.ConditionStatus) {
	changed := w.s.Nodes[name].DeepCopy()
	changed.Status.Conditions[0].Status = ready
	w.s.Nodes[name] = changed
}

func (w *world) scale(replicas int32) {
	w.set(func(s *appsv1.StatefulSet) { s.Spec.Replicas = &replicas })
}

func (w *world) set(change func(*appsv1.StatefulSet)) {
	w.s.StatefulSet = w.s.StatefulSet.DeepCopy()
	change(w.s.StatefulSet)
}

func (w *world) advance(d time.Duration) { w.s.Now = w.s.Now.Add(d) }

// create makes a new pod object, Pending on no node, in place of the one of that name.
func (w *world) create(name string) {
	w.remove(name)
	w.created++
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: types.UID(fmt.Sprintf("%08d-of-%s", w.created, name)),
			CreationTimestamp: metav1.NewTime(w.s.Now), Annotations: map[string]string{},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}, {Name: "log"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	if w.s.StatefulSet != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(w.s.StatefulSet, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	}
	w.s.Pods = append(w.s.Pods, pod)
}

func (w *world) remove(name string) {
	var others []*corev1.Pod
	for _, pod := range w.s.Pods {
		if pod.Name != name {
			others = append(others, pod)
		}
	}
	w.s.Pods = others
}

// pod changes the pod of that name.
func (w *world) pod(name string, changes ...func(*corev1.Pod)) {
	w.t.Helper()
	for i, pod := range w.s.Pods {
		if pod.Name == name {
			w.s.Pods[i] = pod.DeepCopy()
			for _, change := range changes {
				change(w.s.Pods[i])
			}
			return
		}
	}
	w.t.Fatalf("there is no pod %s", name)
}

// start makes a new pod that runs on n1 and is Ready.
func (w *world) start(names ...string) {
	for _, name := range names {
		w.create(name)
		w.pod(name, on("n1"), w.running, w.ready)
	}
}

func on(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

// running: all containers run now, not Ready; one that ran before counts as restarted.
func (w *world) running(p *corev1.Pod) {
	restarts := int32(0)
	if len(p.Status.ContainerStatuses) > 0 {
		restarts = p.Status.ContainerStatuses[0].RestartCount + 1
	}
	p.Status.Phase, p.Status.ContainerStatuses = corev1.PodRunning, nil
	for _, c := range p.Spec.Containers {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, RestartCount: restarts,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.s.Now)}},
		})
	}
	w.readiness(p, corev1.ConditionFalse)
}

// crashed: the containers have exited and wait to be started again.
func (w *world) crashed(p *corev1.Pod) {
	for i := range p.Status.ContainerStatuses {
		status := &p.Status.ContainerStatuses[i]
		status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		status.LastTerminationState = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3}}
	}
	w.readiness(p, corev1.ConditionFalse)
}

func (w *world) ready(p *corev1.Pod)    { w.readiness(p, corev1.ConditionTrue) }
func (w *world) notReady(p *corev1.Pod) { w.readiness(p, corev1.ConditionFalse) }

// readiness keeps lastTransitionTime where nothing changes, as kubelet does.
func (w *world) readiness(p *corev1.Pod, status corev1.ConditionStatus) {
	if found := condition(p, corev1.PodReady); found != nil && found.Status == status {
		return
	}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(w.s.Now)}}
}

func (w *world) terminating(p *corev1.Pod) {
	now := metav1.NewTime(w.s.Now)
	p.DeletionTimestamp = &now
}

func failed(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }

func (w *world) member(name string) *v1alpha1.GroupMember {
	for _, member := range w.s.Members {
		if member.Spec.MemberName == name || member.Name == name {
			return member
		}
	}
	return nil
}

// status sets what the coordinator would write.
func (w *world) status(name string, change func(*v1alpha1.GroupMemberStatus)) {
	for i, member := range w.s.Members {
		if member.Spec.MemberName == name || member.Name == name {
			w.s.Members[i] = member.DeepCopy()
			change(&w.s.Members[i].Status)
		}
	}
}

func state(s v1alpha1.MemberState) func(*v1alpha1.GroupMemberStatus) {
	return func(status *v1alpha1.GroupMemberStatus) { status.State = s }
}

// decide asks once and carries the answer out.
func (w *world) decide() Decision {
	w.t.Helper()
	d := Decide(w.s)
	if !d.WakeAt.IsZero() && !d.WakeAt.After(w.s.Now) {
		w.t.Fatalf("at %s it wants to be woken at %s", w.s.Now, d.WakeAt)
	}
	w.apply(d)
	return d
}

func (w *world) apply(d Decision) {
	members := map[string]*v1alpha1.GroupMember{}
	for _, member := range w.s.Members {
		members[member.Name] = member
	}
	for _, update := range d.Updates {
		members[update.New.Name] = update.New
		w.writes[update.New.Name]++
	}
	for _, gone := range d.Deletes {
		delete(members, gone.Name)
	}
	for _, made := range d.Creates {
		made = made.DeepCopy()
		made.UID = types.UID("uid-" + made.Name)
		made.Status.State = v1alpha1.MemberActive
		members[made.Name] = made
	}
	w.s.Members = nil
	for _, member := range members {
		w.s.Members = append(w.s.Members, member)
	}
	if d.Need.Empty() {
		w.s.Sights = d.Sights
	}
}

// settled is a world whose pods run and are Active members of g.
func settled(t *testing.T, pods ...string) *world {
	w := newWorld(t)
	w.start(pods...)
	w.decide()
	w.advance(time.Minute)
	return w
}

// said is a member's presence in short: "Away Replacing 3s stopped", the instant as seen from noon.
func (w *world) said(name string) string {
	member := w.member(name)
	if member == nil {
		return "absent"
	}
	presence := member.Spec.Presence
	words := []string{string(presence.State), presence.Reason, presence.Since.Sub(noon).String()}
	if presence.Stopped {
		words = append(words, "stopped")
	}
	return strings.Join(words, " ")
}

func (w *world) expect(name, want string) {
	w.t.Helper()
	if got := w.said(name); got != want {
		w.t.Errorf("%s after noon, %s: %s, want %s", w.s.Now.Sub(noon), name, got, want)
	}
}
