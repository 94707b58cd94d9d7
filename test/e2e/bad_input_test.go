package e2e_test

import (
	"context"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// What the API server refuses says what to write instead.
func TestRefusedInput(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	twoTopics := func(spec *v1alpha1.ConsumerGroupSpec) {
		spec.Topics = []v1alpha1.TopicSpec{{Name: "a", Partitions: 4, CoPartition: "x"}, {Name: "b", Partitions: 6, CoPartition: "x"}}
	}
	for name, c := range map[string]struct {
		group *v1alpha1.ConsumerGroup
		words []string
	}{
		"no partitions":            {newGroup("g", 0), []string{"spec.topics[0].partitions", "greater than or equal to 1"}},
		"unequal coPartition":      {newGroup("g", 1, twoTopics), []string{"spec", "same coPartition must have equal partitions"}},
		"unknown assignor":         {newGroup("g", 1, func(spec *v1alpha1.ConsumerGroupSpec) { spec.Assignor = "random" }), []string{"spec.assignor", "random", "sticky", "range", "roundrobin"}},
		"dotted name":              {newGroup("my.group", 1), []string{"must be a DNS label", "no dots"}},
		"over-long name":           {newGroup(strings.Repeat("g", 64), 1), []string{"at most 63"}},
		"no topics":                {newGroup("g", 1, func(spec *v1alpha1.ConsumerGroupSpec) { spec.Topics = nil }), []string{"topics must name at least one topic"}},
		"short replacementTimeout": {newGroup("g", 1, func(spec *v1alpha1.ConsumerGroupSpec) { spec.ReplacementTimeout = duration(time.Second) }), []string{"replacementTimeout must be at least sessionTimeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.group.Namespace = s.namespace
			err := suite.client.Create(t.Context(), c.group)
			if err == nil {
				t.Fatal("it was taken")
			}
			for _, word := range c.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("the answer does not say %q: %v", word, err)
				}
			}
		})
	}
	s.checkStillServed()
}

// A session timeout outside the manager's bounds is said in a condition, and the nearest bound used.
func TestSessionTimeoutOutOfBounds(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	for name, timeout := range map[string]time.Duration{"short": time.Second, "long": 2 * time.Hour} {
		s.create(newGroup(name, 4, sessionOf(timeout), func(spec *v1alpha1.ConsumerGroupSpec) { spec.ReplacementTimeout = duration(3 * time.Hour) }),
			newSet(name, name, 2))
	}
	for _, name := range []string{"short", "long"} {
		s.await(name+" says so, and works all the same", func() bool {
			status := &s.group(name).Status
			condition := meta.FindStatusCondition(status.Conditions, v1alpha1.GroupReady)
			return condition != nil && condition.Reason == v1alpha1.ReasonInvalidSessionTimeout &&
				strings.Contains(condition.Message, "6s") && strings.Contains(condition.Message, "30m") && status.AssignedPartitions == 4
		})
	}
	s.patch(newGroup("short", 4), `{"spec":{"sessionTimeout":"10s"}}`)
	s.awaitSettled("short", 2)
}

// A workload may name its group before that exists.
func TestAnnotationNamesNoGroup(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.create(newSet(setName, groupName, 2))
	s.awaitEvent("StatefulSet", setName, "GroupNotFound", groupName, "created")
	s.create(newGroup(groupName, 4))
	s.awaitSettled(groupName, 2)
}

// An annotation that no group can match says what a name looks like.
func TestAnnotationIsNoName(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	set := newSet(setName, "orders", 1)
	set.Annotations[v1alpha1.GroupAnnotation] = "My.Group"
	s.create(set)
	s.awaitEvent("StatefulSet", setName, "InvalidGroupName", "My.Group", "63")
}

// A Deployment's pods have no lasting names: whoever asks for static members is told, and gets dynamic ones.
func TestStaticOnADeployment(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	deployment := newDeployment("api", groupName, 2)
	deployment.Annotations[v1alpha1.MembershipAnnotation] = v1alpha1.MembershipStatic
	s.create(newGroup(groupName, 4), deployment)
	s.awaitSettled(groupName, 2)
	for _, member := range s.members(groupName) {
		if member.Spec.MemberName != "" {
			t.Errorf("%s is static", member.Name)
		}
	}
	s.awaitEvent("Deployment", "api", "StaticNotSupported", "StatefulSet")
	s.judge(groupName)
}

// awaitEvent waits for a Warning about an object whose note bears all words.
func (s *sandbox) awaitEvent(kind, name, reason string, words ...string) {
	s.t.Helper()
	s.poll("an event "+reason, s.eventSent(func(event *eventsv1.Event) bool {
		if event.Regarding.Kind != kind || event.Regarding.Name != name || event.Reason != reason || event.Type != "Warning" {
			return false
		}
		for _, word := range words {
			if !strings.Contains(event.Note, word) {
				return false
			}
		}
		return true
	}))
}

// checkStillServed: after all that, the manager serves a group as ever.
func (s *sandbox) checkStillServed() {
	s.t.Helper()
	s.create(newGroup(groupName, 4), newSet(setName, groupName, 1))
	s.awaitSettled(groupName, 1)
}

// eventSent looks for an event of the namespace.
func (s *sandbox) eventSent(wanted func(*eventsv1.Event) bool) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		list := &eventsv1.EventList{}
		if err := suite.client.List(ctx, list, client.InNamespace(s.namespace)); err != nil {
			return false, err
		}
		for i := range list.Items {
			if wanted(&list.Items[i]) {
				return true, nil
			}
		}
		return false, nil
	}
}
