package presence

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Kinds of workload.
const (
	KindStatefulSet = "StatefulSet"
	KindDeployment  = "Deployment"
)

// Workload names the StatefulSet or Deployment that a decision is about.
type Workload struct {
	Kind, Name string
}

// Snapshot is everything that one decision looks at: one workload, what belongs to it, and the time. Decide changes
// none of it, and the order of its lists does not matter.
type Snapshot struct {
	// Namespace of the workload and of everything else in here but the nodes.
	Namespace string
	// Workload that is looked at, there or not.
	Workload Workload
	// StatefulSet is the workload where its kind is that; nil when it is absent.
	StatefulSet *appsv1.StatefulSet
	// Deployment is the workload where its kind is that; nil when it is absent.
	Deployment *appsv1.Deployment
	// Pods of the workload: those it controls (a Deployment through its ReplicaSets); for a StatefulSet, there or not,
	// also those named NAME-<ordinal> that no other controller owns, since an orphaned pod loses its owner; and any pod
	// whose UID is the incarnation of one of Members. Of a pod's spec the node's name and the containers' names are read,
	// init containers included.
	Pods []*corev1.Pod
	// Nodes by name: those of Pods, and those that the hosts of Members name, since how a pod that is gone has ended is
	// judged by its node. One that is not in it has no Node object.
	Nodes map[string]*corev1.Node
	// Groups by name: those that the workload's annotation and Members name. One that is not in it does not exist.
	Groups map[string]*v1alpha1.ConsumerGroup
	// Members are every GroupMember of this workload, and every other one of the groups that its annotation names;
	// those others are looked at for their names only, and never touched.
	Members []*v1alpha1.GroupMember
	// Sights is what the last decision about this workload returned; empty after a start.
	Sights Sights
	// Live says what was read live, past any cache, for this very snapshot.
	Live Live
	// Config of the manager.
	Config Config
	// Now by the operator's clock.
	Now time.Time
}

// Live is a set of things to read, or that were read, past the cache.
type Live struct {
	// Workload: the StatefulSet or Deployment.
	Workload bool
	// Groups by name.
	Groups map[string]bool
	// Nodes by name.
	Nodes map[string]bool
}

// Empty says that nothing is in the set.
func (l Live) Empty() bool { return !l.Workload && len(l.Groups) == 0 && len(l.Nodes) == 0 }

// Config is what the manager's flags say.
type Config struct {
	// NoStaticMembership: names are ignored, everyone who joins is dynamic.
	NoStaticMembership bool
	// SessionMin and SessionMax bound session timeouts, inclusive; zero means no bound.
	SessionMin, SessionMax time.Duration
}

// Sights is what only memory knows, by the object name of the GroupMember. Losing it lengthens a wait, nothing else.
type Sights map[string]Sight

// Sight is what was seen of one member's pod and does not stand in the member's object yet.
type Sight struct {
	// Incarnation of the member then; what was seen of another incarnation does not count.
	Incarnation string
	// Away is when an absence was first seen, and Reason why; zero when none is waiting to be written.
	Away   time.Time
	Reason string
	// Stopped is when the pod was first seen stopped or gone; zero when that is not waiting to be written.
	Stopped time.Time
	// Deleting: the pod was seen being deleted while its node was Ready.
	Deleting bool
}

// Decision is what Decide wants done. When Need is not empty, nothing else is set: the hands read that live, put it into
// the snapshot and ask again. The writes are of different objects and may be sent in any order; after them the
// hands ask again with a fresh snapshot.
type Decision struct {
	Need Live
	// Creates are whole objects.
	Creates []*v1alpha1.GroupMember
	// Updates change a member's spec, locked by the resourceVersion of Old.
	Updates []Update
	// Deletes are members whose group is gone, locked by resourceVersion and UID.
	Deletes []*v1alpha1.GroupMember
	// Events that hold at present. They are returned as long as their cause stands: the hands send one when its key
	// was not among those of the decision before.
	Events []Event
	// Sights to hand in with the next snapshot, in place of those of this one.
	Sights Sights
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
