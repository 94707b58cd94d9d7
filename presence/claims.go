package presence

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Claims tells whether a pod of a StatefulSet would be a static member of the group by its own name, if nobody else bore that.
func Claims(set *appsv1.StatefulSet, pod *corev1.Pod, group string, config Config) bool {
	if config.NoStaticMembership || set.DeletionTimestamp != nil || stopped(pod) || beingDeleted(pod) {
		return false
	}
	if strings.TrimSpace(set.Annotations[v1alpha1.MembershipAnnotation]) == v1alpha1.MembershipDynamic {
		return false
	}
	return slices.ContainsFunc(strings.Split(set.Annotations[v1alpha1.GroupAnnotation], ","), func(name string) bool {
		return strings.TrimSpace(name) == group
	})
}
