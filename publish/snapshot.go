package publish

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Snapshot is everything that one decision looks at: one pod, its members (one a group) and the time. Decide changes none
// of it, and the order of its lists does not matter.
type Snapshot struct {
	// Pod that is written to; nil when it is gone. Of its spec the field paths of the downward API are read.
	Pod *corev1.Pod
	// Members are the workload members whose spec.incarnation is the pod's UID.
	Members []*v1alpha1.GroupMember
	// Groups of Members, by name.
	Groups map[string]*v1alpha1.ConsumerGroup
	// Now by the operator's clock.
	Now time.Time
}

// Decision is what Decide wants done. The patch of the pod and the updates may be sent in any order; after them the
// hands ask again with a fresh snapshot.
type Decision struct {
	// Annotations to set on the pod by key, locked by its UID and resourceVersion; nil removes the key.
	Annotations map[string]*string
	// Updates set acknowledged in a member's spec, locked by the resourceVersion of Old.
	Updates []Update
	// Truncated names the groups whose document does not fit into the pod's annotations.
	Truncated []string
	// Events that hold at present. They are returned as long as their cause stands: the hands send one when its key
	// was not among those of the decision before.
	Events []Event
	// WakeAt is the earliest instant at which the decision changes by itself, strictly after Now; zero when there is none.
	WakeAt time.Time
}

// Update is a change of one member.
type Update struct {
	Old, New *v1alpha1.GroupMember
}

// Object is any object that an event may be about.
type Object interface {
	metav1.Object
	runtime.Object
}

// Event tells a person of something that stands.
type Event struct {
	// Key is the same for as long as the same thing is wrong with the same object.
	Key string
	// About is the object the event is about.
	About Object
	// Warning: something a person should look at.
	Warning bool
	// Reason in CamelCase.
	Reason string
	// Message a person can act on.
	Message string
}
