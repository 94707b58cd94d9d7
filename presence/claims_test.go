package presence

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func TestWhoClaimsAName(t *testing.T) {
	going := metav1.Now()
	tests := map[string]struct {
		groups, membership string
		change             func(*appsv1.StatefulSet, *corev1.Pod)
		config             Config
		want               bool
	}{
		"a pod of the group's set":      {groups: "g", want: true},
		"one of several groups":         {groups: "other, g", want: true},
		"static, as is the default":     {groups: "g", membership: " static ", want: true},
		"another group":                 {groups: "other,gg"},
		"no group":                      {},
		"dynamic members have no names": {groups: "g", membership: "dynamic"},
		"names are off":                 {groups: "g", config: Config{NoStaticMembership: true}},
		"a pod that is going":           {groups: "g", change: func(_ *appsv1.StatefulSet, p *corev1.Pod) { p.DeletionTimestamp = &going }},
		"a pod that has stopped":        {groups: "g", change: func(_ *appsv1.StatefulSet, p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }},
		"a set that is going":           {groups: "g", change: func(s *appsv1.StatefulSet, _ *corev1.Pod) { s.DeletionTimestamp = &going }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set, pod := &appsv1.StatefulSet{}, &corev1.Pod{}
			set.Annotations = map[string]string{v1alpha1.GroupAnnotation: test.groups, v1alpha1.MembershipAnnotation: test.membership}
			if test.change != nil {
				test.change(set, pod)
			}
			if got := Claims(set, pod, "g", test.config); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
