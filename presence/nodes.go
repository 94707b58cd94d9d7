package presence

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// nodeLost says that nothing is known of what happens on the pod's node: its Node object is gone, or nobody has heard of
// its kubelet. A kubelet that says "not ready" of itself is heard, and its pods go on.
func (v *view) nodeLost(pod *corev1.Pod) bool {
	if pod == nil || pod.Spec.NodeName == "" {
		return false
	}
	node := v.Nodes[pod.Spec.NodeName]
	return node == nil || nodeReady(node) == corev1.ConditionUnknown
}

// needsNode says that the pod's node has to be read live before its member is written NotReady. Kubernetes takes the readiness
// of a lost node's pods right after the node's own, and a cache may show the second first: the reason would name the pod,
// and stay.
func (v *view) needsNode(member *v1alpha1.GroupMember, pod *corev1.Pod, now seen) bool {
	begins := now.reason == v1alpha1.PresenceNotReady && presenceOf(member).State != v1alpha1.Away
	if !begins || v.Live.Nodes[pod.Spec.NodeName] {
		return false
	}
	if v.need.Nodes == nil {
		v.need.Nodes = map[string]bool{}
	}
	v.need.Nodes[pod.Spec.NodeName] = true
	return true
}

// nodeHealthy says that the node of this name is there and Ready.
func (v *view) nodeHealthy(name string) bool {
	node := v.Nodes[name]
	return node != nil && nodeReady(node) == corev1.ConditionTrue
}

// zoneOf the node of this name; empty where the node is not known or bears none.
func (v *view) zoneOf(name string) string {
	node := v.Nodes[name]
	if node == nil {
		return ""
	}
	return node.Labels[corev1.LabelTopologyZone]
}

func nodeReady(node *corev1.Node) corev1.ConditionStatus {
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			return node.Status.Conditions[i].Status
		}
	}
	return ""
}
