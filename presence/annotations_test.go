package presence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func TestWhatTheWorkloadsAnnotationsSay(t *testing.T) {
	tests := []struct {
		name        string
		annotations map[string]string
		config      Config
		members     []string
		events      []string
	}{
		{"a group", map[string]string{"rollcall.dev/group": "g"}, Config{}, []string{"g.web-0"}, nil},
		{"none", map[string]string{}, Config{}, nil, nil},
		{"static membership asked for without a group", map[string]string{"rollcall.dev/membership": "bad"}, Config{}, nil, nil},
		{"a group that does not exist", map[string]string{"rollcall.dev/group": "nobody,g"}, Config{}, []string{"g.web-0"}, []string{"Warning GroupNotFound"}},
		{
			"names that no group can have",
			map[string]string{"rollcall.dev/group": "a.b,G,g," + strings.Repeat("x", 64)},
			Config{},
			[]string{"g.web-0"},
			[]string{"Warning InvalidGroupName", "Warning InvalidGroupName", "Warning InvalidGroupName"},
		},
		{"dynamic", map[string]string{"rollcall.dev/group": "g", "rollcall.dev/membership": "dynamic"}, Config{}, []string{"g.web-0-00000001"}, nil},
		{"static", map[string]string{"rollcall.dev/group": "g", "rollcall.dev/membership": "static"}, Config{}, []string{"g.web-0"}, nil},
		{
			"no kind of membership",
			map[string]string{"rollcall.dev/group": "g", "rollcall.dev/membership": "Dynamic"},
			Config{},
			[]string{"g.web-0"},
			[]string{"Warning InvalidMembership"},
		},
		{
			"what is read from pods stands on the workload",
			map[string]string{"rollcall.dev/group": "g", "rollcall.dev/capacity": "5", "topics.rollcall.dev/g": "a"},
			Config{},
			[]string{"g.web-0"},
			[]string{"Warning MisplacedAnnotation", "Warning MisplacedAnnotation"},
		},
		{
			"static membership is switched off",
			map[string]string{"rollcall.dev/group": "g"},
			Config{NoStaticMembership: true},
			[]string{"g.web-0-00000001"},
			[]string{"Normal StaticMembershipOff"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.s.StatefulSet.Annotations = test.annotations
			w.s.Config = test.config
			w.start("web-0")
			d := w.decide()
			var members []string
			for _, member := range d.Creates {
				members = append(members, member.Name)
			}
			if !slices.Equal(members, test.members) {
				t.Errorf("members %q, want %q", members, test.members)
			}
			expectEvents(t, d, test.events...)
		})
	}
}

