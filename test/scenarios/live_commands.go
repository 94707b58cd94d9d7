package scenarios

import (
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func (w *liveWorld) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: name}
}

// advance is real time.
func (w *liveWorld) advance(command *Command) error {
	d, err := time.ParseDuration(command.Args[0])
	if err != nil {
		return err
	}
	w.Pass(d)
	return w.ctx.Err()
}

// Pass lets real time pass, unless the test ends first.
func (w *liveWorld) Pass(d time.Duration) {
	select {
	case <-time.After(d):
	case <-w.ctx.Done():
	}
}

// setGroup creates or changes a group. What was decided from an older version is decided again.
func (w *liveWorld) setGroup(command *Command) error {
	w.group = command.Args[0]
	for {
		err := w.writeGroup(command)
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}

func (w *liveWorld) writeGroup(command *Command) error {
	group := newGroup(w.group)
	group.Namespace = w.namespace
	err := w.client.Get(w.ctx, w.key(w.group), group)
	isNew := apierrors.IsNotFound(err)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if isNew {
		delete(w.replacementGiven, w.group)
	}
	if err := changeGroup(group, command); err != nil {
		return err
	}
	if _, given := command.duration("replacement"); given {
		w.replacementGiven[w.group] = true
	}
	if !w.replacementGiven[w.group] && group.Spec.ReplacementTimeout.Duration < group.Spec.SessionTimeout.Duration {
		group.Spec.ReplacementTimeout = lasting(group.Spec.SessionTimeout.Duration)
	}
	if isNew {
		return w.client.Create(w.ctx, group)
	}
	return w.client.Update(w.ctx, group)
}

// remove deletes a group, or the newest plan of the present one.
func (w *liveWorld) remove(command *Command) error {
	if command.Args[0] == "group" {
		return w.client.Delete(w.ctx, &v1alpha1.ConsumerGroup{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: command.Args[1]}})
	}
	view := w.View()
	group := view.group(w.group)
	var newest *appsv1.ControllerRevision
	for _, plan := range view.Plans {
		if group != nil && metav1.IsControlledBy(plan, group) && (newest == nil || plan.Revision > newest.Revision) {
			newest = plan
		}
	}
	if newest == nil {
		return fmt.Errorf("group %s has no plan", w.group)
	}
	return w.client.Delete(w.ctx, newest)
}

func (w *liveWorld) forceRebalance(command *Command) error {
	group := &v1alpha1.ConsumerGroup{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.group}}
	return w.setAnnotations(group, map[string]string{v1alpha1.RebalanceAnnotation: command.Args[0]})
}

func (w *liveWorld) removeMember(command *Command) error {
	view := w.View()
	member := view.member(w.group, command.Args[0])
	if member == nil {
		return fmt.Errorf("group %s has no member %s", w.group, command.Args[0])
	}
	return w.client.Delete(w.ctx, member)
}

// setAnnotations sets them; an empty one is taken away.
func (w *liveWorld) setAnnotations(object client.Object, values map[string]string) error {
	annotations := map[string]any{}
	for key, value := range values {
		annotations[key] = value
		if value == "" {
			annotations[key] = nil
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	return w.client.Patch(w.ctx, object, client.RawPatch("application/merge-patch+json", patch))
}

// annotate changes a workload's annotations, or those of one living pod.
func (w *liveWorld) annotate(command *Command) error {
	ofWorkload, ofPod := map[string]string{}, map[string]string{}
	for _, option := range command.Options {
		if key, known := workloadAnnotations[option.Key]; known {
			ofWorkload[key] = option.Value
		} else {
			ofPod[podAnnotations[option.Key]] = option.Value
		}
	}
	if len(ofPod) > 0 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: command.Args[0]}}
		if err := w.setAnnotations(pod, ofPod); err != nil {
			return err
		}
	}
	if len(ofWorkload) == 0 {
		return nil
	}
	workload, err := w.workload(command.Args[0])
	if err != nil {
		return err
	}
	return w.setAnnotations(workload, ofWorkload)
}

