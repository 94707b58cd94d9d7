package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AssignmentDocument is a member's assignment as its process reads it, the same on every channel: pod annotation, file,
// agent, library. The order of the keys is part of the format.
// +kubebuilder:object:generate=false
type AssignmentDocument struct {
	Group           string               `json:"group"`
	Member          string               `json:"member"`
	MemberID        string               `json:"memberID"`
	Revision        int64                `json:"revision"`
	TopicPartitions []DocumentPartitions `json:"topicPartitions"`
	Pending         []DocumentPartitions `json:"pending"`
	Revoking        []DocumentPartitions `json:"revoking"`
	// State and Token are the leader's answer (Leader mode).
	State []byte `json:"state,omitempty"`
	Token int64  `json:"token,omitempty"`
	// Truncated: the lists did not fit into a pod's annotations; the GroupMember's status has them.
	Truncated bool `json:"truncated,omitempty"`
	// Unproven: the reader had no word from the control plane for a session (set by the agent).
	Unproven bool `json:"unproven,omitempty"`
	// Published are the revisions not yet acknowledged, and when each was first written (annotation only).
	Published []PublishedRevision `json:"published,omitempty"`
}

// DocumentPartitions are partitions of one topic in an AssignmentDocument.
// +kubebuilder:object:generate=false
type DocumentPartitions struct {
	Topic string `json:"topic"`
	// Of is the topic's partition count, so that hash(key) % of finds a key's partition.
	Of int32 `json:"of"`
	// Copy index; only with replicas > 1.
	Copy       *int32  `json:"copy,omitempty"`
	Partitions []int32 `json:"partitions"`
	// Token that fences these partitions; absent where nothing is held yet.
	Token int64 `json:"token,omitempty"`
}

// PublishedRevision is when a revision was first written to the pod.
// +kubebuilder:object:generate=false
type PublishedRevision struct {
	// UID of the GroupMember; entries of another do not count.
	UID      string           `json:"uid"`
	Revision int64            `json:"revision"`
	At       metav1.MicroTime `json:"at"`
}
