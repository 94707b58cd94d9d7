package sim

import (
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// setDefaults are those of the CRDs.
func setDefaults(object Object) {
	switch o := object.(type) {
	case *v1alpha1.ConsumerGroup:
		defaultGroup(&o.Spec)
	case *v1alpha1.GroupMember:
		if o.Spec.Acknowledgement == "" {
			o.Spec.Acknowledgement = v1alpha1.AcknowledgeExplicit
		}
	}
}

func defaultGroup(spec *v1alpha1.ConsumerGroupSpec) {
	setIfEmpty(&spec.ProtocolType, "consumer")
	setIfEmpty(&spec.AssignedBy, v1alpha1.AssignedByCoordinator)
	setIfEmpty(&spec.Assignor, "sticky")
	setIfEmpty(&spec.ZonePolicy, v1alpha1.ZoneIgnore)
	setIfEmpty(&spec.Handover.Policy, v1alpha1.HandoverAvailable)
	setIfNil(&spec.SessionTimeout, 45*time.Second)
	setIfNil(&spec.RebalanceTimeout, time.Minute)
	setIfNil(&spec.InitialRebalanceDelay, 3*time.Second)
	setIfNil(&spec.ExpansionTimeout, 10*time.Second)
	setIfNil(&spec.Handover.RevocationGracePeriod, 10*time.Second)
	for i := range spec.Topics {
		setIfEmpty(&spec.Topics[i].Replicas, 1)
		setIfEmpty(&spec.Topics[i].Weight, 1)
	}
}

func setIfEmpty[T comparable](field *T, value T) {
	var empty T
	if *field == empty {
		*field = value
	}
}

func setIfNil(field **metav1.Duration, value time.Duration) {
	if *field == nil {
		*field = &metav1.Duration{Duration: value}
	}
}

// validate refuses what the API server would: old is nil for a create.
func validate(old, updated Object) error {
	switch o := updated.(type) {
	case *v1alpha1.ConsumerGroup:
		before, _ := old.(*v1alpha1.ConsumerGroup)
		return validateGroup(before, o)
	case *v1alpha1.GroupMember:
		before, _ := old.(*v1alpha1.GroupMember)
		return validateMember(before, o)
	case *appsv1.ControllerRevision:
		if old != nil && specChanged(old, updated) {
			return errors.New("data cannot be changed")
		}
	}
	return nil
}

// validateMember holds the rules by which a process of the past can change nothing.
func validateMember(old, updated *v1alpha1.GroupMember) error {
	if old == nil {
		return nil
	}
	acknowledged, joined := updated.Spec.Acknowledged, updated.Spec.Joined
	switch before := old.Spec; {
	case before.Group != updated.Spec.Group || before.MemberName != updated.Spec.MemberName:
		return errors.New("group and memberName cannot be changed")
	case (before.Workload == nil) != (updated.Spec.Workload == nil):
		return errors.New("workload cannot be added or removed")
	case movedTo(before.Workload, updated.Spec.Workload):
		return errors.New("workload.kind and workload.name cannot be changed")
	case acknowledgedTakenBack(before.Acknowledged, acknowledged):
		return errors.New("acknowledged cannot be taken back")
	case joinedTakenBack(before.Joined, joined):
		return errors.New("joined cannot be taken back")
	case changed(before.Acknowledged, acknowledged) && acknowledged.MemberID != old.Status.MemberID:
		return errors.New("acknowledged may name only the memberID in status")
	case changed(before.Joined, joined) && joined.MemberID != old.Status.MemberID:
		return errors.New("joined may name only the memberID in status")
	}
	return nil
}

func movedTo(before, after *v1alpha1.WorkloadReference) bool {
	return before != nil && (before.Kind != after.Kind || before.Name != after.Name)
}

func acknowledgedTakenBack(before, after *v1alpha1.Acknowledged) bool {
	if before == nil {
		return false
	}
	return after == nil || after.MemberID == before.MemberID && (after.Revision < before.Revision || before.Final && !after.Final)
}

func joinedTakenBack(before, after *v1alpha1.Joined) bool {
	if before == nil {
		return false
	}
	return after == nil || after.MemberID == before.MemberID && after.Generation < before.Generation
}

// changed: a word was given that was not given before.
func changed[T comparable](before, after *T) bool {
	return after != nil && (before == nil || *before != *after)
}
