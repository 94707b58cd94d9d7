package presence

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// troubleOf says for people why an absent member's pod does not come: a roll that is stuck on a broken revision shows here.
// What was said of a pod stays as long as its absence: its containers' states alternate, and each change would be a write.
func troubleOf(member *v1alpha1.GroupMember, pod *corev1.Pod, absence v1alpha1.Presence) string {
	stored := presenceOf(member)
	same := stored.State == v1alpha1.Away && stored.Since.Equal(&absence.Since) && pod != nil && podUID(member) == pod.UID
	switch {
	case absence.Reason == v1alpha1.PresenceNodeLost, absence.Reason == v1alpha1.PresenceNotReady:
		return ""
	case pod == nil, same && stored.Message != "":
		return stored.Message
	case stopped(pod):
		return failure(pod)
	}
	trouble := firstTrouble("init container", pod.Status.InitContainerStatuses)
	if trouble == "" {
		trouble = firstTrouble("container", pod.Status.ContainerStatuses)
	}
	if revision := pod.Labels[appsv1.ControllerRevisionHashLabelKey]; trouble != "" && revision != "" {
		return "revision " + revision + ": " + trouble
	}
	return trouble
}

// failure of a pod that was not deleted: evicted, refused by its node, or out of time.
func failure(pod *corev1.Pod) string {
	if beingDeleted(pod) || pod.Status.Phase != corev1.PodFailed || pod.Status.Reason == "" {
		return ""
	}
	return "the pod has failed: " + pod.Status.Reason
}

func firstTrouble(kind string, statuses []corev1.ContainerStatus) string {
	for i := range statuses {
		if trouble := containerTrouble(&statuses[i]); trouble != "" {
			return fmt.Sprintf("%s %s %s", kind, statuses[i].Name, trouble)
		}
	}
	return ""
}

func containerTrouble(status *corev1.ContainerStatus) string {
	if waiting := status.State.Waiting; waiting != nil {
		switch waiting.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable":
			return "waits for its image, which cannot be pulled"
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return fmt.Sprintf("cannot be started (%s)", waiting.Reason)
		}
	}
	if end := lastEnd(status); end != nil && (end.ExitCode != 0 || status.RestartCount > 0) {
		return fmt.Sprintf("has ended with exit code %d", end.ExitCode)
	}
	return ""
}

// lastEnd is how the container ended last; nil when it never has.
func lastEnd(status *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if status.State.Terminated != nil {
		return status.State.Terminated
	}
	return status.LastTerminationState.Terminated
}
