package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// WorkloadChange is what a command says of a StatefulSet or Deployment; nil leaves it as it is.
type WorkloadChange struct {
	// Kind counts on creation; empty is a StatefulSet.
	Kind             string
	Replicas, Start  *int32
	Membership       *string
	Acks             *bool
	Topics, Capacity *string
	Annotations      map[string]string
}

// SetWorkload creates a workload annotated with the group, or changes it.
func (w *World) SetWorkload(name, group string, change WorkloadChange) error {
	if existing := w.workload(name); existing != nil {
		return w.changeWorkload(existing, change)
	}
	workload := newWorkload(name, change.Kind)
	workload.SetAnnotations(map[string]string{v1alpha1.GroupAnnotation: group})
	apply(workload, change)
	_, err := w.Store.Create(Person, workload)
	return err
}

// AnnotateWorkload changes an existing workload.
func (w *World) AnnotateWorkload(name string, change WorkloadChange) error {
	existing := w.workload(name)
	if existing == nil {
		return fmt.Errorf("there is no workload %s", name)
	}
	return w.changeWorkload(existing, change)
}

func (w *World) changeWorkload(existing Object, change WorkloadChange) error {
	if change.Kind != "" && change.Kind != kindOf(existing) {
		return fmt.Errorf("workload %s is a %s", existing.GetName(), kindOf(existing))
	}
	changed := existing.DeepCopyObject().(Object)
	apply(changed, change)
	_, err := w.Store.Update(Person, changed)
	return err
}

// workload finds a StatefulSet or Deployment; nil when there is none.
func (w *World) workload(name string) Object {
	if set := Get[*appsv1.StatefulSet](w.Store, name); set != nil {
		return set
	}
	if deployment := Get[*appsv1.Deployment](w.Store, name); deployment != nil {
		return deployment
	}
	return nil
}

func newWorkload(name, kind string) Object {
	meta := metav1.ObjectMeta{Name: name}
	if kind == KindDeployment {
		return &appsv1.Deployment{ObjectMeta: meta}
	}
	return &appsv1.StatefulSet{ObjectMeta: meta}
}

// template and replicas of a workload, to be changed in place.
func podTemplate(workload Object) (template *corev1.PodTemplateSpec, replicas **int32) {
	switch o := workload.(type) {
	case *appsv1.StatefulSet:
		return &o.Spec.Template, &o.Spec.Replicas
	case *appsv1.Deployment:
		return &o.Spec.Template, &o.Spec.Replicas
	}
	return &corev1.PodTemplateSpec{}, new(*int32)
}

func apply(workload Object, change WorkloadChange) {
	template, replicas := podTemplate(workload)
	if change.Replicas != nil {
		*replicas = change.Replicas
	}
	if *replicas == nil {
		one := int32(1)
		*replicas = &one
	}
	if set, isSet := workload.(*appsv1.StatefulSet); isSet && change.Start != nil {
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: *change.Start}
	}
	annotate(&template.ObjectMeta, v1alpha1.TopicsAnnotation, change.Topics)
	annotate(&template.ObjectMeta, v1alpha1.CapacityAnnotation, change.Capacity)
	if change.Acks != nil || len(template.Spec.Containers) == 0 {
		template.Spec = podSpec(change.Acks != nil && *change.Acks)
	}
	annotations := maps.Clone(workload.GetAnnotations())
	if change.Membership != nil {
		annotations[v1alpha1.MembershipAnnotation] = *change.Membership
	}
	for key, value := range change.Annotations {
		annotations[key] = value
		if value == "" {
			delete(annotations, key)
		}
	}
	workload.SetAnnotations(annotations)
}

func annotate(meta *metav1.ObjectMeta, key string, value *string) {
	switch {
	case value == nil:
	case *value == "":
		delete(meta.Annotations, key)
	default:
		if meta.Annotations == nil {
			meta.Annotations = map[string]string{}
		}
		meta.Annotations[key] = *value
	}
}

