package controllers

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/presence"
)

// indexCollector hands the manager's own indexes to a fake cache.
type indexCollector struct{ builder *fake.ClientBuilder }

func (i indexCollector) IndexField(_ context.Context, obj client.Object, field string, values client.IndexerFunc) error {
	i.builder.WithIndex(obj, field, values)
	return nil
}

// sourceBed has a cache and, apart from it, what the API server would answer.
type sourceBed struct {
	*testing.T
	cache     client.Client
	server    *memStore
	memory    *Memory
	clock     *clocktesting.FakePassiveClock
	reader    *reader
	workloads *WorkloadDriver
	sessions  *Sessions
}

func newSourceBed(t *testing.T, cached ...client.Object) *sourceBed {
	t.Helper()
	builder := fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(cached...)
	if err := addIndexes(t.Context(), indexCollector{builder}); err != nil {
		t.Fatal(err)
	}
	server := newMemStore()
	executor, clock := newTestExecutor(server)
	b := &sourceBed{T: t, cache: builder.Build(), server: server, memory: executor.Memory, clock: clock}
	b.reader = &reader{cache: b.cache, memory: b.memory}
	b.sessions = NewSessions(clock, NewContact(clock), b.cache)
	b.workloads = &WorkloadDriver{Executor: executor, Decide: presence.Decide}
	return b
}

func (b *sourceBed) groupSource() *groupSource {
	return &groupSource{
		reader: b.reader, group: testGroup, store: b.server, clock: b.clock, term: NewTerm("t"),
		library:  &planLibrary{store: b.server, memory: b.memory},
		presence: &livePresence{workloads: b.workloads, source: b.workloadSource},
		sessions: b.sessions,
	}
}

func (b *sourceBed) workloadSource(key WorkloadKey) *workloadSource {
	return &workloadSource{reader: b.reader, key: key, store: b.server, clock: b.clock}
}

func (b *sourceBed) snapshot() coordinator.Snapshot {
	b.Helper()
	snapshot, err := b.groupSource().Snapshot(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return snapshot
}

// The objects of a group with one pod of a StatefulSet.

func bedGroup() *v1alpha1.ConsumerGroup {
	group := testConsumerGroup("ns", "g", 4)
	group.UID, group.ResourceVersion = "group-uid", "1"
	return group
}

func bedSet() *appsv1.StatefulSet {
	set := testStatefulSet("ns", "g", 1)
	set.UID, set.ResourceVersion = "set-uid", "1"
	return set
}

func bedNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node", ResourceVersion: "1"},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

func bedPod(uid types.UID, ready bool) *corev1.Pod {
	set := bedSet()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "w-0", UID: uid, ResourceVersion: "1", Labels: set.Spec.Selector.MatchLabels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "w"}}},
	}
	pod.Status.Phase = corev1.PodRunning
	status, state := corev1.ConditionFalse, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	if ready {
		status, state = corev1.ConditionTrue, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(testStart)}}
	}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.NewTime(testStart)}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "w", Ready: ready, RestartCount: 1, State: state}}
	return pod
}

// bedMember is the pod's member, away for an hour by what is stored.
func bedMember(uid types.UID) *v1alpha1.GroupMember {
	group := bedGroup()
	return &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "g.w-0", UID: "member-uid", ResourceVersion: "1",
			Labels:          map[string]string{v1alpha1.GroupLabel: "g"},
			Finalizers:      []string{v1alpha1.HandoverFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(group, v1alpha1.GroupVersion.WithKind("ConsumerGroup"))},
		},
		Spec: v1alpha1.GroupMemberSpec{
			Group: "g", MemberName: "w-0", Incarnation: string(uid), Host: "node",
			Workload:        &v1alpha1.WorkloadReference{Kind: "StatefulSet", Name: "w", UID: "set-uid"},
			Acknowledgement: v1alpha1.AcknowledgeNone,
			Presence:        &v1alpha1.Presence{State: v1alpha1.Away, Reason: v1alpha1.PresenceCrashing, Since: metav1.NewMicroTime(testStart.Add(-time.Hour))},
		},
		Status: v1alpha1.GroupMemberStatus{State: v1alpha1.MemberActive, MemberID: "w-0-" + string(uid)},
	}
}

func planOf(group *v1alpha1.ConsumerGroup, generation int64, data string) *appsv1.ControllerRevision {
	plan := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: coordinator.PlanName(group, generation), ResourceVersion: "1",
			UID:             types.UID(coordinator.PlanName(group, generation)),
			Labels:          map[string]string{v1alpha1.GroupLabel: "g"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(group, v1alpha1.GroupVersion.WithKind("ConsumerGroup"))},
		},
		Revision: generation,
	}
	if data != "" {
		plan.Data = runtime.RawExtension{Raw: []byte(data)}
	}
	return plan
}
