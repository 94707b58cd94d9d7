package scenarios

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/sim"
)

// setWorkload creates, changes or deletes a workload.
func (w *simWorld) setWorkload(command *Command) error {
	name := command.Args[0]
	if len(command.Args) == 2 {
		cascade, _ := command.Get("cascade")
		return w.DeleteWorkload(name, cascade == "orphan")
	}
	var change sim.WorkloadChange
	change.Kind, _ = command.Get("kind")
	change.Replicas = smallInteger(command, "replicas")
	change.Start = smallInteger(command, "start")
	change.Membership = text(command, "membership")
	change.Topics = text(command, "topics")
	change.Capacity = text(command, "capacity")
	if acks, given := command.boolean("acks"); given {
		change.Acks = &acks
	}
	return w.SetWorkload(name, w.group, change)
}

func smallInteger(command *Command, key string) *int32 {
	value, given := command.integer(key)
	if !given {
		return nil
	}
	small := int32(value)
	return &small
}

func text(command *Command, key string) *string {
	value, given := command.Get(key)
	if !given {
		return nil
	}
	return &value
}

// annotations of workloads and pods, by the key of the command.
var (
	workloadAnnotations = map[string]string{"group": v1alpha1.GroupAnnotation, "membership": v1alpha1.MembershipAnnotation}
	podAnnotations      = map[string]string{"capacity": v1alpha1.CapacityAnnotation, "topics": v1alpha1.TopicsAnnotation}
)

// annotate changes a workload's annotations, or those of one living pod.
func (w *simWorld) annotate(command *Command) error {
	name := command.Args[0]
	change := sim.WorkloadChange{Annotations: map[string]string{}}
	for _, option := range command.Options {
		if key, ofWorkload := workloadAnnotations[option.Key]; ofWorkload {
			change.Annotations[key] = option.Value
		} else if err := w.AnnotatePod(name, podAnnotations[option.Key], option.Value); err != nil {
			return err
		}
	}
	if len(change.Annotations) == 0 {
		return nil
	}
	return w.AnnotateWorkload(name, change)
}

// endings are the states in which nothing runs in a pod any more.
var endings = []string{"crashed", "stopped", "gone", "forcedeleted", "failed"}

// pod shows what kubelet and API server would.
func (w *simWorld) pod(command *Command) error {
	node, _ := command.Get("node")
	for _, state := range command.Args[1:] {
		if slices.Contains(endings, state) {
			w.PodStops(command.Args[0])
		}
		if err := w.Cluster(func() error { return w.showPod(command.Args[0], state, node) }); err != nil {
			return err
		}
		w.Settle()
	}
	return nil
}

func (w *simWorld) showPod(name, state, node string) error {
	switch state {
	case "created":
		return w.PodCreated(name, node)
	case "running":
		return w.PodRunning(name)
	case "ready":
		return w.PodReady(name, true)
	case "notready":
		return w.PodReady(name, false)
	case "crashed":
		return w.PodCrashed(name)
	case "restarted":
		return w.PodRestarted(name)
	case "terminating":
		return w.PodTerminating(name)
	case "stopped":
		return w.PodEnded(name, corev1.PodSucceeded)
	case "failed":
		return w.PodEnded(name, corev1.PodFailed)
	case "gone", "forcedeleted":
		return w.PodGone(name)
	}
	return fmt.Errorf("unknown state %s of a pod", state)
}

// replace is a pod's whole way to its successor without time passing.
func (w *simWorld) replace(command *Command) error {
	whole := *command
	whole.Args = append([]string{command.Args[0]}, "terminating", "stopped", "gone", "created", "running", "ready")
	return w.pod(&whole)
}

func (w *simWorld) node(command *Command) error {
	name := command.Args[0]
	return w.Cluster(func() error {
		if zone, given := command.Get("zone"); given {
			if err := w.NodeZone(name, zone); err != nil {
				return err
			}
		}
		if len(command.Args) == 2 {
			return w.NodeHeard(name, command.Args[1] == "back")
		}
		return nil
	})
}
