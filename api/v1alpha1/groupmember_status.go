package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MemberState is the state of one member.
// +kubebuilder:validation:Enum=Pending;Active;Unavailable;Leaving;Rejected;Dead
type MemberState string

const (
	// MemberPending: asked to join, waits for a round to commit.
	MemberPending MemberState = "Pending"
	// MemberActive: in the generation.
	MemberActive MemberState = "Active"
	// MemberUnavailable: in the generation and away; keeps everything until its deadline.
	MemberUnavailable MemberState = "Unavailable"
	// MemberLeaving: is on its way out.
	MemberLeaving MemberState = "Leaving"
	// MemberRejected: may not join; a condition says why.
	MemberRejected MemberState = "Rejected"
	// MemberDead: its deadline has passed.
	MemberDead MemberState = "Dead"
)

// Conditions of a GroupMember; NamesUnique is shared with groups.
const (
	// MemberJoinedCondition: is in the generation.
	MemberJoinedCondition = "Joined"
	// MemberAssigned: holds what its plan gives it.
	MemberAssigned = "Assigned"
	// MemberSyncAccepted (Leader mode): the sync that it wrote was handed out.
	MemberSyncAccepted = "SyncAccepted"
)

// Reasons of conditions on groups and members.
const (
	ReasonInconsistentGroupProtocol = "InconsistentGroupProtocol"
	ReasonNameTaken                 = "NameTaken"
	ReasonStaticMembershipOff       = "StaticMembershipOff"
	ReasonGroupMaxSizeReached       = "GroupMaxSizeReached"
	ReasonGroupTooLarge             = "GroupTooLarge"
	ReasonInvalidSessionTimeout     = "InvalidSessionTimeout"
	ReasonInvalidRebalanceTimeout   = "InvalidRebalanceTimeout"
	ReasonCannotJoin                = "CannotJoin"
	ReasonMemberIDMismatch          = "MemberIDMismatch"
	ReasonSessionExpired            = "SessionExpired"
	ReasonRebalanceTimeout          = "RebalanceTimeout"
	ReasonIdle                      = "Idle"
	ReasonParked                    = "Parked"
	ReasonPinned                    = "Pinned"
	ReasonNotAcknowledged           = "NotAcknowledged"
	ReasonWaitingForSession         = "WaitingForSession"
	ReasonNotServed                 = "NotServed"
	ReasonTooLarge                  = "TooLarge"
	ReasonUnknownTopics             = "UnknownTopics"
)

// TopicPartitions are partitions of one copy index of a topic, granted under one token.
type TopicPartitions struct {
	// Topic name.
	// +kubebuilder:validation:MaxLength=249
	Topic string `json:"topic"`
	// Copy index, 0 to replicas - 1.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Copy int32 `json:"copy,omitempty"`
	// Partitions, ascending.
	// +listType=atomic
	Partitions []int32 `json:"partitions"`
	// Token that fences these partitions: a store refuses what is smaller than the last it has seen.
	// +optional
	Token int64 `json:"token,omitempty"`
}

// MemberAssignment is what a member may process.
type MemberAssignment struct {
	// TopicPartitions that the member holds.
	// +listType=atomic
	// +optional
	TopicPartitions []TopicPartitions `json:"topicPartitions,omitempty"`
	// State from the leader (Leader mode).
	// +optional
	State []byte `json:"state,omitempty"`
	// Token of the member as a whole (Leader mode).
	// +optional
	Token int64 `json:"token,omitempty"`
	// Sync is the hash of the sync that the state came from (Leader mode).
	// +kubebuilder:validation:MaxLength=64
	// +optional
	Sync string `json:"sync,omitempty"`
}

