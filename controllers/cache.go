package controllers

import (
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// cacheOptions keep of each object only what is read: pods of a whole cluster are in the cache.
func cacheOptions() cache.Options {
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:                {Transform: slim(slimPod)},
			&corev1.Node{}:               {Transform: slim(slimNode)},
			&appsv1.StatefulSet{}:        {Transform: slim(slimStatefulSet)},
			&appsv1.Deployment{}:         {Transform: slim(slimDeployment)},
			&appsv1.ControllerRevision{}: {Label: groupLabelled(), Transform: slim(slimPlan)},
			&coordinationv1.Lease{}:      {Label: groupLabelled(), Transform: slim(slimLease)},
		},
	}
}

// groupLabelled selects what belongs to a group of kinds that others use more: the ControllerRevisions that are plans, and the
// Leases that are members' heartbeats.
func groupLabelled() labels.Selector {
	exists, err := labels.NewRequirement(v1alpha1.GroupLabel, selection.Exists, nil)
	if err != nil {
		panic(err) // The key is a constant.
	}
	return labels.NewSelector().Add(*exists)
}

// slim makes a cache transform of a function that empties what is not read.
func slim[T client.Object](empty func(T)) func(any) (any, error) {
	return func(obj any) (any, error) {
		if typed, ok := obj.(T); ok {
			typed.SetManagedFields(nil)
			empty(typed)
		}
		return obj, nil
	}
}

// slimPod keeps of the spec the node, the containers' names and where the downward API is asked for which field.
func slimPod(pod *corev1.Pod) {
	pod.Spec = corev1.PodSpec{
		NodeName:       pod.Spec.NodeName,
		Containers:     slimContainers(pod.Spec.Containers),
		InitContainers: slimContainers(pod.Spec.InitContainers),
		Volumes:        downwardVolumes(pod.Spec.Volumes),
	}
	pod.Status = corev1.PodStatus{
		Phase:                 pod.Status.Phase,
		Reason:                pod.Status.Reason,
		Conditions:            pod.Status.Conditions,
		StartTime:             pod.Status.StartTime,
		ContainerStatuses:     slimStatuses(pod.Status.ContainerStatuses),
		InitContainerStatuses: slimStatuses(pod.Status.InitContainerStatuses),
	}
}

func slimContainers(containers []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for _, c := range containers {
		kept = append(kept, corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy, Env: fieldEnv(c.Env)})
	}
	return kept
}

// fieldEnv keeps the variables that come from a field of the pod.
func fieldEnv(env []corev1.EnvVar) []corev1.EnvVar {
	var kept []corev1.EnvVar
	for _, e := range env {
		if e.ValueFrom != nil && e.ValueFrom.FieldRef != nil {
			kept = append(kept, e)
		}
	}
	return kept
}

// downwardVolumes keeps the volumes that show fields of the pod, plain or projected.
func downwardVolumes(volumes []corev1.Volume) []corev1.Volume {
	var kept []corev1.Volume
	for _, v := range volumes {
		switch {
		case v.DownwardAPI != nil:
			kept = append(kept, v)
		case v.Projected != nil:
			if sources := downwardSources(v.Projected.Sources); len(sources) > 0 {
				projected := &corev1.ProjectedVolumeSource{Sources: sources}
				kept = append(kept, corev1.Volume{Name: v.Name, VolumeSource: corev1.VolumeSource{Projected: projected}})
			}
		}
	}
	return kept
}

func downwardSources(sources []corev1.VolumeProjection) []corev1.VolumeProjection {
	var kept []corev1.VolumeProjection
	for _, source := range sources {
		if source.DownwardAPI != nil {
			kept = append(kept, corev1.VolumeProjection{DownwardAPI: source.DownwardAPI})
		}
	}
	return kept
}

func slimStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, s := range statuses {
		kept = append(kept, corev1.ContainerStatus{
			Name: s.Name, State: s.State, LastTerminationState: s.LastTerminationState,
			Ready: s.Ready, RestartCount: s.RestartCount, Started: s.Started,
		})
	}
	return kept
}

// slimNode keeps whether the node is ready, and its labels for the zone.
func slimNode(node *corev1.Node) {
	var conditions []corev1.NodeCondition
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			c.LastHeartbeatTime = metav1.Time{}
			conditions = append(conditions, c)
		}
	}
	node.Annotations = nil
	node.Spec = corev1.NodeSpec{Taints: node.Spec.Taints}
	node.Status = corev1.NodeStatus{Conditions: conditions}
}

func slimStatefulSet(set *appsv1.StatefulSet) {
	set.Spec.Template = corev1.PodTemplateSpec{}
	set.Spec.VolumeClaimTemplates = nil
	set.Status.Conditions = nil
}

func slimDeployment(deployment *appsv1.Deployment) {
	deployment.Spec.Template = corev1.PodTemplateSpec{}
	deployment.Status.Conditions = nil
}

// slimPlan keeps name, owner and generation: the newest two plans of a group are read whole when they are asked for.
func slimPlan(plan *appsv1.ControllerRevision) {
	plan.Data = runtime.RawExtension{}
}
