package e2e_test

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

const (
	// groupName and setName are the names that most tests use.
	groupName = "orders"
	setName   = "web"
	// otherGroup is for tests that need two.
	otherGroup = "payments"

	// behavior is the domain of the annotations by which simulated pods are told how to behave.
	behavior = "localcluster.rollcall.dev/"
	// lonelyKey is the taint and label of nodes that are there to be lost.
	lonelyKey = "e2e.rollcall.dev/lonely"

	// never is a timeout that no test waits for: what happens all the same did not wait for it.
	never = 5 * time.Minute
)

// newGroup is a group with one topic that bears the group's name. All its delays and timeouts are long, so that what the
// tests see is never due to one of them, but for the grace that pods without a word of their own are given.
func newGroup(name string, partitions int32, changes ...func(*v1alpha1.ConsumerGroupSpec)) *v1alpha1.ConsumerGroup {
	group := &v1alpha1.ConsumerGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.ConsumerGroupSpec{
			Topics:                []v1alpha1.TopicSpec{{Name: name, Partitions: partitions}},
			SessionTimeout:        duration(never),
			RebalanceTimeout:      duration(never),
			InitialRebalanceDelay: duration(never),
			ExpansionTimeout:      duration(never),
			Handover:              v1alpha1.Handover{RevocationGracePeriod: duration(time.Second)},
		},
	}
	for _, change := range changes {
		change(&group.Spec)
	}
	return group
}

func duration(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// sessionOf gives the group a session timeout.
func sessionOf(timeout time.Duration) func(*v1alpha1.ConsumerGroupSpec) {
	return func(spec *v1alpha1.ConsumerGroupSpec) { spec.SessionTimeout = duration(timeout) }
}

// newSet is an annotated StatefulSet whose pods read their assignment.
func newSet(name, group string, replicas int32, changes ...func(*corev1.PodTemplateSpec)) *appsv1.StatefulSet {
	labels := map[string]string{"app": name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{v1alpha1.GroupAnnotation: group}},
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To(replicas), ServiceName: name, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: newTemplate(labels, group, changes),
		},
	}
}

// newDeployment is an annotated Deployment whose pods read their assignment.
func newDeployment(name, group string, replicas int32, changes ...func(*corev1.PodTemplateSpec)) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{v1alpha1.GroupAnnotation: group}},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(replicas), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: newTemplate(labels, group, changes),
		},
	}
}

func newTemplate(labels map[string]string, group string, changes []func(*corev1.PodTemplateSpec)) corev1.PodTemplateSpec {
	field := "metadata.annotations['" + v1alpha1.AssignmentAnnotationPrefix + group + "']"
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "example.com/app:1",
			Env: []corev1.EnvVar{{Name: "ASSIGNMENT", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}}},
		}}},
	}
	for _, change := range changes {
		change(&template)
	}
	return template
}

// behaves sets an annotation by which the simulated pods are told how to behave.
func behaves(key, value string) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) { template.Annotations[behavior+key] = value }
}

// shortGrace lets pods take a second to stop, not half a minute: the namespace controller waits for as long as they might take.
func shortGrace(template *corev1.PodTemplateSpec) {
	template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
}

// lonely puts each pod on a node of its own among those that are there to be lost.
func lonely(template *corev1.PodTemplateSpec) {
	template.Spec.NodeSelector = map[string]string{lonelyKey: "true"}
	template.Spec.Tolerations = []corev1.Toleration{{Key: lonelyKey, Operator: corev1.TolerationOpExists}}
	template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			LabelSelector: &metav1.LabelSelector{MatchLabels: template.Labels}, TopologyKey: corev1.LabelHostname,
		}},
	}}
}

// scaled is the patch that scales a workload.
func scaled(replicas int) string { return `{"spec":{"replicas":` + strconv.Itoa(replicas) + `}}` }
