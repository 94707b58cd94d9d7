package sim

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultNode is where pods run that no node was named for.
const DefaultNode = "node"

// PodCreated makes a new pod under a name, not yet running.
func (w *World) PodCreated(name, node string) error {
	if Get[*corev1.Pod](w.Store, name) != nil {
		return fmt.Errorf("pod %s is there already", name)
	}
	if node == "" {
		node = w.nodes[name]
	}
	if node == "" {
		node = DefaultNode
	}
	w.nodes[name] = node
	if err := w.ensureNode(node); err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: podSpec(false)}
	if owner := w.ownerFor(name); owner != nil {
		if err := w.fromTemplate(pod, owner); err != nil {
			return err
		}
	}
	pod.Spec.NodeName = node
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(w.Now()),
	}}}
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name:  container.Name,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		})
	}
	created, err := w.Store.Create(Cluster, pod)
	if err != nil {
		return err
	}
	w.pods[name] = &Pod{world: w, Name: name, UID: created.GetUID()}
	return nil
}

// fromTemplate gives the pod what its workload's template says, and its owner.
func (w *World) fromTemplate(pod *corev1.Pod, owner Object) error {
	template, _ := podTemplate(owner)
	pod.Annotations, pod.Labels = maps.Clone(template.Annotations), maps.Clone(template.Labels)
	pod.Spec = *template.Spec.DeepCopy()
	controller := owner
	if set, isSet := owner.(*appsv1.StatefulSet); isSet {
		if pod.Labels == nil {
			pod.Labels = map[string]string{}
		}
		pod.Labels[appsv1.StatefulSetRevisionLabel] = revisionOf(set)
	} else {
		replicaSet, err := w.replicaSetOf(owner)
		if err != nil {
			return err
		}
		controller = replicaSet
	}
	pod.OwnerReferences = []metav1.OwnerReference{
		*metav1.NewControllerRef(controller, appsv1.SchemeGroupVersion.WithKind(kindOf(controller))),
	}
	return nil
}

// replicaSetOf stands between a Deployment and its pods.
func (w *World) replicaSetOf(deployment Object) (Object, error) {
	name := deployment.GetName() + "-rs"
	if existing := Get[*appsv1.ReplicaSet](w.Store, name); existing != nil {
		return existing, nil
	}
	return w.Store.Create(Cluster, &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Name: name,
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind(KindDeployment)),
		},
	}})
}

// podStatus changes the status of a pod.
func (w *World) podStatus(name string, change func(*corev1.Pod)) error {
	pod := Get[*corev1.Pod](w.Store, name)
	if pod == nil {
		return fmt.Errorf("there is no pod %s", name)
	}
	changed := pod.DeepCopy()
	change(changed)
	_, err := w.Store.UpdateStatus(Cluster, changed)
	return err
}

// PodRunning starts the containers; the pod is not Ready.
func (w *World) PodRunning(name string) error {
	return w.podStatus(name, func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		w.runContainers(pod)
	})
}

func (w *World) runContainers(pod *corev1.Pod) {
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].State = corev1.ContainerState{
			Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.Now())},
		}
	}
}

// PodReady sets or clears the pod's Ready condition.
func (w *World) PodReady(name string, ready bool) error {
	return w.podStatus(name, func(pod *corev1.Pod) { w.setReady(pod, ready) })
}

func (w *World) setReady(pod *corev1.Pod, ready bool) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	for i := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[i]
		if condition.Type == corev1.PodReady && condition.Status != status {
			condition.Status, condition.LastTransitionTime = status, metav1.NewTime(w.Now())
		}
	}
	for i := range pod.Status.ContainerStatuses {
		pod.Status.ContainerStatuses[i].Ready = ready
	}
}

// PodStops ends what runs in the pod, whether or not anybody hears of it.
func (w *World) PodStops(name string) {
	if pod := w.pods[name]; pod != nil && pod.stop() {
		w.judgeStep("pod " + name + " stops")
	}
}

