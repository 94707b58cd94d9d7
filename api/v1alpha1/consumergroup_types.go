package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AssignedBy says who computes the assignment.
// +kubebuilder:validation:Enum=Coordinator;Leader
type AssignedBy string

const (
	// AssignedByCoordinator: the coordinator computes the assignment with the group's assignor.
	AssignedByCoordinator AssignedBy = "Coordinator"
	// AssignedByLeader: the elected member computes it.
	AssignedByLeader AssignedBy = "Leader"
)

// ZonePolicy says what the assignor does about zones.
// +kubebuilder:validation:Enum=Ignore;Prefer;Spread
type ZonePolicy string

const (
	// ZoneIgnore: zones play no part.
	ZoneIgnore ZonePolicy = "Ignore"
	// ZonePrefer: members in a partition's home zone are preferred.
	ZonePrefer ZonePolicy = "Prefer"
	// ZoneSpread: copies of a partition go to different zones.
	ZoneSpread ZonePolicy = "Spread"
)

// HandoverPolicy says what may end a revocation.
// +kubebuilder:validation:Enum=Available;Exclusive
type HandoverPolicy string

const (
	// HandoverAvailable: a revocation also ends by time; the fencing token stops an owner that did not.
	HandoverAvailable HandoverPolicy = "Available"
	// HandoverExclusive: a revocation ends only when the old owner has said so or is known to have stopped.
	HandoverExclusive HandoverPolicy = "Exclusive"
)

// TopicSpec is one topic whose partitions are shared out.
type TopicSpec struct {
	// Name of the topic, in Kafka's character set.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=249
	// +kubebuilder:validation:Pattern=`^[a-zA-Z0-9._-]+$`
	Name string `json:"name"`

	// Partitions is their number. A partition number is an identity: growing adds numbers, shrinking revokes the highest.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Partitions int32 `json:"partitions"`

	// Replicas is how many members hold each partition at once.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// CoPartition: topics with the same value have equal partitions and replicas, and partition i of all of them goes
	// to the same member.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +optional
	CoPartition string `json:"coPartition,omitempty"`

	// Weight is the load of one partition.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	// +optional
	Weight int64 `json:"weight,omitempty"`

	// Zones are home zones: partition i is at home in zones[i mod len].
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +listType=atomic
	// +optional
	Zones []string `json:"zones,omitempty"`
}

// Handover says how a partition changes hands.
type Handover struct {
	// Policy: Available lets time end a revocation, Exclusive only the old owner's word or its end.
	// +kubebuilder:default=Available
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="handover.policy cannot be changed: create a new group with the other policy and move the members to it"
	// +optional
	Policy HandoverPolicy `json:"policy,omitempty"`

	// RevocationGracePeriod is how long a member that cannot acknowledge is given to stop, from the moment its pod was told.
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="revocationGracePeriod must be at most 24h"
	// +optional
	RevocationGracePeriod *metav1.Duration `json:"revocationGracePeriod,omitempty"`
}

