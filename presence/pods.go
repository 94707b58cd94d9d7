package presence

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// stopped says that the pod has certainly stopped: it reached a terminal phase, or its object is gone. What its
// containers say proves nothing: a container that has exited may be started again.
func stopped(pod *corev1.Pod) bool {
	return pod == nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// beingDeleted says that the pod is on its way out, stopped or not.
func beingDeleted(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp != nil
}

// condition of that type; nil where the pod has none.
func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func ready(pod *corev1.Pod) bool {
	found := condition(pod, corev1.PodReady)
	return found != nil && found.Status == corev1.ConditionTrue
}

// containers is what the statuses of a pod's own containers say together; sidecars and init containers do not count.
type containers struct {
	// haveRun: each has been running at some time. running: each runs now.
	haveRun, running bool
	// restarted: one has been started more than once.
	restarted bool
	// lastStart is when the one that was started last was started.
	lastStart time.Time
}

func containersOf(pod *corev1.Pod) containers {
	statuses := pod.Status.ContainerStatuses
	complete := len(statuses) > 0 && len(statuses) >= len(pod.Spec.Containers)
	all := containers{haveRun: complete, running: complete}
	for i := range statuses {
		status := &statuses[i]
		all.haveRun = all.haveRun && hasRun(status)
		all.running = all.running && status.State.Running != nil
		all.restarted = all.restarted || status.RestartCount > 0
		if run := status.State.Running; run != nil && run.StartedAt.After(all.lastStart) {
			all.lastStart = run.StartedAt.Time
		}
	}
	return all
}

func hasRun(status *corev1.ContainerStatus) bool {
	return status.State.Running != nil || status.State.Terminated != nil ||
		status.LastTerminationState.Terminated != nil || status.RestartCount > 0
}

// readyLost says that the pod was Ready at some time after that start, and is no more.
func readyLost(pod *corev1.Pod, start time.Time) bool {
	found := condition(pod, corev1.PodReady)
	return found != nil && found.Status != corev1.ConditionTrue && found.LastTransitionTime.After(start)
}
