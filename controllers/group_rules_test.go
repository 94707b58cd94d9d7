package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// answered compares the API server's answer with what was expected: an empty message means that the object is taken.
func answered(t *testing.T, err error, message string) {
	t.Helper()
	switch {
	case message == "" && err != nil:
		t.Errorf("refused: %v", err)
	case message != "" && err == nil:
		t.Errorf("taken, want it refused with %q", message)
	case message != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), message)):
		t.Errorf("got %v, want it refused with %q", err, message)
	}
}

func topics(n int, change func(i int, t *v1alpha1.TopicSpec)) []v1alpha1.TopicSpec {
	all := make([]v1alpha1.TopicSpec, n)
	for i := range all {
		all[i] = v1alpha1.TopicSpec{Name: fmt.Sprintf("t%d", i), Partitions: 2}
		change(i, &all[i])
	}
	return all
}

func TestRulesOfGroups(t *testing.T) {
	c, namespace := onCluster(t)
	none := func(int, *v1alpha1.TopicSpec) {}
	tests := []struct {
		name    string
		change  func(g *v1alpha1.ConsumerGroup)
		message string
	}{
		{"the least there is", func(*v1alpha1.ConsumerGroup) {}, ""},
		{"no topic", func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics = nil }, "topics must name at least one topic"},
		{"no topic, by leader", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Topics, g.Spec.AssignedBy = nil, v1alpha1.AssignedByLeader
		}, ""},
		{"no partition", func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics[0].Partitions = 0 }, "should be greater than or equal to 1"},
		{"dotted topic", func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics[0].Name = "a.b_c-D" }, ""},
		{"strange topic", func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics[0].Name = "a b" }, "spec.topics[0].name"},
		{"topic twice", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Topics = []v1alpha1.TopicSpec{{Name: "t", Partitions: 1}, {Name: "t", Partitions: 1}}
		}, "Duplicate value"},
		{"as many topics as there may be", func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics = topics(400, none) }, ""},
		{"too many topics", func(g *v1alpha1.ConsumerGroup) { g.Spec.Topics = topics(401, none) }, "must have at most 400 items"},
		{"as many copies as there may be", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Topics[0].Partitions, g.Spec.Topics[0].Replicas = 1000, 100
		}, ""},
		{"too many copies", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Topics = []v1alpha1.TopicSpec{{Name: "a", Partitions: 1000, Replicas: 100}, {Name: "b", Partitions: 1}}
		}, "the sum of partitions x replicas over all topics must be at most 100000"},
		{"equal coPartition topics", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Topics = topics(150, func(_ int, t *v1alpha1.TopicSpec) { t.CoPartition = "c" })
		}, ""},
		{"unequal coPartition topics", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Topics = topics(2, func(i int, t *v1alpha1.TopicSpec) { t.CoPartition, t.Partitions = "c", int32(i+1) })
		}, "topics with the same coPartition must have equal partitions and equal replicas"},
		{"unequal coPartition replicas", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Topics = topics(2, func(i int, t *v1alpha1.TopicSpec) { t.CoPartition, t.Replicas = "c", int32(i+1) })
		}, "topics with the same coPartition must have equal partitions and equal replicas"},
		{"too many coPartition topics", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Topics = topics(151, func(_ int, t *v1alpha1.TopicSpec) { t.CoPartition = "c" })
		}, "at most 150 topics may set coPartition"},
		{"known assignor", func(g *v1alpha1.ConsumerGroup) { g.Spec.Assignor = "roundrobin" }, ""},
		{"unknown assignor", func(g *v1alpha1.ConsumerGroup) { g.Spec.Assignor = "magic" }, `supported values: "sticky", "range", "roundrobin"`},
		{"unknown zonePolicy", func(g *v1alpha1.ConsumerGroup) { g.Spec.ZonePolicy = "Near" }, `supported values: "Ignore", "Prefer", "Spread"`},
		{"longest sessionTimeout", func(g *v1alpha1.ConsumerGroup) { g.Spec.SessionTimeout = lasting(24 * time.Hour) }, ""},
		{"no sessionTimeout", func(g *v1alpha1.ConsumerGroup) { g.Spec.SessionTimeout = lasting(0) }, "sessionTimeout must be above 0s and at most 24h"},
		{"too long a sessionTimeout", func(g *v1alpha1.ConsumerGroup) { g.Spec.SessionTimeout = lasting(25 * time.Hour) }, "sessionTimeout must be above 0s and at most 24h"},
		{"replacementTimeout as long as sessionTimeout", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.SessionTimeout, g.Spec.ReplacementTimeout = lasting(time.Minute), lasting(time.Minute)
		}, ""},
		{"replacementTimeout below sessionTimeout", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.SessionTimeout, g.Spec.ReplacementTimeout = lasting(time.Minute), lasting(time.Second)
		}, "replacementTimeout must be at least sessionTimeout"},
		{"replacementTimeout below the default sessionTimeout", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.SessionTimeout, g.Spec.ReplacementTimeout = nil, lasting(44*time.Second)
		}, "replacementTimeout must be at least sessionTimeout"},
		{"too long a replacementTimeout", func(g *v1alpha1.ConsumerGroup) { g.Spec.ReplacementTimeout = lasting(25 * time.Hour) }, "replacementTimeout must be at most 24h"},
		{"shortest rebalanceTimeout", func(g *v1alpha1.ConsumerGroup) { g.Spec.RebalanceTimeout = lasting(time.Second) }, ""},
		{"too short a rebalanceTimeout", func(g *v1alpha1.ConsumerGroup) { g.Spec.RebalanceTimeout = lasting(time.Millisecond) }, "rebalanceTimeout must be between 1s and 30m"},
		{"no initialRebalanceDelay", func(g *v1alpha1.ConsumerGroup) { g.Spec.InitialRebalanceDelay = lasting(0) }, ""},
		{"too long an initialRebalanceDelay", func(g *v1alpha1.ConsumerGroup) { g.Spec.InitialRebalanceDelay = lasting(time.Hour) }, "initialRebalanceDelay must be at most 30m"},
		{"negative initialRebalanceDelay", func(g *v1alpha1.ConsumerGroup) { g.Spec.InitialRebalanceDelay = lasting(-time.Second) }, "spec.initialRebalanceDelay"},
		{"longest expansionTimeout", func(g *v1alpha1.ConsumerGroup) { g.Spec.ExpansionTimeout = lasting(30 * time.Minute) }, ""},
		{"too long an expansionTimeout", func(g *v1alpha1.ConsumerGroup) { g.Spec.ExpansionTimeout = lasting(time.Hour) }, "expansionTimeout must be at most 30m"},
		{"negative maxMembers", func(g *v1alpha1.ConsumerGroup) { g.Spec.MaxMembers = -1 }, "should be greater than or equal to 0"},
		{"no grace", func(g *v1alpha1.ConsumerGroup) { g.Spec.Handover.RevocationGracePeriod = lasting(0) }, ""},
		{"too long a grace", func(g *v1alpha1.ConsumerGroup) { g.Spec.Handover.RevocationGracePeriod = lasting(25 * time.Hour) }, "revocationGracePeriod must be at most 24h"},
		{"Exclusive", func(g *v1alpha1.ConsumerGroup) { g.Spec.Handover.Policy = v1alpha1.HandoverExclusive }, ""},
		{"Exclusive by leader", func(g *v1alpha1.ConsumerGroup) {
			g.Spec.Handover.Policy, g.Spec.AssignedBy = v1alpha1.HandoverExclusive, v1alpha1.AssignedByLeader
		}, "handover.policy Exclusive needs assignedBy Coordinator"},
		{"longest name", func(g *v1alpha1.ConsumerGroup) { g.Name = strings.Repeat("a", 63) }, ""},
		{"too long a name", func(g *v1alpha1.ConsumerGroup) { g.Name = strings.Repeat("a", 64) }, "a ConsumerGroup's name must be a DNS label"},
		{"dotted name", func(g *v1alpha1.ConsumerGroup) { g.Name = "a.b" }, "a ConsumerGroup's name must be a DNS label"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			group := testConsumerGroup(namespace, "g", 1)
			test.change(group)
			answered(t, c.Create(t.Context(), group, client.DryRunAll), test.message)
		})
	}
}