// Revocation is what was taken away from one memberID and is not yet known to be stopped.
type Revocation struct {
	// MemberID that held it.
	// +kubebuilder:validation:MaxLength=512
	MemberID string `json:"memberID"`
	// Revision of the status that told so.
	Revision int64 `json:"revision"`
	// Since is when it was revoked.
	Since metav1.MicroTime `json:"since"`
	// Until is when the former incarnation's session has ended (self-registered members, set by a takeover).
	// +optional
	Until *metav1.MicroTime `json:"until,omitempty"`
	// TopicPartitions that were taken away, with the token they were held under.
	// +listType=atomic
	TopicPartitions []TopicPartitions `json:"topicPartitions"`
}

// MemberLeft is when a member left: only a later plan can name it again.
type MemberLeft struct {
	// Generation then: the greater of the group's and the newest plan's.
	Generation int64 `json:"generation"`
	// Time by the operator's clock.
	Time metav1.MicroTime `json:"time"`
}

// MemberTakeover is the last takeover of a static name.
type MemberTakeover struct {
	// Time of the takeover.
	Time metav1.MicroTime `json:"time"`
	// Hosts are the last three, newest last.
	// +kubebuilder:validation:MaxItems=3
	// +listType=atomic
	// +optional
	Hosts []string `json:"hosts,omitempty"`
	// Duplicate: two live processes used the name.
	// +optional
	Duplicate bool `json:"duplicate,omitempty"`
}

// UnavailableSession is a Lease member's last renewal, written when it is overdue.
type UnavailableSession struct {
	// Since is the last renewal seen, by the coordinator's clock.
	Since metav1.MicroTime `json:"since"`
	// RenewTime of the Lease then.
	RenewTime metav1.MicroTime `json:"renewTime"`
}

// GroupMemberStatus is the coordinator's answer to a member.
type GroupMemberStatus struct {
	// ObservedGeneration is the metadata.generation that this status was decided from.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// MemberID is "<member or object name>-<incarnation>".
	// +optional
	MemberID string `json:"memberID,omitempty"`
	// Host of that memberID.
	// +optional
	Host string `json:"host,omitempty"`
	// State of the member.
	// +optional
	State MemberState `json:"state,omitempty"`
	// Generation that last changed this member's assignment, or took it in.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// Left is written when it becomes Leaving, Dead or Rejected.
	// +optional
	Left *MemberLeft `json:"left,omitempty"`
	// LastToken is the greatest token that has left this object.
	// +optional
	LastToken int64 `json:"lastToken,omitempty"`
	// AskingSince is when it was first seen asking to join.
	// +optional
	AskingSince *metav1.MicroTime `json:"askingSince,omitempty"`
	// SessionTimeout that its holder is to go by (Lease members).
	// +optional
	SessionTimeout *metav1.Duration `json:"sessionTimeout,omitempty"`
	// Takeover is the last takeover of this name.
	// +optional
	Takeover *MemberTakeover `json:"takeover,omitempty"`
	// Rest is the hash of the rest of its offer at the last takeover (Leader mode).
	// +optional
	Rest string `json:"rest,omitempty"`
	// Revision grows with every write that changes assignment, pending or revoking.
	// +optional
	Revision int64 `json:"revision,omitempty"`
	// Assignment is what it may process.
	// +optional
	Assignment *MemberAssignment `json:"assignment,omitempty"`
	// Pending are copies that its plan gives it and that are not yet free: it may warm up, it must not process.
	// +listType=atomic
	// +optional
	Pending []TopicPartitions `json:"pending,omitempty"`
	// Revoking is what was taken away and is not yet known to be stopped.
	// +listType=atomic
	// +optional
	Revoking []Revocation `json:"revoking,omitempty"`
	// Unavailable is a Lease member's overdue session.
	// +optional
	Unavailable *UnavailableSession `json:"unavailable,omitempty"`
	// AssignedPartitions is the number of copies in assignment.
	// +optional
	AssignedPartitions int32 `json:"assignedPartitions"`
	// Conditions: Joined, Assigned, NamesUnique; Leader mode: SyncAccepted.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
