package presence

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

const (
	maxTopics    = 400
	maxTopicName = 249
	maxCapacity  = 1_000_000
)

var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// groupsOf are the groups that the workload's annotation names, in order, each once. A name that no group can have is
// reported and left out.
func (v *view) groupsOf() []string {
	if v.workload == nil {
		return nil
	}
	var groups []string
	for name := range strings.SplitSeq(v.workload.GetAnnotations()[v1alpha1.GroupAnnotation], ",") {
		name = strings.TrimSpace(name)
		if name == "" || slices.Contains(groups, name) {
			continue
		}
		if len(validation.IsDNS1123Label(name)) > 0 {
			v.warn(v.workload, reasonInvalidGroupName, name, fmt.Sprintf("annotation %s names %q, which cannot be a ConsumerGroup: "+
				"give a name of at most 63 lower-case letters, digits and '-', or several, separated by commas",
				v1alpha1.GroupAnnotation, name))
			continue
		}
		groups = append(groups, name)
	}
	return groups
}

// staticMembers says that the workload's new members bear their pods' names. An absent workload takes no members, and
// those it had keep their names.
func (v *view) staticMembers() bool {
	if len(v.groups) == 0 {
		return v.workload == nil && v.Workload.Kind == KindStatefulSet && !v.Config.NoStaticMembership
	}
	asked := strings.TrimSpace(v.workload.GetAnnotations()[v1alpha1.MembershipAnnotation])
	switch asked {
	case v1alpha1.MembershipDynamic:
		return false
	case v1alpha1.MembershipStatic, "":
	default:
		v.warn(v.workload, reasonInvalidMembership, asked, fmt.Sprintf("annotation %s is %q: give %s or %s; the default of the kind is used",
			v1alpha1.MembershipAnnotation, asked, v1alpha1.MembershipStatic, v1alpha1.MembershipDynamic))
	}
	if v.Workload.Kind != KindStatefulSet {
		if asked == v1alpha1.MembershipStatic {
			v.warn(v.workload, reasonStaticNotSupported, asked, "the pods of a Deployment have no lasting names, so its members are dynamic: "+
				"use a StatefulSet, or take the annotation "+v1alpha1.MembershipAnnotation+" away")
		}
		return false
	}
	if v.Config.NoStaticMembership {
		v.note(v.workload, reasonStaticMembershipOff, asked, "the manager runs with --static-membership=false: names are ignored and all members are dynamic")
		return false
	}
	return true
}

// podAnnotation is a pod's own word on a subject: for this group, else for all; key is where it stands.
func podAnnotation(pod *corev1.Pod, prefix, group, general string) (value, key string) {
	if own, found := pod.Annotations[prefix+group]; found {
		return strings.TrimSpace(own), prefix + group
	}
	return strings.TrimSpace(pod.Annotations[general]), general
}

// topicsOf are the topics that the pod subscribes to in that group, sorted; none means all. A name that no topic can have
// stays in the list, where it matches nothing: without it a list of bad names would be a subscription to everything.
func (v *view) topicsOf(pod *corev1.Pod, group string) []string {
	value, key := podAnnotation(pod, v1alpha1.TopicsAnnotationPrefix, group, v1alpha1.TopicsAnnotation)
	var topics []string
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if len(name) > maxTopicName || !topicName.MatchString(name) {
			v.warn(pod, reasonInvalidTopics, key+"="+value, fmt.Sprintf("annotation %s names %q, which cannot be a topic: give names of at most %d "+
				"letters, digits, '.', '_' and '-', separated by commas; this one matches nothing", key, cut(name, maxTopicName), maxTopicName))
		}
		topics = append(topics, cut(name, maxTopicName))
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if len(topics) > maxTopics {
		v.warn(pod, reasonInvalidTopics, key+"="+value, fmt.Sprintf("annotation %s names %d topics: the first %d in alphabetical order count",
			key, len(topics), maxTopics))
		topics = topics[:maxTopics]
	}
	return topics
}

// cut shortens what is too long to something that is no legal name and matches nothing.
func cut(name string, limit int) string {
	runes := []rune(name)
	if len(runes) <= limit {
		return name
	}
	return string(runes[:limit-1]) + "…"
}

// capacityOf is the share that the pod can carry in that group; nil means the default. What is out of bounds counts as
// the nearest bound, what is no number as what was there before.
func (v *view) capacityOf(pod *corev1.Pod, group string, before *int64) *int64 {
	value, key := podAnnotation(pod, v1alpha1.CapacityAnnotationPrefix, group, v1alpha1.CapacityAnnotation)
	if value == "" {
		return nil
	}
	capacity, err := strconv.ParseInt(value, 10, 64)
	bounded := min(max(capacity, 0), maxCapacity)
	if err == nil && capacity == bounded {
		return &capacity
	}
	used := &bounded
	if err != nil {
		used = before
	}
	v.warn(pod, reasonInvalidCapacity, key+"="+value, fmt.Sprintf("annotation %s is %q: give a whole number from 0 to %d; %d is used",
		key, value, maxCapacity, share(used)))
	return used
}

// checkPlaces warns of annotations that are read from pods and stand on the workload itself, where they say nothing.
func (v *view) checkPlaces() {
	if len(v.groups) == 0 {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(v.workload.GetAnnotations())) {
		if key == v1alpha1.CapacityAnnotation || key == v1alpha1.TopicsAnnotation || key == v1alpha1.AcknowledgesAnnotation ||
			strings.HasPrefix(key, v1alpha1.CapacityAnnotationPrefix) || strings.HasPrefix(key, v1alpha1.TopicsAnnotationPrefix) {
			v.warn(v.workload, reasonMisplacedAnnotation, key, fmt.Sprintf("annotation %s is read from pods: here it says nothing, move it to "+
				"spec.template.metadata.annotations", key))
		}
	}
}

// acknowledgementOf says whether the pod's process, or the agent in it, acknowledges revocations.
func (v *view) acknowledgementOf(pod *corev1.Pod) v1alpha1.AcknowledgementMode {
	if hasAgent(pod.Spec.Containers) || hasAgent(pod.Spec.InitContainers) {
		return v1alpha1.AcknowledgeExplicit
	}
	switch value := strings.TrimSpace(pod.Annotations[v1alpha1.AcknowledgesAnnotation]); value {
	case "true":
		return v1alpha1.AcknowledgeExplicit
	case "false", "":
	default:
		v.warn(pod, reasonInvalidAcknowledges, value, fmt.Sprintf("annotation %s is %q: give \"true\" or leave it out; "+
			"it counts as not given", v1alpha1.AcknowledgesAnnotation, value))
	}
	return v1alpha1.AcknowledgeNone
}

// hasAgent looks among init containers too: a sidecar is one that is restarted always.
func hasAgent(containers []corev1.Container) bool {
	return slices.ContainsFunc(containers, func(c corev1.Container) bool { return c.Name == v1alpha1.AgentContainerName })
}
