package presence

import (
	corev1 "k8s.io/api/core/v1"
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
