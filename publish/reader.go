package publish

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// allAnnotations is the downward API's field path of a pod's annotations as a whole.
const allAnnotations = "metadata.annotations"

// reads says that somebody in the pod can see the group's document: its spec refers to the annotation by the downward API, or
// it asked for our volume or agent.
func reads(pod *corev1.Pod, group string) bool {
	if pod.Labels[v1alpha1.InjectLabel] != "" {
		return true
	}
	one := allAnnotations + "['" + v1alpha1.AssignmentAnnotationPrefix + group + "']"
	refers := func(field *corev1.ObjectFieldSelector) bool {
		return field != nil && (field.FieldPath == one || field.FieldPath == allAnnotations)
	}
	return slices.ContainsFunc(fields(pod), refers)
}

// fields are all field paths of the pod's own metadata that its spec refers to.
func fields(pod *corev1.Pod) []*corev1.ObjectFieldSelector {
	var found []*corev1.ObjectFieldSelector
	for i := range pod.Spec.InitContainers {
		found = append(found, envFields(pod.Spec.InitContainers[i].Env)...)
	}
	for i := range pod.Spec.Containers {
		found = append(found, envFields(pod.Spec.Containers[i].Env)...)
	}
	for i := range pod.Spec.EphemeralContainers {
		found = append(found, envFields(pod.Spec.EphemeralContainers[i].Env)...)
	}
	for i := range pod.Spec.Volumes {
		found = append(found, volumeFields(&pod.Spec.Volumes[i])...)
	}
	return found
}

func envFields(env []corev1.EnvVar) []*corev1.ObjectFieldSelector {
	var found []*corev1.ObjectFieldSelector
	for i := range env {
		if env[i].ValueFrom != nil {
			found = append(found, env[i].ValueFrom.FieldRef)
		}
	}
	return found
}

func volumeFields(volume *corev1.Volume) []*corev1.ObjectFieldSelector {
	var files []corev1.DownwardAPIVolumeFile
	if volume.DownwardAPI != nil {
		files = volume.DownwardAPI.Items
	}
	if volume.Projected != nil {
		for i := range volume.Projected.Sources {
			if source := volume.Projected.Sources[i].DownwardAPI; source != nil {
				files = append(files, source.Items...)
			}
		}
	}
	var found []*corev1.ObjectFieldSelector
	for i := range files {
		found = append(found, files[i].FieldRef)
	}
	return found
}
