package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

const (
	// fieldPatience bounds waits in a field: thousands of pods take their time on a small machine.
	fieldPatience = time.Hour
	// calm is how long the manager must have written nothing to be at rest. Longer than any of its own intervals.
	calm = 3 * time.Second
	// groupResource and planResource are further names of the audit log.
	groupResource = "consumergroups.rollcall.dev"
	planResource  = "controllerrevisions.apps"
	// partitionsPerMember is what the members of a field hold.
	partitionsPerMember = 10
)

// field is a namespace with more objects in it than a sandbox could record: it is looked at by reads and by the audit log.
type field struct {
	t         testing.TB
	namespace string
}

// newField makes a namespace that goes with the test or benchmark.
func newField(t testing.TB) *field {
	t.Helper()
	needsCluster(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "field-"}}
	if err := suite.client.Create(t.Context(), namespace); err != nil {
		t.Fatalf("make a namespace: %v", err)
	}
	t.Cleanup(func() {
		if err := suite.client.Delete(context.Background(), namespace); client.IgnoreNotFound(err) != nil {
			t.Errorf("delete namespace %s: %v", namespace.Name, err)
		}
	})
	return &field{t: t, namespace: namespace.Name}
}

// fieldGroup has ten partitions a member, in topics of a hundred or less. Nobody is given time to stop: what is measured is not
// a wait.
func fieldGroup(name string, members int) *v1alpha1.ConsumerGroup {
	group := newGroup(name, 1)
	group.Spec.Handover.RevocationGracePeriod = duration(0)
	group.Spec.Topics = nil
	for left := members * partitionsPerMember; left > 0; left -= 100 {
		topic := v1alpha1.TopicSpec{Name: fmt.Sprintf("%s-%d", name, len(group.Spec.Topics)), Partitions: int32(min(left, 100))}
		group.Spec.Topics = append(group.Spec.Topics, topic)
	}
	return group
}

// fieldSet is a StatefulSet whose pods start and stop together and at once, and read no annotation.
func fieldSet(name, group string, replicas int) *appsv1.StatefulSet {
	set := newSet(name, group, int32(replicas))
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	set.Spec.Template.Spec.Containers[0].Env = nil
	set.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0)
	return set
}

func (f *field) create(objects ...client.Object) {
	f.t.Helper()
	for _, object := range objects {
		object.SetNamespace(f.namespace)
		if err := suite.client.Create(f.t.Context(), object); err != nil {
			f.t.Fatalf("create %s %s: %v", kindOf(object), object.GetName(), err)
		}
	}
}

func (f *field) patch(object client.Object, text string) {
	f.t.Helper()
	object.SetNamespace(f.namespace)
	if err := suite.client.Patch(f.t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		f.t.Fatalf("patch %s %s: %v", kindOf(object), object.GetName(), err)
	}
}

func (f *field) scale(set string, replicas int) {
	f.t.Helper()
	f.patch(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: set}}, scaled(replicas))
}

// await waits until a condition holds.
func (f *field) await(what string, holds func(ctx context.Context) (bool, error)) {
	f.t.Helper()
	f.awaitEvery(50*time.Millisecond, what, holds)
}

// awaitEvery is await that looks less often.
func (f *field) awaitEvery(interval time.Duration, what string, holds func(ctx context.Context) (bool, error)) {
	f.t.Helper()
	m := suite.running()
	err := wait.PollUntilContextTimeout(f.t.Context(), interval, fieldPatience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-m.ended:
			if !m.wanted.Load() {
				return false, fmt.Errorf("the manager ended by itself: %w\n%s", m.err, m.tail(""))
			}
		default:
		}
		return holds(ctx)
	})
	if err != nil {
		f.t.Fatalf("waited in vain until %s: %v", what, err)
	}
}

// awaitStable waits until a group is Ready with so many members, all of them available.
func (f *field) awaitStable(name string, members int) *v1alpha1.ConsumerGroup {
	f.t.Helper()
	group := &v1alpha1.ConsumerGroup{}
	f.await(fmt.Sprintf("%s is Ready with %d members", name, members), func(ctx context.Context) (bool, error) {
		if err := suite.client.Get(ctx, client.ObjectKey{Namespace: f.namespace, Name: name}, group); err != nil {
			return false, err
		}
		return stableWith(group, members), nil
	})
	return group
}

func stableWith(group *v1alpha1.ConsumerGroup, members int) bool {
	return ready(group) && int(group.Status.Members) == members && int(group.Status.AvailableMembers) == members
}

// awaitForced forces a rebalance, and waits until it is over.
func (f *field) awaitForced(name, token string, members int) {
	f.t.Helper()
	f.patch(&v1alpha1.ConsumerGroup{ObjectMeta: metav1.ObjectMeta{Name: name}},
		`{"metadata":{"annotations":{"`+v1alpha1.RebalanceAnnotation+`":"`+token+`"}}}`)
	f.await("the forced rebalance "+token+" is over", func(ctx context.Context) (bool, error) {
		group := &v1alpha1.ConsumerGroup{}
		if err := suite.client.Get(ctx, client.ObjectKey{Namespace: f.namespace, Name: name}, group); err != nil {
			return false, err
		}
		request := group.Status.RebalanceRequest
		return request != nil && request.Token == token && stableWith(group, members), nil
	})
}

func (f *field) mark() cluster.Mark {
	f.t.Helper()
	mark, err := suite.cluster.Mark(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return mark
}

// allWrites are those of everybody in this namespace since a mark, by the audit log.
func (f *field) allWrites(since cluster.Mark) audit.Writes {
	f.t.Helper()
	writes, err := suite.cluster.Writes(f.t.Context(), since)
	if err != nil {
		f.t.Fatal(err)
	}
	return writes.Where(func(w audit.Write) bool { return w.Namespace == f.namespace })
}

// ourWrites are the manager's among them.
func (f *field) ourWrites(since cluster.Mark) audit.Writes {
	f.t.Helper()
	return f.allWrites(since).Where(audit.By(suite.installed.user))
}

// calmDown waits until nobody has written for a while.
func (f *field) calmDown() {
	f.t.Helper()
	last, since := f.mark(), time.Now()
	f.awaitEvery(calm/6, "nothing is written any more", func(context.Context) (bool, error) {
		if now := f.mark(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > calm, nil
	})
}

// span is the time from the first write to the last, by the API server's clock.
func span(writes audit.Writes) time.Duration {
	if len(writes) == 0 {
		return 0
	}
	first, last := writes[0].Time, writes[0].Time
	for _, w := range writes {
		if w.Time.Before(first) {
			first = w.Time
		}
		if w.Time.After(last) {
			last = w.Time
		}
	}
	return last.Sub(first)
}