// workload finds a StatefulSet or a Deployment of that name.
func (w *liveWorld) workload(name string) (client.Object, error) {
	set := &appsv1.StatefulSet{}
	err := w.client.Get(w.ctx, w.key(name), set)
	if !apierrors.IsNotFound(err) {
		return set, err
	}
	deployment := &appsv1.Deployment{}
	return deployment, w.client.Get(w.ctx, w.key(name), deployment)
}

// setWorkload creates, changes or deletes a workload; the real controllers make its pods.
func (w *liveWorld) setWorkload(command *Command) error {
	name := command.Args[0]
	if len(command.Args) == 2 {
		return w.deleteWorkload(command)
	}
	for {
		workload, err := w.workload(name)
		isNew := apierrors.IsNotFound(err)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if isNew {
			kind, _ := command.Get("kind")
			workload = w.newWorkload(name, kind == "Deployment")
		}
		if err := changeWorkload(workload, command); err != nil {
			return err
		}
		if isNew {
			return w.client.Create(w.ctx, workload)
		}
		if err := w.client.Update(w.ctx, workload); !apierrors.IsConflict(err) {
			return err
		}
	}
}

func (w *liveWorld) deleteWorkload(command *Command) error {
	workload, err := w.workload(command.Args[0])
	if err != nil {
		return err
	}
	policies := map[string]metav1.DeletionPropagation{
		"orphan": metav1.DeletePropagationOrphan, "foreground": metav1.DeletePropagationForeground,
	}
	policy := metav1.DeletePropagationBackground
	if cascade, _ := command.Get("cascade"); policies[cascade] != "" {
		policy = policies[cascade]
	}
	return w.client.Delete(w.ctx, workload, client.PropagationPolicy(policy))
}

// newWorkload is annotated with the present group; its pods read their assignment from the annotation.
func (w *liveWorld) newWorkload(name string, isDeployment bool) client.Object {
	labels := map[string]string{"app": name}
	field := "metadata.annotations['" + v1alpha1.AssignmentAnnotationPrefix + w.group + "']"
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers: []corev1.Container{{
				Name: "main", Image: "example.com/app:1",
				Env: []corev1.EnvVar{{Name: "ASSIGNMENT", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: field}}}},
			}},
		},
	}
	meta := metav1.ObjectMeta{Namespace: w.namespace, Name: name, Annotations: map[string]string{v1alpha1.GroupAnnotation: w.group}}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	if isDeployment {
		return &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Selector: selector, Template: template}}
	}
	return &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{ServiceName: name, Selector: selector, Template: template}}
}

// changeWorkload gives a workload what the command's keys say.
func changeWorkload(workload client.Object, command *Command) error {
	var replicas **int32
	var template *corev1.PodTemplateSpec
	start := smallInteger(command, "start")
	switch typed := workload.(type) {
	case *appsv1.StatefulSet:
		replicas, template = &typed.Spec.Replicas, &typed.Spec.Template
		if start != nil {
			typed.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: *start}
		}
	case *appsv1.Deployment:
		replicas, template = &typed.Spec.Replicas, &typed.Spec.Template
		if start != nil {
			return fmt.Errorf("a Deployment has no ordinals")
		}
	}
	if wanted := smallInteger(command, "replicas"); wanted != nil {
		*replicas = wanted
	}
	if template.Annotations == nil {
		template.Annotations = map[string]string{} // The API server leaves empty ones out.
	}
	if membership, given := command.Get("membership"); given {
		annotations := workload.GetAnnotations()
		annotations[v1alpha1.MembershipAnnotation] = membership
		workload.SetAnnotations(annotations)
	}
	for key, annotation := range podAnnotations {
		if value, given := command.Get(key); given {
			template.Annotations[annotation] = value
		}
	}
	return nil
}