// ConsumerGroupSpec says what is shared out, and the group's timings.
// +kubebuilder:validation:XValidation:rule="self.assignedBy != 'Coordinator' || (has(self.topics) && self.topics.size() > 0)",message="topics must name at least one topic when assignedBy is Coordinator"
// +kubebuilder:validation:XValidation:rule="!has(self.topics) || self.topics.map(t, t.partitions * t.replicas).sum() <= 100000",message="the sum of partitions x replicas over all topics must be at most 100000"
// +kubebuilder:validation:XValidation:rule="!has(self.topics) || self.topics.filter(t, has(t.coPartition)).size() <= 150",message="at most 150 topics may set coPartition"
// +kubebuilder:validation:XValidation:rule="!has(self.topics) || self.topics.all(t, !has(t.coPartition) || self.topics.all(u, !has(u.coPartition) || t.coPartition != u.coPartition || (t.partitions == u.partitions && t.replicas == u.replicas)))",message="topics with the same coPartition must have equal partitions and equal replicas: partition i of all of them goes to one member"
// +kubebuilder:validation:XValidation:rule="!has(self.replacementTimeout) || duration(self.replacementTimeout) >= duration(self.sessionTimeout)",message="replacementTimeout must be at least sessionTimeout"
// +kubebuilder:validation:XValidation:rule="self.assignedBy != 'Leader' || !has(self.handover) || self.handover.policy != 'Exclusive'",message="handover.policy Exclusive needs assignedBy Coordinator: with assignedBy Leader the barrier is the hand-over"
type ConsumerGroupSpec struct {
	// ProtocolType, as in JoinGroup.
	// +kubebuilder:default=consumer
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="protocolType cannot be changed: create a new group"
	// +optional
	ProtocolType string `json:"protocolType,omitempty"`

	// Topics are what is shared out.
	// +kubebuilder:validation:MaxItems=400
	// +listType=map
	// +listMapKey=name
	// +optional
	Topics []TopicSpec `json:"topics,omitempty"`

	// AssignedBy says who computes the assignment: the coordinator, or the elected member.
	// +kubebuilder:default=Coordinator
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="assignedBy cannot be changed: create a new group"
	// +optional
	AssignedBy AssignedBy `json:"assignedBy,omitempty"`

	// Assignor computes the assignment when assignedBy is Coordinator.
	// +kubebuilder:default=sticky
	// +kubebuilder:validation:Enum=sticky;range;roundrobin
	// +optional
	Assignor string `json:"assignor,omitempty"`

	// ZonePolicy says what the assignor does about zones.
	// +kubebuilder:default=Ignore
	// +optional
	ZonePolicy ZonePolicy `json:"zonePolicy,omitempty"`

	// SessionTimeout is how long a member may be away. The manager's flags bound it (default 6s to 30m).
	// +kubebuilder:default="45s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s') && duration(self) <= duration('24h')",message="sessionTimeout must be above 0s and at most 24h; the manager takes 6s to 30m unless its flags say otherwise"
	// +optional
	SessionTimeout *metav1.Duration `json:"sessionTimeout,omitempty"`

	// ReplacementTimeout is how long a static pod that was deleted on a healthy node may take to be replaced; not given:
	// the larger of 5m and sessionTimeout.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('24h')",message="replacementTimeout must be at most 24h"
	// +optional
	ReplacementTimeout *metav1.Duration `json:"replacementTimeout,omitempty"`

	// RebalanceTimeout is how long a round waits for members to join, and a revocation for its acknowledgement.
	// +kubebuilder:default="60s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('30m')",message="rebalanceTimeout must be between 1s and 30m"
	// +optional
	RebalanceTimeout *metav1.Duration `json:"rebalanceTimeout,omitempty"`

	// InitialRebalanceDelay is the wait in a Down group for more members; it ends early when every declared replica is present.
	// +kubebuilder:default="3s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('30m')",message="initialRebalanceDelay must be at most 30m"
	// +optional
	InitialRebalanceDelay *metav1.Duration `json:"initialRebalanceDelay,omitempty"`

	// ExpansionTimeout is how long a round caused only by joins waits for the remaining declared replicas, so that N new
	// pods cost one generation.
	// +kubebuilder:default="10s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('30m')",message="expansionTimeout must be at most 30m"
	// +optional
	ExpansionTimeout *metav1.Duration `json:"expansionTimeout,omitempty"`

	// MaxMembers is the size limit; 0 means none.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxMembers int32 `json:"maxMembers,omitempty"`

	// Handover says how a partition changes hands.
	// +kubebuilder:default={}
	// +optional
	Handover Handover `json:"handover,omitempty,omitzero"`

	// Paused: no round is opened or completed and nobody becomes Dead; a hand-over in progress ends.
	// +optional
	Paused bool `json:"paused,omitempty"`
}

// ConsumerGroup is a group of members that share out topics' partitions.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=cg,categories=rollcall
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.state`
// +kubebuilder:printcolumn:name="Generation",type=integer,JSONPath=`.status.generation`
// +kubebuilder:printcolumn:name="Members",type=string,JSONPath=`.status.memberSummary`
// +kubebuilder:printcolumn:name="Partitions",type=string,JSONPath=`.status.partitionSummary`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Leader",type=string,JSONPath=`.status.leader`,priority=1
// +kubebuilder:printcolumn:name="Protocol",type=string,JSONPath=`.status.protocol`,priority=1
// +kubebuilder:printcolumn:name="Assignor",type=string,JSONPath=`.spec.assignor`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="a ConsumerGroup's name must be a DNS label: at most 63 lower-case letters, digits and '-', no dots, since it stands in names of members, plans and annotations"
type ConsumerGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says what is shared out, and the group's timings.
	Spec ConsumerGroupSpec `json:"spec"`
	// Status is the coordinator's account of the group.
	// +optional
	Status ConsumerGroupStatus `json:"status,omitempty,omitzero"`
}

// ConsumerGroupList is a list of ConsumerGroups.
//
// +kubebuilder:object:root=true
type ConsumerGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ConsumerGroup `json:"items"`
}