func TestWhatThePodsAnnotationsSay(t *testing.T) {
	many := make([]string, 401)
	for i := range many {
		many[i] = fmt.Sprintf("t%03d", i)
	}
	tests := []struct {
		name     string
		key      string
		value    string
		topics   []string
		capacity int64
		events   []string
	}{
		{"nothing", "x", "", nil, 1, nil},
		{"topics", "rollcall.dev/topics", " b ,a,,b", []string{"a", "b"}, 1, nil},
		{"empty topics are all", "rollcall.dev/topics", " , ", nil, 1, nil},
		{"topics of this group", "topics.rollcall.dev/g", "c", []string{"c"}, 1, nil},
		{"topics of another group", "topics.rollcall.dev/h", "c", nil, 1, nil},
		{"a bad topic among good ones", "rollcall.dev/topics", "a,b c", []string{"a", "b c"}, 1, []string{"Warning InvalidTopics"}},
		{"only a bad topic is not all topics", "rollcall.dev/topics", "ä/b", []string{"ä/b"}, 1, []string{"Warning InvalidTopics"}},
		{
			"an over-long topic matches nothing", "rollcall.dev/topics", strings.Repeat("a", 250),
			[]string{strings.Repeat("a", 248) + "…"},
			1,
			[]string{"Warning InvalidTopics"},
		},
		{"too many topics", "rollcall.dev/topics", strings.Join(many, ","), many[:400], 1, []string{"Warning InvalidTopics"}},
		{"capacity", "rollcall.dev/capacity", " 3 ", nil, 3, nil},
		{"capacity of this group", "capacity.rollcall.dev/g", "0", nil, 0, nil},
		{"capacity that is no number", "rollcall.dev/capacity", "abc", nil, 1, []string{"Warning InvalidCapacity"}},
		{"capacity that is not whole", "rollcall.dev/capacity", "1.5", nil, 1, []string{"Warning InvalidCapacity"}},
		{"capacity below its bounds", "rollcall.dev/capacity", "-2", nil, 0, []string{"Warning InvalidCapacity"}},
		{"capacity above its bounds", "rollcall.dev/capacity", "1000001", nil, 1_000_000, []string{"Warning InvalidCapacity"}},
		{"acknowledges, badly said", "rollcall.dev/acknowledges", "yes", nil, 1, []string{"Warning InvalidAcknowledges"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.start("web-0")
			w.pod("web-0", note(test.key, test.value))
			d := w.decide()
			spec := w.member("web-0").Spec
			if !slices.Equal(spec.Topics, test.topics) || share(spec.Capacity) != test.capacity {
				t.Errorf("topics %q, capacity %d", spec.Topics, share(spec.Capacity))
			}
			expectEvents(t, d, test.events...)
			again := w.decide()
			expectEvents(t, again, test.events...)
			if len(d.Events) > 0 && d.Events[0].Key != again.Events[0].Key {
				t.Errorf("keys %q and %q for the same thing", d.Events[0].Key, again.Events[0].Key)
			}
			if len(again.Updates) > 0 {
				t.Errorf("decided again it writes %+v", again.Updates[0].New.Spec)
			}
		})
	}
}

// What says the same for two groups is said once.
func TestABadAnnotationForTwoGroupsIsOneEvent(t *testing.T) {
	w := newWorld(t)
	w.s.Groups["h"] = newGroup("h")
	w.annotate(v1alpha1.GroupAnnotation, "g,h")
	w.start("web-0")
	w.pod("web-0", note(v1alpha1.CapacityAnnotation, "abc"))
	expectEvents(t, w.decide(), "Warning InvalidCapacity")
}

func TestABadCapacityKeepsTheOneBefore(t *testing.T) {
	w := newWorld(t)
	w.start("web-0")
	w.pod("web-0", note(v1alpha1.CapacityAnnotation, "4"))
	w.decide()
	w.pod("web-0", note(v1alpha1.CapacityAnnotation, "four"))
	expectEvents(t, w.decide(), "Warning InvalidCapacity")
	if got := share(w.member("web-0").Spec.Capacity); got != 4 {
		t.Errorf("capacity %d", got)
	}
}

func TestWhoAcknowledges(t *testing.T) {
	tests := []struct {
		name   string
		change func(*corev1.Pod)
		want   v1alpha1.AcknowledgementMode
	}{
		{"nobody", func(*corev1.Pod) {}, v1alpha1.AcknowledgeNone},
		{"the process", note(v1alpha1.AcknowledgesAnnotation, "true"), v1alpha1.AcknowledgeExplicit},
		{"not the process", note(v1alpha1.AcknowledgesAnnotation, "false"), v1alpha1.AcknowledgeNone},
		{"the agent", func(p *corev1.Pod) {
			p.Spec.Containers[1].Name = v1alpha1.AgentContainerName
		}, v1alpha1.AcknowledgeExplicit},
		{"the agent as a sidecar", func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: v1alpha1.AgentContainerName}}
		}, v1alpha1.AcknowledgeExplicit},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.start("web-0")
			w.pod("web-0", test.change)
			w.decide()
			if got := w.member("web-0").Spec.Acknowledgement; got != test.want {
				t.Errorf("acknowledgement %s, want %s", got, test.want)
			}
		})
	}
}
