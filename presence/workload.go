package presence

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// object is the workload itself; nil when it is absent.
func (v *view) object() Object {
	switch {
	case v.Workload.Kind == KindStatefulSet && v.StatefulSet != nil:
		return v.StatefulSet
	case v.Workload.Kind == KindDeployment && v.Deployment != nil:
		return v.Deployment
	}
	return nil
}

// ending says that the workload is absent or being deleted: its pods may be orphans that go on as they are.
func (v *view) ending() bool {
	return v.workload == nil || v.workload.GetDeletionTimestamp() != nil
}

// outOfRange says that the StatefulSet does not want a pod of this name: its ordinals begin at spec.ordinals.start.
func (v *view) outOfRange(pod string) bool {
	if v.StatefulSet == nil {
		return false
	}
	ordinal, ok := ordinalOf(v.Workload.Name, pod)
	if !ok {
		return true
	}
	first := int32(0)
	if ordinals := v.StatefulSet.Spec.Ordinals; ordinals != nil {
		first = ordinals.Start
	}
	return ordinal < first || ordinal-first >= replicasOf(v.StatefulSet)
}

func replicasOf(set *appsv1.StatefulSet) int32 {
	if set.Spec.Replicas == nil {
		return 1
	}
	return *set.Spec.Replicas
}

// rolling says that the StatefulSet is still replacing pods by those of another revision. Pods below its partition
// are not going to be replaced.
func (v *view) rolling() bool {
	if v.StatefulSet == nil {
		return false
	}
	status := &v.StatefulSet.Status
	partition := int32(0)
	if update := v.StatefulSet.Spec.UpdateStrategy.RollingUpdate; update != nil && update.Partition != nil {
		partition = *update.Partition
	}
	return status.UpdateRevision != status.CurrentRevision &&
		status.UpdatedReplicas < replicasOf(v.StatefulSet)-partition
}

// workloadUID is that of the workload the pod belongs to; an orphan's is the one it had.
func (v *view) workloadUID(pod *corev1.Pod, stored string) string {
	if v.Workload.Kind == KindStatefulSet && pod != nil {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && owner.Kind == KindStatefulSet {
			return string(owner.UID)
		}
		if stored != "" {
			return stored
		}
	}
	if v.workload != nil && pod != nil {
		return string(v.workload.GetUID())
	}
	return stored
}
