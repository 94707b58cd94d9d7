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
func startManager(t *testing.T, change ...func(*Options)) *runningManager {
	t.Helper()
	return startManagerVia(t, func(next http.RoundTripper) http.RoundTripper { return next }, change...)
}

// startManagerVia lets all its requests pass through a wrapper.
func startManagerVia(t *testing.T, wrap func(http.RoundTripper) http.RoundTripper, change ...func(*Options)) *runningManager {
	t.Helper()
	return startManagerBy(t, managerConfig(t), wrap, change...)
}

// startManagerBy reaches the API server by that configuration.
func startManagerBy(
	t *testing.T, config *rest.Config, wrap func(http.RoundTripper) http.RoundTripper, change ...func(*Options),
) *runningManager {
	t.Helper()
	running := &runningManager{end: make(chan struct{})}
	config = rest.CopyConfig(config)
	config.Wrap(running.wrap)
	config.Wrap(wrap)
	options := DefaultOptions()
	options.LeaderElectNamespace = "rollcall-system"
	options.MetricsAddress, options.ProbeAddress = "0", "0"
	options.SessionMin = time.Second
	for _, c := range change {
		c(&options)
	}
	ctx, cancel := context.WithCancel(context.Background())
	running.cancel = cancel
	mgr, err := NewManager(ctx, config, options, funcr.New(running.log.add, funcr.Options{}))
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() {
		running.err = mgr.Start(ctx)
		close(running.end)
	}()
	t.Cleanup(func() {
		running.stop(t)
		if t.Failed() {
			t.Log("the manager's log:\n" + running.log.String())
		}
	})
	return running
}

// runningManager is a manager in this process, what it has sent and what it has logged.
type runningManager struct {
	writeLog
	log    managerLog
	cancel context.CancelFunc
	end    chan struct{}
	err    error
}

// stop ends the manager, unless it has ended by itself.
func (r *runningManager) stop(t *testing.T) {
	t.Helper()
	select {
	case <-r.end:
		return
	default:
	}
	r.cancel()
	<-r.end
	if r.err != nil {
		t.Errorf("the manager ended with %v", r.err)
	}
}

// ended waits until the manager has ended by itself and says how.
func (r *runningManager) ended(t *testing.T) error {
	t.Helper()
	select {
	case <-r.end:
		return r.err
	case <-time.After(patience):
		t.Fatal("the manager does not end")
		return nil
	}
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
