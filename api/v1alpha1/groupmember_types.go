package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PresenceState is what the workload controller sees of a member's pod.
// +kubebuilder:validation:Enum=Present;Away;Leaving
type PresenceState string

const (
	// Present: the process is there and may work.
	Present PresenceState = "Present"
	// Away: the process is not there, or not well; a deadline runs.
	Away PresenceState = "Away"
	// Leaving: the member's name is no longer wanted.
	Leaving PresenceState = "Leaving"
)

// Reasons of presence.
const (
	PresenceReady       = "Ready"
	PresenceStarting    = "Starting"
	PresenceTerminating = "Terminating"
	PresenceReplacing   = "Replacing"
	PresenceGone        = "Gone"
	PresenceNodeLost    = "NodeLost"
	PresenceNotReady    = "NotReady"
	PresenceCrashing    = "Crashing"
	PresencePodGoing    = "PodGoing"
	PresenceWithdrawn   = "Withdrawn"
)

// AcknowledgementMode says who acknowledges a member's revocations.
// +kubebuilder:validation:Enum=None;Explicit
type AcknowledgementMode string

const (
	// AcknowledgeNone: the process cannot; the publish controller does so after the grace (policy Available).
	AcknowledgeNone AcknowledgementMode = "None"
	// AcknowledgeExplicit: the process does so itself.
	AcknowledgeExplicit AcknowledgementMode = "Explicit"
)

// WorkloadReference is the StatefulSet or Deployment that a member's pod belongs to.
// +kubebuilder:validation:XValidation:rule="self.kind == oldSelf.kind && self.name == oldSelf.name",message="workload.kind and workload.name cannot be changed"
type WorkloadReference struct {
	// Kind: StatefulSet or Deployment.
	// +kubebuilder:validation:Enum=StatefulSet;Deployment
	Kind string `json:"kind"`
	// Name of the workload in the member's namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// UID follows the pod's owner.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	UID string `json:"uid,omitempty"`
}

