package controllers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// writeLog notes every mutation that changes an object, but events and the leader's lease.
type writeLog struct {
	mu    sync.Mutex
	sent  []string
	since time.Time
}

func (l *writeLog) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		path := request.URL.Path
		response, err := next.RoundTrip(request)
		if err != nil || response.StatusCode >= 300 || !mutates(request.Method) ||
			strings.Contains(path, "/events") || strings.Contains(path, "/leases") || strings.HasSuffix(path, "reviews") {
			return response, err
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.sent, l.since = append(l.sent, request.Method+" "+path), time.Now()
		return response, nil
	})
}

func (l *writeLog) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.sent...)
}

// quietFor fails while the last write is younger than that.
func (l *writeLog) quietFor(d time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sent) > 0 && time.Since(l.since) < d {
		return fmt.Errorf("still writing: %s", l.sent[len(l.sent)-1])
	}
	return nil
}

// startManager runs a manager with the rights that config/rbac gives it, until the test ends.
func startManager(t *testing.T) *runningManager {
	t.Helper()
	running := &runningManager{}
	config := rest.CopyConfig(managerConfig(t))
	config.Wrap(running.wrap)
	options := DefaultOptions()
	options.LeaderElectNamespace = "rollcall-system"
	options.MetricsAddress, options.ProbeAddress = "0", "0"
	options.SessionMin = time.Second
	ctx, stop := context.WithCancel(context.Background())
	mgr, err := NewManager(ctx, config, options, funcr.New(running.log.add, funcr.Options{}))
	if err != nil {
		stop()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with %v", err)
		}
		if t.Failed() {
			t.Log("the manager's log:\n" + running.log.String())
		}
	})
	return running
}

// runningManager is a manager in this process, what it has sent and what it has logged.
type runningManager struct {
	writeLog
	log managerLog
}

// leads waits until the manager leads and has loaded everything.
func (r *runningManager) leads(t *testing.T) {
	t.Helper()
	eventually(t, "the manager leads", func() error {
		if !strings.Contains(r.log.String(), "Initialized") {
			return errors.New("not initialized")
		}
		return nil
	})
}

// managerLog keeps what a manager logs, also after the test has ended.
type managerLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *managerLog) add(prefix, args string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, time.Now().Format(time.StampMilli)+" "+prefix+" "+args)
}

// String is the whole log.
func (l *managerLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

func testConsumerGroup(namespace, name string, partitions int32) *v1alpha1.ConsumerGroup {
	return &v1alpha1.ConsumerGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.ConsumerGroupSpec{
			Topics:                []v1alpha1.TopicSpec{{Name: "t", Partitions: partitions}},
			SessionTimeout:        &metav1.Duration{Duration: 10 * time.Second},
			InitialRebalanceDelay: &metav1.Duration{Duration: time.Second},
			Handover:              v1alpha1.Handover{RevocationGracePeriod: &metav1.Duration{Duration: time.Second}},
		},
	}
}

// testStatefulSet is an annotated set whose pods read their assignment.
func testStatefulSet(namespace, group string, replicas int32) *appsv1.StatefulSet {
	labels := map[string]string{"app": "w"}
	field := "metadata.annotations['" + v1alpha1.AssignmentAnnotationPrefix + group + "']"
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "w", Annotations: map[string]string{v1alpha1.GroupAnnotation: group}},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: ptr.To[int64](1),
					Containers: []corev1.Container{{Name: "w", Image: "w", Env: []corev1.EnvVar{{
						Name: "ASSIGNMENT", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}},
					}}}},
				},
			},
		},
	}
}

// groupIs waits until the group is Stable with so many members, and all its partitions are assigned.
func groupIs(t *testing.T, c client.Client, key types.NamespacedName, members int32) *v1alpha1.ConsumerGroup {
	t.Helper()
	group := &v1alpha1.ConsumerGroup{}
	eventually(t, "group "+key.String(), func() error {
		if err := c.Get(t.Context(), key, group); err != nil {
			return err
		}
		if s := group.Status; s.State != v1alpha1.GroupStable || s.Members != members || s.AvailableMembers != members || s.AssignedPartitions != s.Partitions {
			return fmt.Errorf("state %s, members %s, partitions %s, open round %v", s.State, s.MemberSummary, s.PartitionSummary, s.Rebalance)
		}
		return nil
	})
	return group
}

