package sim

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Bounds of the ConsumerGroup's schema.
const (
	maxTopics        = 400
	maxCopies        = 100_000
	maxCoPartitioned = 150
	maxReplicas      = 1000
	maxWeight        = 1_000_000
	maxZones         = 32
)

var (
	groupName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)
)

// validateGroup holds the schema's rules on a ConsumerGroup.
func validateGroup(old, updated *v1alpha1.ConsumerGroup) error {
	spec := &updated.Spec
	if !groupName.MatchString(updated.Name) {
		return fmt.Errorf("the name %q must be a DNS label", updated.Name)
	}
	return errors.Join(
		validateImmutable(old, spec), validateEnums(spec), validateTimeouts(spec), validateTopics(spec),
	)
}

func validateImmutable(old *v1alpha1.ConsumerGroup, spec *v1alpha1.ConsumerGroupSpec) error {
	switch {
	case old == nil:
		return nil
	case old.Spec.ProtocolType != spec.ProtocolType:
		return errors.New("protocolType cannot be changed")
	case old.Spec.AssignedBy != spec.AssignedBy:
		return errors.New("assignedBy cannot be changed")
	case old.Spec.Handover.Policy != spec.Handover.Policy:
		return errors.New("handover.policy cannot be changed")
	}
	return nil
}

func validateEnums(spec *v1alpha1.ConsumerGroupSpec) error {
	switch {
	case !slices.Contains([]v1alpha1.AssignedBy{v1alpha1.AssignedByCoordinator, v1alpha1.AssignedByLeader}, spec.AssignedBy):
		return fmt.Errorf("assignedBy %q is unknown", spec.AssignedBy)
	case !slices.Contains([]string{"sticky", "range", "roundrobin"}, spec.Assignor):
		return fmt.Errorf("assignor %q is unknown", spec.Assignor)
	case !slices.Contains([]v1alpha1.ZonePolicy{v1alpha1.ZoneIgnore, v1alpha1.ZonePrefer, v1alpha1.ZoneSpread}, spec.ZonePolicy):
		return fmt.Errorf("zonePolicy %q is unknown", spec.ZonePolicy)
	case !slices.Contains([]v1alpha1.HandoverPolicy{v1alpha1.HandoverAvailable, v1alpha1.HandoverExclusive}, spec.Handover.Policy):
		return fmt.Errorf("handover.policy %q is unknown", spec.Handover.Policy)
	case spec.AssignedBy == v1alpha1.AssignedByLeader && spec.Handover.Policy == v1alpha1.HandoverExclusive:
		return errors.New("handover.policy Exclusive needs assignedBy Coordinator")
	case spec.MaxMembers < 0:
		return errors.New("maxMembers must be 0 or more")
	}
	return nil
}

func validateTimeouts(spec *v1alpha1.ConsumerGroupSpec) error {
	const day, half = 24 * time.Hour, 30 * time.Minute
	bounds := []struct {
		field    string
		value    *metav1.Duration
		min, max time.Duration
	}{
		{"sessionTimeout", spec.SessionTimeout, 1, day},
		{"replacementTimeout", spec.ReplacementTimeout, spec.SessionTimeout.Duration, day},
		{"rebalanceTimeout", spec.RebalanceTimeout, time.Second, half},
		{"initialRebalanceDelay", spec.InitialRebalanceDelay, 0, half},
		{"expansionTimeout", spec.ExpansionTimeout, 0, half},
		{"handover.revocationGracePeriod", spec.Handover.RevocationGracePeriod, 0, day},
	}
	for _, bound := range bounds {
		if bound.value != nil && (bound.value.Duration < bound.min || bound.value.Duration > bound.max) {
			return fmt.Errorf("%s must be between %s and %s", bound.field, bound.min, bound.max)
		}
	}
	return nil
}

func validateTopics(spec *v1alpha1.ConsumerGroupSpec) error {
	if len(spec.Topics) == 0 && spec.AssignedBy == v1alpha1.AssignedByCoordinator {
		return errors.New("topics must name at least one topic when assignedBy is Coordinator")
	}
	if len(spec.Topics) > maxTopics {
		return fmt.Errorf("topics must be at most %d", maxTopics)
	}
	copies := int64(0)
	names := map[string]bool{}
	for _, topic := range spec.Topics {
		if err := validateTopic(topic); err != nil {
			return err
		}
		if names[topic.Name] {
			return fmt.Errorf("topic %s is named twice", topic.Name)
		}
		names[topic.Name] = true
		copies += int64(topic.Partitions) * int64(topic.Replicas)
	}
	if copies > maxCopies {
		return fmt.Errorf("the sum of partitions x replicas must be at most %d", maxCopies)
	}
	return validateSets(spec.Topics)
}

func validateSets(topics []v1alpha1.TopicSpec) error {
	inSets := 0
	sets := map[string]v1alpha1.TopicSpec{}
	for _, topic := range topics {
		if topic.CoPartition == "" {
			continue
		}
		inSets++
		first, known := sets[topic.CoPartition]
		if known && (first.Partitions != topic.Partitions || first.Replicas != topic.Replicas) {
			return errors.New("topics with the same coPartition must have equal partitions and equal replicas")
		}
		sets[topic.CoPartition] = topic
	}
	if inSets > maxCoPartitioned {
		return fmt.Errorf("at most %d topics may set coPartition", maxCoPartitioned)
	}
	return nil
}

func validateTopic(topic v1alpha1.TopicSpec) error {
	switch {
	case !topicName.MatchString(topic.Name):
		return fmt.Errorf("topic name %q: only letters, digits, '.', '_' and '-', at most 249", topic.Name)
	case topic.Partitions < 1 || topic.Partitions > maxCopies:
		return fmt.Errorf("topic %s: partitions must be between 1 and %d", topic.Name, maxCopies)
	case topic.Replicas < 1 || topic.Replicas > maxReplicas:
		return fmt.Errorf("topic %s: replicas must be between 1 and %d", topic.Name, maxReplicas)
	case topic.Weight < 1 || topic.Weight > maxWeight:
		return fmt.Errorf("topic %s: weight must be between 1 and %d", topic.Name, maxWeight)
	case len(topic.Zones) > maxZones:
		return fmt.Errorf("topic %s: at most %d zones", topic.Name, maxZones)
	}
	return nil
}