func TestWhatAGroupCannotChange(t *testing.T) {
	c, namespace := onCluster(t)
	group := testConsumerGroup(namespace, "g", 1)
	mustCreate(t, c, group)
	tests := []struct {
		name, patch, message string
	}{
		{"more partitions", `{"spec":{"topics":[{"name":"t","partitions":2}]}}`, ""},
		{"protocolType", `{"spec":{"protocolType":"connect"}}`, "protocolType cannot be changed"},
		{"assignedBy", `{"spec":{"assignedBy":"Leader"}}`, "assignedBy cannot be changed"},
		{"handover.policy", `{"spec":{"handover":{"policy":"Exclusive"}}}`, "handover.policy cannot be changed"},
		{"grace", `{"spec":{"handover":{"revocationGracePeriod":"20s"}}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			answered(t, c.Patch(t.Context(), group.DeepCopy(), mergePatch(test.patch), client.DryRunAll), test.message)
		})
	}
}

// A group outside the manager's bounds is taken: it works on with the nearest bound and says so.
func TestDefaultsOfGroups(t *testing.T) {
	c, namespace := onCluster(t)
	group := &v1alpha1.ConsumerGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "g"}}
	group.Spec.Topics = []v1alpha1.TopicSpec{{Name: "t", Partitions: 1}}
	mustCreate(t, c, group)
	spec := group.Spec
	if spec.ProtocolType != "consumer" || spec.AssignedBy != v1alpha1.AssignedByCoordinator || spec.Assignor != "sticky" ||
		spec.ZonePolicy != v1alpha1.ZoneIgnore || spec.Handover.Policy != v1alpha1.HandoverAvailable {
		t.Errorf("defaults of the kind of group: %+v", spec)
	}
	for name, got := range map[string]struct {
		have *metav1.Duration
		want time.Duration
	}{
		"sessionTimeout":        {spec.SessionTimeout, 45 * time.Second},
		"rebalanceTimeout":      {spec.RebalanceTimeout, 60 * time.Second},
		"initialRebalanceDelay": {spec.InitialRebalanceDelay, 3 * time.Second},
		"expansionTimeout":      {spec.ExpansionTimeout, 10 * time.Second},
		"revocationGracePeriod": {spec.Handover.RevocationGracePeriod, 10 * time.Second},
	} {
		if got.have == nil || got.have.Duration != got.want {
			t.Errorf("%s is %v, want %s", name, got.have, got.want)
		}
	}
	if spec.ReplacementTimeout != nil || spec.Topics[0].Replicas != 1 || spec.Topics[0].Weight != 1 {
		t.Errorf("replacementTimeout %v, topic %+v", spec.ReplacementTimeout, spec.Topics[0])
	}
}