// podSpec is that of a pod with an agent, or of one that reads its annotation through the downward API.
func podSpec(agent bool) corev1.PodSpec {
	if agent {
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}, {Name: v1alpha1.AgentContainerName}}}
	}
	return corev1.PodSpec{
		Containers: []corev1.Container{{Name: "app"}},
		Volumes: []corev1.Volume{{Name: "assignment", VolumeSource: corev1.VolumeSource{
			DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{{
				Path: "annotations", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations"},
			}}},
		}}},
	}
}

// DeleteWorkload deletes a workload. Its pods are marked as being deleted unless they are orphaned.
func (w *World) DeleteWorkload(name string, orphan bool) error {
	workload := w.workload(name)
	if workload == nil {
		return fmt.Errorf("there is no workload %s", name)
	}
	if _, err := w.Store.Delete(Person, keyOf(workload), Precondition{}); err != nil {
		return err
	}
	for _, pod := range List[*corev1.Pod](w.Store) {
		if !w.madeBy(pod, workload) {
			continue
		}
		if orphan {
			freed := pod.DeepCopy()
			freed.OwnerReferences = nil
			if _, err := w.Store.Update(Cluster, freed); err != nil {
				return err
			}
		} else if _, err := w.Store.Terminate(Cluster, keyOf(pod)); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) madeBy(pod *corev1.Pod, workload Object) bool {
	of := workloadOf(w.Store.Now(), pod)
	return len(pod.OwnerReferences) > 0 && of.Name == workload.GetName() && of.Kind == kindOf(workload)
}

// ownerFor is the workload that makes a pod of that name: the one with the longest name before the pod's last part.
func (w *World) ownerFor(pod string) Object {
	for at := strings.LastIndex(pod, "-"); at > 0; at = strings.LastIndex(pod[:at], "-") {
		if workload := w.workload(pod[:at]); workload != nil {
			return workload
		}
	}
	return nil
}

// statefulSetsAct keep the revisions and counts in the status of StatefulSets, and adopt orphans.
func (w *World) statefulSetsAct() {
	for _, set := range List[*appsv1.StatefulSet](w.Store) {
		w.adopt(set)
		w.reportRevisions(set)
	}
}

func (w *World) adopt(set *appsv1.StatefulSet) {
	for _, pod := range List[*corev1.Pod](w.Store) {
		if len(pod.OwnerReferences) > 0 || pod.DeletionTimestamp != nil || workloadOf(w.Store.Now(), pod).Name != set.Name {
			continue
		}
		adopted := pod.DeepCopy()
		adopted.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind(KindStatefulSet))}
		_, err := w.Store.Update(Cluster, adopted)
		w.fail(err)
	}
}

func (w *World) reportRevisions(set *appsv1.StatefulSet) {
	reported := set.DeepCopy()
	status := &reported.Status
	status.ObservedGeneration = set.Generation
	status.UpdateRevision = revisionOf(set)
	if status.CurrentRevision == "" {
		status.CurrentRevision = status.UpdateRevision
	}
	status.Replicas, status.UpdatedReplicas, status.ReadyReplicas = 0, 0, 0
	for _, pod := range List[*corev1.Pod](w.Store) {
		if !w.madeBy(pod, set) {
			continue
		}
		status.Replicas++
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == status.UpdateRevision {
			status.UpdatedReplicas++
		}
		if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			status.ReadyReplicas++
		}
	}
	if status.UpdatedReplicas >= *set.Spec.Replicas {
		status.CurrentRevision = status.UpdateRevision
	}
	_, err := w.Store.UpdateStatus(Cluster, reported)
	w.fail(err)
}

// revisionOf names the pod template: the same template has the same name.
func revisionOf(set *appsv1.StatefulSet) string {
	encoded, err := set.Spec.Template.Marshal()
	if err != nil {
		return set.Name
	}
	return set.Name + "-" + strconv.FormatUint(uint64(hashOf(encoded)), 16)
}
