package v1alpha1

// Labels and annotations that Rollcall reads or writes.
const (
	// GroupLabel is on every GroupMember and every plan (ControllerRevision): the name of its ConsumerGroup.
	GroupLabel = "rollcall.dev/group"

	// GroupAnnotation on a StatefulSet or Deployment names its group in the same namespace, or several, comma-separated.
	GroupAnnotation = "rollcall.dev/group"
	// MembershipAnnotation on a StatefulSet or Deployment: MembershipStatic or MembershipDynamic.
	MembershipAnnotation = "rollcall.dev/membership"

	// TopicsAnnotation on a pod template: the topics its pods subscribe to, comma-separated; absent means all.
	TopicsAnnotation = "rollcall.dev/topics"
	// CapacityAnnotation on a pod template: the relative share its pods can carry.
	CapacityAnnotation = "rollcall.dev/capacity"
	// TopicsAnnotationPrefix and a group's name override TopicsAnnotation for that group.
	TopicsAnnotationPrefix = "topics.rollcall.dev/"
	// CapacityAnnotationPrefix and a group's name override CapacityAnnotation for that group.
	CapacityAnnotationPrefix = "capacity.rollcall.dev/"
	// AcknowledgesAnnotation on a pod template, "true": the process acknowledges revocations itself.
	AcknowledgesAnnotation = "rollcall.dev/acknowledges"
	// InjectLabel on a pod template: InjectVolume, InjectAgent; absent means nothing is injected.
	InjectLabel = "rollcall.dev/inject"

	// AssignmentAnnotationPrefix and a group's name: the assignment document, written to the pod by Rollcall.
	AssignmentAnnotationPrefix = "assignment.rollcall.dev/"

	// TouchedAnnotation on a GroupMember or ConsumerGroup: "<term>/<generation>/<counter>" of the coordinator that
	// made late writes of its predecessors fail by changing the object.
	TouchedAnnotation = "rollcall.dev/touched"
	// RebalanceAnnotation on a ConsumerGroup: a token; a new value forces a rebalance.
	RebalanceAnnotation = "rollcall.dev/rebalance"
	// CreatorAnnotation on a ConsumerGroup: who created it; set by admission, immutable.
	CreatorAnnotation = "rollcall.dev/creator"
)

// Values of MembershipAnnotation and InjectLabel.
const (
	MembershipStatic  = "static"
	MembershipDynamic = "dynamic"
	InjectVolume      = "volume"
	InjectAgent       = "agent"
)

// Finalizers.
const (
	// HandoverFinalizer is on every GroupMember from its creation: deleting it frees nothing by itself.
	HandoverFinalizer = "rollcall.dev/handover"
	// RevokeFinalizer is on a ConsumerGroup from before its first plan: its end waits for every copy to be free.
	RevokeFinalizer = "rollcall.dev/revoke"
)

// AgentContainerName is the container by which a pod with the Rollcall agent is known.
const AgentContainerName = "rollcall-agent"