func mustCreate(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, obj := range objects {
		if err := c.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPodsOfAnAnnotatedSetShareThePartitions(t *testing.T) {
	c, namespace := onCluster(t)
	log := startManager(t)
	group, set := testConsumerGroup(namespace, "g", 12), testStatefulSet(namespace, "g", 3)
	mustCreate(t, c, group, set)
	key := client.ObjectKeyFromObject(group)
	stable := groupIs(t, c, key, 3)
	if stable.Status.Generation != 1 {
		t.Errorf("three pods cost %d generations, want 1", stable.Status.Generation)
	}
	eventually(t, "documents", func() error { return documentsTell(t.Context(), c, namespace, "g", 3) })

	scale(t, c, set, 4)
	grown := groupIs(t, c, key, 4)
	if grown.Status.LastRebalance.Moved != 3 || grown.Status.Generation != 2 {
		t.Errorf("a fourth pod moved %d partitions in generation %d, want 3 in 2", grown.Status.LastRebalance.Moved, grown.Status.Generation)
	}
	scale(t, c, set, 3)
	groupIs(t, c, key, 3)

	eventually(t, "silence", func() error { return log.quietFor(3 * time.Second) })
	before := len(log.all())
	touchEverything(t, c, namespace)
	eventually(t, "the writes of this test are seen", func() error { return log.quietFor(3 * time.Second) })
	if after := log.all()[before:]; len(after) != 0 {
		t.Errorf("reconciles with nothing to do wrote %v", after)
	}

	if err := c.Delete(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the group ends", func() error { return gone(t.Context(), c, group) })
	eventually(t, "its members end", func() error { return none(t.Context(), c, namespace, &v1alpha1.GroupMemberList{}) })
	eventually(t, "the documents go", func() error { return documentsTell(t.Context(), c, namespace, "g", 0) })
}

// documentsTell checks that so many pods bear a document of the group.
func documentsTell(ctx context.Context, c client.Client, namespace, group string, want int) error {
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	have := 0
	for _, pod := range pods.Items {
		if strings.Contains(pod.Annotations[v1alpha1.AssignmentAnnotationPrefix+group], `"topic":"t"`) {
			have++
		}
	}
	if have != want {
		return fmt.Errorf("%d of %d pods bear a document, want %d", have, len(pods.Items), want)
	}
	return nil
}

func scale(t *testing.T, c client.Client, set *appsv1.StatefulSet, replicas int32) {
	t.Helper()
	patch := client.MergeFrom(set.DeepCopy())
	set.Spec.Replicas = &replicas
	if err := c.Patch(t.Context(), set, patch); err != nil {
		t.Fatal(err)
	}
}

// touchEverything makes an event for every object that reconciles look at, without changing anything they read.
func touchEverything(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	lists := []client.ObjectList{&v1alpha1.ConsumerGroupList{}, &v1alpha1.GroupMemberList{}, &corev1.PodList{}, &appsv1.StatefulSetList{}}
	for _, list := range lists {
		if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		for _, obj := range itemsOf(list) {
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/touched":"yes"}}}`))
			if err := c.Patch(t.Context(), obj, patch); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func itemsOf(list client.ObjectList) []client.Object {
	var objects []client.Object
	switch l := list.(type) {
	case *v1alpha1.ConsumerGroupList:
		for i := range l.Items {
			objects = append(objects, &l.Items[i])
		}
	case *v1alpha1.GroupMemberList:
		for i := range l.Items {
			objects = append(objects, &l.Items[i])
		}
	case *corev1.PodList:
		for i := range l.Items {
			objects = append(objects, &l.Items[i])
		}
	case *appsv1.StatefulSetList:
		for i := range l.Items {
			objects = append(objects, &l.Items[i])
		}
	}
	return objects
}

func gone(ctx context.Context, c client.Client, obj client.Object) error {
	err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	if err == nil {
		return fmt.Errorf("%s is still there, finalizers %v", obj.GetName(), obj.GetFinalizers())
	}
	return client.IgnoreNotFound(err)
}

func none(ctx context.Context, c client.Client, namespace string, list client.ObjectList) error {
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}
	if left := itemsOf(list); len(left) > 0 {
		return fmt.Errorf("%d are left, the first is %s with finalizers %v", len(left), left[0].GetName(), left[0].GetFinalizers())
	}
	return nil
}

func TestANewManagerFindsEverythingDone(t *testing.T) {
	c, namespace := onCluster(t)
	group, set := testConsumerGroup(namespace, "g", 12), testStatefulSet(namespace, "g", 3)
	mustCreate(t, c, group, set)
	t.Run("first", func(t *testing.T) {
		log := startManager(t)
		groupIs(t, c, client.ObjectKeyFromObject(group), 3)
		eventually(t, "silence", func() error { return log.quietFor(2 * time.Second) })
	})
	log := startManager(t)
	log.leads(t)
	touchEverything(t, c, namespace)
	eventually(t, "silence", func() error { return log.quietFor(2 * time.Second) })
	if sent := log.all(); len(sent) != 0 {
		t.Errorf("a new manager wrote %v", sent)
	}
}

func TestANamespaceWithEverythingEnds(t *testing.T) {
	c, namespace := onCluster(t)
	startManager(t)
	group, set := testConsumerGroup(namespace, "g", 12), testStatefulSet(namespace, "g", 3)
	mustCreate(t, c, group, set)
	groupIs(t, c, client.ObjectKeyFromObject(group), 3)
	if err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace ends", func() error {
		return gone(t.Context(), c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	})
}

// A member whose group went without it, while nobody was there to see, is let go.
func TestLeftoversOfAGroupAreLetGo(t *testing.T) {
	c, namespace := onCluster(t)
	member := clusterMember(namespace)
	member.Finalizers = []string{v1alpha1.HandoverFinalizer}
	mustCreate(t, c, member)
	startManager(t)
	if err := c.Delete(t.Context(), member); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the member ends", func() error { return gone(t.Context(), c, member) })
}

// What a person got wrong is said where that person looks.
func TestTroubleIsTold(t *testing.T) {
	c, namespace := onCluster(t)
	startManager(t)
	short := testConsumerGroup(namespace, "short", 4)
	short.Spec.SessionTimeout = lasting(100 * time.Millisecond)
	lost := testStatefulSet(namespace, "nowhere", 1)
	static := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "d", Annotations: map[string]string{
			v1alpha1.GroupAnnotation: "short", v1alpha1.MembershipAnnotation: v1alpha1.MembershipStatic,
		}},
		Spec: appsv1.DeploymentSpec{Selector: lost.Spec.Selector, Template: lost.Spec.Template},
	}
	mustCreate(t, c, short, lost, static)
	eventually(t, "the group's condition", func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(short), short); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(short.Status.Conditions, v1alpha1.GroupReady)
		if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonInvalidSessionTimeout {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
	for name, kind := range map[string]string{"w": "StatefulSet", "d": "Deployment"} {
		eventually(t, "an event about "+kind, func() error {
			var events eventsv1.EventList
			if err := c.List(t.Context(), &events, client.InNamespace(namespace)); err != nil {
				return err
			}
			for _, event := range events.Items {
				if event.Regarding.Kind == kind && event.Regarding.Name == name && event.Type == corev1.EventTypeWarning && strings.HasPrefix(event.ReportingController, "rollcall") {
					return nil
				}
			}
			return fmt.Errorf("none among %d", len(events.Items))
		})
	}
}

func TestARollMovesNothing(t *testing.T) {
	c, namespace := onCluster(t)
	log := startManager(t)
	group, set := testConsumerGroup(namespace, "g", 12), testStatefulSet(namespace, "g", 3)
	mustCreate(t, c, group, set)
	key := client.ObjectKeyFromObject(group)
	before := groupIs(t, c, key, 3)
	eventually(t, "documents", func() error { return documentsTell(t.Context(), c, namespace, "g", 3) })
	eventually(t, "silence", func() error { return log.quietFor(3 * time.Second) })
	sent := len(log.all())

	restart := `{"spec":{"template":{"metadata":{"annotations":{"example.com/restarted":"now"}}}}}`
	if err := c.Patch(t.Context(), set, mergePatch(restart)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the roll", func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		if s := set.Status; s.ObservedGeneration != set.Generation || s.UpdatedReplicas != 3 || s.ReadyReplicas != 3 || s.CurrentRevision != s.UpdateRevision {
			return fmt.Errorf("updated %d, ready %d", s.UpdatedReplicas, s.ReadyReplicas)
		}
		return nil
	})
	eventually(t, "documents", func() error { return documentsTell(t.Context(), c, namespace, "g", 3) })
	eventually(t, "silence", func() error { return log.quietFor(3 * time.Second) })
	after := groupIs(t, c, key, 3)
	if after.Status.Generation != before.Status.Generation || after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the roll wrote the group: generation %d, then %d", before.Status.Generation, after.Status.Generation)
	}
	if writes := log.all()[sent:]; len(writes) > 3*4 {
		t.Errorf("the roll of 3 pods cost %d writes, want at most 4 a pod:\n%s", len(writes), strings.Join(writes, "\n"))
	} else {
		t.Logf("%d writes:\n%s", len(writes), strings.Join(writes, "\n"))
	}
}