// PodCrashed lets the containers exit; they wait to be started again.
func (w *World) PodCrashed(name string) error {
	return w.podStatus(name, func(pod *corev1.Pod) {
		w.setReady(pod, false)
		for i := range pod.Status.ContainerStatuses {
			status := &pod.Status.ContainerStatuses[i]
			status.LastTerminationState = corev1.ContainerState{Terminated: w.exited(status, 1)}
			status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
		}
	})
}

// exited is the end of a container that ran until now.
func (w *World) exited(status *corev1.ContainerStatus, code int32) *corev1.ContainerStateTerminated {
	ended := &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(w.Now())}
	if run := status.State.Running; run != nil {
		ended.StartedAt = run.StartedAt
	}
	return ended
}

// PodRestarted starts the containers again, not Ready.
func (w *World) PodRestarted(name string) error {
	return w.podStatus(name, func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		w.setReady(pod, false)
		for i := range pod.Status.ContainerStatuses {
			status := &pod.Status.ContainerStatuses[i]
			status.RestartCount++
			if status.LastTerminationState.Terminated == nil {
				status.LastTerminationState = corev1.ContainerState{Terminated: w.exited(status, 1)}
			}
		}
		w.runContainers(pod)
	})
}

// PodEnded lets the pod reach a terminal phase.
func (w *World) PodEnded(name string, phase corev1.PodPhase) error {
	return w.podStatus(name, func(pod *corev1.Pod) {
		pod.Status.Phase = phase
		w.setReady(pod, false)
		code := int32(0)
		if phase == corev1.PodFailed {
			code = 1
		}
		for i := range pod.Status.ContainerStatuses {
			status := &pod.Status.ContainerStatuses[i]
			status.State = corev1.ContainerState{Terminated: w.exited(status, code)}
		}
	})
}

// PodTerminating marks the pod as being deleted.
func (w *World) PodTerminating(name string) error {
	_, err := w.Store.Terminate(Person, KeyFor(KindPod, name))
	return err
}

// PodGone removes the pod's object.
func (w *World) PodGone(name string) error {
	_, err := w.Store.Delete(Cluster, KeyFor(KindPod, name), Precondition{})
	return err
}

// AnnotatePod sets an annotation of one living pod; an empty value removes it.
func (w *World) AnnotatePod(name, key, value string) error {
	pod := Get[*corev1.Pod](w.Store, name)
	if pod == nil {
		return fmt.Errorf("there is no pod %s", name)
	}
	changed := pod.DeepCopy()
	annotate(&changed.ObjectMeta, key, &value)
	_, err := w.Store.Update(Person, changed)
	return err
}

// ensureNode makes a Ready node where there is none.
func (w *World) ensureNode(name string) error {
	if Get[*corev1.Node](w.Store, name) != nil {
		return nil
	}
	_, err := w.Store.Create(Cluster, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.Now()),
		}}},
	})
	return err
}

// NodeHeard says whether anything is heard of the node's kubelet.
func (w *World) NodeHeard(name string, heard bool) error {
	if err := w.ensureNode(name); err != nil {
		return err
	}
	status := corev1.ConditionUnknown
	if heard {
		status = corev1.ConditionTrue
	}
	node := Get[*corev1.Node](w.Store, name).DeepCopy()
	at := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if node.Status.Conditions[at].Status != status {
		node.Status.Conditions[at].Status = status
		node.Status.Conditions[at].LastTransitionTime = metav1.NewTime(w.Now())
	}
	_, err := w.Store.UpdateStatus(Cluster, node)
	return err
}

// NodeZone puts the node into a zone.
func (w *World) NodeZone(name, zone string) error {
	if err := w.ensureNode(name); err != nil {
		return err
	}
	node := Get[*corev1.Node](w.Store, name).DeepCopy()
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[corev1.LabelTopologyZone] = zone
	_, err := w.Store.Update(Cluster, node)
	return err
}

// lostNode says that nothing reaches the node of that pod.
func (w *World) lostNode(pod *corev1.Pod) bool {
	node := Get[*corev1.Node](w.Store, pod.Spec.NodeName)
	return node == nil || slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
	})
}
