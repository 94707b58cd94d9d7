package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GroupState is the state of the group's state machine.
// +kubebuilder:validation:Enum=Down;Joining;AwaitingSync;Stable
type GroupState string

const (
	// GroupInitialize: a coordinator is loading the group. It is never written; logs, metrics and readiness show it.
	GroupInitialize GroupState = "Initialize"
	// GroupDown: nobody is in the generation.
	GroupDown GroupState = "Down"
	// GroupJoining: a round is open.
	GroupJoining GroupState = "Joining"
	// GroupAwaitingSync: the generation is fixed; the leader's state or the end of the hand-over is awaited.
	GroupAwaitingSync GroupState = "AwaitingSync"
	// GroupStable: every member holds what its plan gives it.
	GroupStable GroupState = "Stable"
)

// Conditions of a ConsumerGroup.
const (
	// GroupReady: Stable, fully assigned, at least one member available, timeouts inside the manager's bounds.
	GroupReady = "Ready"
	// GroupFullyAssigned: every copy is in a member's assignment.
	GroupFullyAssigned = "FullyAssigned"
	// GroupMembersAvailable: every member of the generation is available.
	GroupMembersAvailable = "MembersAvailable"
	// NamesUnique is a condition of groups and members: no two live processes use one static name.
	NamesUnique = "NamesUnique"
	// GroupProtocolAgreed (Leader mode): a protocol that every member supports was chosen.
	GroupProtocolAgreed = "ProtocolAgreed"
)

// RebalanceReason is a cause of a round.
type RebalanceReason string

// Causes of a round, as recorded in the plan and in lastRebalance.
const (
	RebalanceMemberJoined      RebalanceReason = "MemberJoined"
	RebalanceMemberLeft        RebalanceReason = "MemberLeft"
	RebalanceSessionExpired    RebalanceReason = "SessionExpired"
	RebalanceMemberChanged     RebalanceReason = "MemberChanged"
	RebalanceMemberReturned    RebalanceReason = "MemberReturned"
	RebalanceMemberUnavailable RebalanceReason = "MemberUnavailable"
	RebalanceTopicsChanged     RebalanceReason = "TopicsChanged"
	RebalanceForced            RebalanceReason = "Forced"
	RebalancePlanLost          RebalanceReason = "PlanLost"
	RebalanceSyncError         RebalanceReason = "SyncError"
	RebalanceLeaderLost        RebalanceReason = "LeaderLost"
	RebalanceLeaderTimeout     RebalanceReason = "LeaderTimeout"
)

// SyncErrors counts errors in sync in a row (Leader mode).
type SyncErrors struct {
	// Count of generations in a row that ended in an error.
	Count int32 `json:"count"`
	// Generation whose error was counted last; an error counts once in its generation.
	Generation int64 `json:"generation"`
}

// RebalanceStatus is the open round.
type RebalanceStatus struct {
	// Reason or reasons of the round, each with names.
	// +kubebuilder:validation:MaxLength=4096
	Reason string `json:"reason"`
	// StartTime is when the round was opened.
	StartTime metav1.MicroTime `json:"startTime"`
	// Deadline is when the round commits at the latest.
	Deadline metav1.MicroTime `json:"deadline"`
	// Errors in sync in a row (Leader mode).
	// +optional
	Errors *SyncErrors `json:"errors,omitempty"`
	// PassedOver are the members that may not lead the generation this round forms (Leader mode).
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=253
	// +listType=atomic
	// +optional
	PassedOver []string `json:"passedOver,omitempty"`
}

// LastRebalance is what the newest plan did.
type LastRebalance struct {
	// Generation the round made.
	Generation int64 `json:"generation"`
	// Plan is the UID of that generation's plan. Where the plan of that generation is another object, the one that was
	// carried out has been deleted, and its name was taken again.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Plan string `json:"plan,omitempty"`
	// Reason or reasons, each with names.
	// +kubebuilder:validation:MaxLength=4096
	Reason string `json:"reason"`
	// StartTime is when the round was opened.
	StartTime metav1.MicroTime `json:"startTime"`
	// CompletionTime is when the group became Stable.
	// +optional
	CompletionTime *metav1.MicroTime `json:"completionTime,omitempty"`
	// Moved is the number of copies that the plan takes from one member for another.
	Moved int64 `json:"moved"`
}

// RebalanceRequestOutcome is what became of a forced rebalance.
// +kubebuilder:validation:Enum=Accepted;Rejected
type RebalanceRequestOutcome string

const (
	// RequestAccepted: a round was opened for it.
	RequestAccepted RebalanceRequestOutcome = "Accepted"
	// RequestRejected: nothing was done; the reason says why.
	RequestRejected RebalanceRequestOutcome = "Rejected"
)

// RebalanceRequestStatus is the outcome of the last forced rebalance.
type RebalanceRequestStatus struct {
	// Token as given in the annotation rollcall.dev/rebalance.
	// +kubebuilder:validation:MaxLength=1024
	Token string `json:"token"`
	// Outcome: Accepted or Rejected.
	Outcome RebalanceRequestOutcome `json:"outcome"`
	// Reason: Accepted, InvalidState, NotAuthorized, UnsupportedVersion.
	// +kubebuilder:validation:MaxLength=63
	Reason string `json:"reason"`
	// Message a person can act on.
	// +kubebuilder:validation:MaxLength=1024
	// +optional
	Message string `json:"message,omitempty"`
}

// ConsumerGroupStatus is the coordinator's account of the group.
type ConsumerGroupStatus struct {
	// ObservedGeneration is the metadata.generation that this status was decided from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// State of the group.
	// +optional
	State GroupState `json:"state,omitempty"`
	// Generation of the group: grows by one each time a round completes with members, never decreases.
	// +optional
	Generation int64 `json:"generation"`
	// TokenBase is added to the generation in fencing tokens, so that they grow on across deletion and re-creation.
	// +optional
	TokenBase int64 `json:"tokenBase,omitempty"`
	// Protocol that was chosen (Leader mode).
	// +optional
	Protocol string `json:"protocol,omitempty"`
	// Leader is the leading member's name, or the memberID of a dynamic one (Leader mode).
	// +optional
	Leader string `json:"leader,omitempty"`
	// Members in the generation.
	// +optional
	Members int32 `json:"members"`
	// AvailableMembers are those of them that are available.
	// +optional
	AvailableMembers int32 `json:"availableMembers"`
	// MemberSummary is "available/members".
	// +optional
	MemberSummary string `json:"memberSummary,omitempty"`
	// Partitions is the number of copies wanted.
	// +optional
	Partitions int32 `json:"partitions"`
	// AssignedPartitions is the number of copies in assignments of the generation's members.
	// +optional
	AssignedPartitions int32 `json:"assignedPartitions"`
	// PartitionSummary is "assigned/wanted".
	// +optional
	PartitionSummary string `json:"partitionSummary,omitempty"`
	// Rebalance is the open round, until its commit.
	// +optional
	Rebalance *RebalanceStatus `json:"rebalance,omitempty"`
	// AvailableSince is when a member of the generation was available again after none had been.
	// +optional
	AvailableSince *metav1.MicroTime `json:"availableSince,omitempty"`
	// LastRebalance is what the newest plan did.
	// +optional
	LastRebalance *LastRebalance `json:"lastRebalance,omitempty"`
	// RebalanceRequest is the outcome of the last forced rebalance.
	// +optional
	RebalanceRequest *RebalanceRequestStatus `json:"rebalanceRequest,omitempty"`
	// Conditions: Ready, FullyAssigned, MembersAvailable, NamesUnique; Leader mode: ProtocolAgreed.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