// Presence is a workload member's condition, by its pod.
type Presence struct {
	// State: Present, Away or Leaving.
	State PresenceState `json:"state"`
	// Reason in CamelCase.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason"`
	// Since is when the state began, by the operator's clock at first sight.
	Since metav1.MicroTime `json:"since"`
	// Stopped: the pod has phase Succeeded or Failed, or its object is gone.
	// +optional
	Stopped bool `json:"stopped,omitempty"`
	// Message for people.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}

// MemberProtocol is a protocol that a member supports, with its metadata (Leader mode).
type MemberProtocol struct {
	// Name of the protocol.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=249
	Name string `json:"name"`
	// Metadata in the protocol's own form.
	// +kubebuilder:validation:MaxLength=349528
	// +optional
	Metadata []byte `json:"metadata,omitempty"`
}

// Acknowledged is a member's word that it has stopped everything not in its assignment as of a revision.
type Acknowledged struct {
	// MemberID whose word it is.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	MemberID string `json:"memberID"`
	// Revision of the status that was acted on.
	// +kubebuilder:validation:Minimum=0
	Revision int64 `json:"revision"`
	// Final: has stopped everything and starts nothing more under this memberID.
	// +optional
	Final bool `json:"final,omitempty"`
}

// Joined is a member's word that it has released everything and joins a round (Leader mode).
type Joined struct {
	// MemberID whose word it is.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	MemberID string `json:"memberID"`
	// Generation that the round will form.
	// +kubebuilder:validation:Minimum=1
	Generation int64 `json:"generation"`
}

// SyncAssignment is the state that the leader gives to one member.
type SyncAssignment struct {
	// MemberID of the member.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	MemberID string `json:"memberID"`
	// State in the protocol's own form.
	// +kubebuilder:validation:MaxLength=1048576
	// +optional
	State []byte `json:"state,omitempty"`
}

// Sync is the leader's SyncGroup (Leader mode).
// +kubebuilder:validation:XValidation:rule="!has(self.assignments) || self.assignments.map(a, (has(a.state) ? a.state.size() : 0)).sum() <= 786432",message="a sync may carry at most 768 KiB of member state"
type Sync struct {
	// MemberID of the leader.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	MemberID string `json:"memberID"`
	// Generation that is answered.
	// +kubebuilder:validation:Minimum=1
	Generation int64 `json:"generation"`
	// Error, if the leader could not assign: the generation is invalid.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Error string `json:"error,omitempty"`
	// Assignments by member.
	// +kubebuilder:validation:MaxItems=2000
	// +listType=atomic
	// +optional
	Assignments []SyncAssignment `json:"assignments,omitempty"`
}

// GroupMemberSpec is the member's side: who it is, how it is, what it can take, and its words to the coordinator.
// +kubebuilder:validation:XValidation:rule="has(self.memberName) == has(oldSelf.memberName)",message="memberName cannot be added or removed: a static member and a dynamic one are different objects"
// +kubebuilder:validation:XValidation:rule="has(self.workload) == has(oldSelf.workload)",message="workload cannot be added or removed"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.acknowledged) || (has(self.acknowledged) && (self.acknowledged.memberID != oldSelf.acknowledged.memberID || (self.acknowledged.revision >= oldSelf.acknowledged.revision && (!has(oldSelf.acknowledged.final) || !oldSelf.acknowledged.final || (has(self.acknowledged.final) && self.acknowledged.final)))))",message="acknowledged cannot be taken back: under one memberID its revision never falls and final stays"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.joined) || (has(self.joined) && (self.joined.memberID != oldSelf.joined.memberID || self.joined.generation >= oldSelf.joined.generation))",message="joined cannot be taken back: under one memberID its generation never falls"
type GroupMemberSpec struct {
	// Group is the ConsumerGroup in the same namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="group cannot be changed: create another GroupMember"
	Group string `json:"group"`

	// MemberName is the static member's name, in Kafka's character set; absent means dynamic.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=249
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._-]+$`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="memberName cannot be changed: create another GroupMember"
	// +optional
	MemberName string `json:"memberName,omitempty"`

	// Workload that the member's pod belongs to; absent means self-registered.
	// +optional
	Workload *WorkloadReference `json:"workload,omitempty"`

	// Incarnation is the pod's UID, or a random UUID of this start of the process; a new value means restarted.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Incarnation string `json:"incarnation"`

	// Host, for people: the pod's node, else the process's hostname.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Host string `json:"host,omitempty"`

	// Zone of the member's node.
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Zone string `json:"zone,omitempty"`

	// Presence of a workload member.
	// +optional
	Presence *Presence `json:"presence,omitempty"`

	// Acknowledgement says who acknowledges this member's revocations.
	// +kubebuilder:default=Explicit
	// +optional
	Acknowledgement AcknowledgementMode `json:"acknowledgement,omitempty"`

	// SessionTimeout overrides the group's, within the same bounds.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +optional
	SessionTimeout *metav1.Duration `json:"sessionTimeout,omitempty"`

	// RebalanceTimeout overrides the group's, 1s to 30m.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('30m')",message="rebalanceTimeout must be between 1s and 30m"
	// +optional
	RebalanceTimeout *metav1.Duration `json:"rebalanceTimeout,omitempty"`

	// Topics the member subscribes to; empty means all.
	// +kubebuilder:validation:MaxItems=400
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=249
	// +listType=atomic
	// +optional
	Topics []string `json:"topics,omitempty"`

	// Capacity is the relative share the member can carry; absent means 1, 0 means parked.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Capacity *int64 `json:"capacity,omitempty"`

	// Protocols in the member's order of preference (Leader mode).
	// +kubebuilder:validation:MaxItems=16
	// +listType=atomic
	// +optional
	Protocols []MemberProtocol `json:"protocols,omitempty"`

	// Acknowledged: has stopped everything that is not in status.assignment as of that revision.
	// +optional
	Acknowledged *Acknowledged `json:"acknowledged,omitempty"`

	// Joined: has released everything and joins the round that will form this generation (Leader mode).
	// +optional
	Joined *Joined `json:"joined,omitempty"`

	// Sync is the leader's SyncGroup (Leader mode).
	// +optional
	Sync *Sync `json:"sync,omitempty"`
}

// GroupMember is one process that takes a share of its group's partitions.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=gm,categories=rollcall
// +kubebuilder:selectablefield:JSONPath=`.spec.group`
// +kubebuilder:printcolumn:name="Group",type=string,JSONPath=`.spec.group`
// +kubebuilder:printcolumn:name="Member",type=string,JSONPath=`.spec.memberName`
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Presence",type=string,JSONPath=`.spec.presence.reason`
// +kubebuilder:printcolumn:name="Generation",type=integer,JSONPath=`.status.generation`
// +kubebuilder:printcolumn:name="Partitions",type=integer,JSONPath=`.status.assignedPartitions`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.zone`,priority=1
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.spec.host`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="!has(self.spec.acknowledged) || (has(oldSelf.spec.acknowledged) && self.spec.acknowledged == oldSelf.spec.acknowledged) || (has(oldSelf.status) && has(oldSelf.status.memberID) && self.spec.acknowledged.memberID == oldSelf.status.memberID)",message="acknowledged may name only the memberID in status: another incarnation has this name now"
// +kubebuilder:validation:XValidation:rule="!has(self.spec.joined) || (has(oldSelf.spec.joined) && self.spec.joined == oldSelf.spec.joined) || (has(oldSelf.status) && has(oldSelf.status.memberID) && self.spec.joined.memberID == oldSelf.status.memberID)",message="joined may name only the memberID in status: another incarnation has this name now"
type GroupMember struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the member's side.
	Spec GroupMemberSpec `json:"spec"`
	// Status is the coordinator's answer.
	// +optional
	Status GroupMemberStatus `json:"status,omitempty,omitzero"`
}

// GroupMemberList is a list of GroupMembers.
//
// +kubebuilder:object:root=true
type GroupMemberList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GroupMember `json:"items"`
}
