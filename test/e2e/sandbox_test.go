package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

// describedVersions is how many versions and writes a failed test shows.
const describedVersions = 60

// sandbox is a namespace of its own for one test, of which everything is recorded.
type sandbox struct {
	*recorder
	t testing.TB
}

// newSandbox makes a namespace that goes with the test or benchmark. A test that failed shows how it ended.
func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	needsCluster(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	if err := suite.client.Create(t.Context(), namespace); err != nil {
		t.Fatalf("make a namespace: %v", err)
	}
	recorder, err := record(t.Context(), suite.client, namespace.Name)
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{recorder: recorder, t: t}
	t.Cleanup(func() {
		if s.t.Failed() { // of a subtest, where that has taken the sandbox over
			t.Logf("namespace %s ended as\n%s", s.namespace, s.describe())
		}
		// The test's own context has ended by now.
		if err := suite.client.Delete(context.Background(), namespace); client.IgnoreNotFound(err) != nil {
			t.Errorf("delete namespace %s: %v", s.namespace, err)
		}
	})
	return s
}

// create makes objects in the namespace.
func (s *sandbox) create(objects ...client.Object) {
	s.t.Helper()
	for _, object := range objects {
		object.SetNamespace(s.namespace)
		if err := suite.client.Create(s.t.Context(), object); err != nil {
			s.t.Fatalf("create %s %s: %v", kindOf(object), object.GetName(), err)
		}
	}
}

// patch merges a JSON text into an object.
func (s *sandbox) patch(object client.Object, text string) {
	s.t.Helper()
	object.SetNamespace(s.namespace)
	if err := suite.client.Patch(s.t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))); err != nil {
		s.t.Fatalf("patch %s %s: %v", kindOf(object), object.GetName(), err)
	}
}

// remove deletes an object, and does not wait for its end.
func (s *sandbox) remove(object client.Object) {
	s.t.Helper()
	object.SetNamespace(s.namespace)
	if err := suite.client.Delete(s.t.Context(), object); err != nil {
		s.t.Fatalf("delete %s %s: %v", kindOf(object), object.GetName(), err)
	}
}

// kubectl runs kubectl in the namespace and returns what it prints; it must succeed.
func (s *sandbox) kubectl(args ...string) string {
	s.t.Helper()
	out, err := suite.cluster.Kubectl(s.t.Context(), append([]string{"--namespace", s.namespace}, args...)...)
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// await waits until a condition holds, which is looked at again with every recorded version.
func (s *sandbox) await(what string, holds func() bool) {
	s.t.Helper()
	if !s.within(patience, what, holds) {
		s.t.Fatalf("waited %v in vain until %s", patience, what)
	}
}

// within is await with a time of its own. It tells whether the condition came to hold.
func (s *sandbox) within(limit time.Duration, what string, holds func() bool) bool {
	s.t.Helper()
	timeout := time.After(limit)
	for {
		changed, err := s.next()
		if err != nil {
			s.t.Fatalf("until %s: versions were missed: %v", what, err)
		}
		if holds() {
			return true
		}
		select {
		case <-changed:
		case <-suite.running().ended:
			s.managerEnded(what)
			return false
		case <-s.t.Context().Done():
			s.t.Fatalf("until %s: %v", what, s.t.Context().Err())
		case <-timeout:
			return false
		}
	}
}

// managerEnded fails the test if nobody asked the manager to end.
func (s *sandbox) managerEnded(what string) {
	s.t.Helper()
	if m := suite.running(); !m.wanted.Load() {
		s.t.Fatalf("until %s: the manager ended by itself: %v\n%s", what, m.err, m.tail(""))
	}
}

// poll waits until a condition holds that is not about what is recorded.
func (s *sandbox) poll(what string, holds func(context.Context) (bool, error)) {
	s.t.Helper()
	if err := wait.PollUntilContextTimeout(s.t.Context(), 100*time.Millisecond, patience, true, holds); err != nil {
		s.t.Fatalf("waited in vain until %s: %v", what, err)
	}
}

// quiet waits until nothing has been written for that long.
func (s *sandbox) quiet(long time.Duration) {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		newest := s.newest()
		if !s.within(long, "something is written", func() bool { return s.newest() != newest }) {
			return
		}
	}
	s.t.Fatalf("in %v there was never an interval of %v without a write", patience, long)
}

// caughtUp waits until everything that is stored has been recorded.
func (s *sandbox) caughtUp() {
	s.t.Helper()
	s.await("everything is recorded", func() bool {
		missing, err := s.missing(s.t.Context())
		if err != nil {
			s.t.Fatalf("list what is stored: %v", err)
		}
		return missing == ""
	})
}

// mark is the present instant in the audit log.
func (s *sandbox) mark() cluster.Mark {
	s.t.Helper()
	mark, err := suite.cluster.Mark(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return mark
}

// describe shows the namespace for the message of a failed test: objects, the last versions, what the manager said.
func (s *sandbox) describe() string {
	var text strings.Builder
	for _, group := range current[*v1alpha1.ConsumerGroup](s.recorder) {
		fmt.Fprintln(&text, describeGroup(group))
	}
	for _, member := range current[*v1alpha1.GroupMember](s.recorder) {
		fmt.Fprintln(&text, describeMember(member))
	}
	for _, pod := range current[*corev1.Pod](s.recorder) {
		fmt.Fprintln(&text, describePod(pod))
	}
	fmt.Fprintln(&text, "the last versions:")
	history := s.history()
	for _, v := range history[max(0, len(history)-describedVersions):] {
		fmt.Fprintf(&text, "  %s %s%s\n", v.seen.Format("15:04:05.000"), v, summary(v.object))
	}
	fmt.Fprintf(&text, "the last writes, by the audit log:\n%s", s.lastWrites())
	fmt.Fprintf(&text, "the manager's log of it:\n%s\n", suite.running().tail(s.namespace))
	return text.String()
}
