package coordinator

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/assignor"
)

// Snapshot is everything that one decision looks at: the objects of one group and the time.
type Snapshot struct {
	// Group is the ConsumerGroup, nil when it is gone; Decide does not change it.
	Group *v1alpha1.ConsumerGroup
	// Plans of the group, newest first. The newest two carry their contents; of the rest name and UID suffice.
	Plans []*Plan
	// Members of the group in any order: every GroupMember whose spec.group names it.
	Members []*v1alpha1.GroupMember
	// Declared are the replicas of each of the group's workloads.
	Declared map[Workload]int32
	// LastSeen is each Lease member's session, by object name of the GroupMember.
	LastSeen map[string]Session
	// Rivals are the pods that bear the name of a member that registered itself, by the object name of that GroupMember.
	Rivals map[string]Rival
	// Live says what was read live, past any cache, for this very snapshot.
	Live Live
	// Config of the manager.
	Config Config
	// Term of this process.
	Term Term
	// Now by the coordinator's clock, in microseconds.
	Now time.Time
}

// Workload names a StatefulSet or Deployment of the group's namespace.
type Workload struct {
	Kind, Name string
}

// Session is what is known of a Lease member's heartbeat.
type Session struct {
	// Holder is the memberID that holds the Lease; empty when it was released.
	Holder string
	// RenewTime as it stands in the Lease: compared for equality only, it is another clock's.
	RenewTime metav1.MicroTime
	// LeaseDuration is the session timeout its holder goes by.
	LeaseDuration time.Duration
	// Seen is when this renewal was first seen by the coordinator's clock (by a fresh process: its start), outages taken out.
	Seen time.Time
	// Former is when the last renewal of the holder before this one was seen; zero when there was none.
	Former time.Time
	// FormerDuration is the session timeout that the holder before this one went by; zero when there was none.
	FormerDuration time.Duration
}

// Live is a set of things to read, or that were read, past the cache.
type Live struct {
	// Plans: the list of the group's plans.
	Plans bool
	// Members by object name: the GroupMember and its Lease, or its pod.
	Members map[string]bool
}

// Empty says that nothing is in the set.
func (l Live) Empty() bool { return !l.Plans && len(l.Members) == 0 }

// Config is what the manager's flags say.
type Config struct {
	// SessionMin and SessionMax bound session timeouts, inclusive.
	SessionMin, SessionMax time.Duration
	// NoForcedRebalance: the manager runs without forced rebalances.
	NoForcedRebalance bool
	// ServeSelfRegistered: this coordinator sees Leases, so it can serve members that registered themselves.
	ServeSelfRegistered bool
	// NoStaticMembership: the names of members that register themselves are ignored.
	NoStaticMembership bool
	// Assign finds an assignor by its name in the API; nil means assignor.ByName.
	Assign func(name string) (assignor.Assignor, bool)
}

// Term is the identity of one start of a coordinator, with a counter of its touches.
type Term struct {
	ID      string
	Counter int64
}

// Decision is what Decide wants done. When Need is not empty, nothing else is set: the hands read that live, put it into
// the snapshot and ask again. When there are Batches, the hands carry them out in order and ask again. Otherwise
// nothing is to be done until WakeAt.
type Decision struct {
	Need    Live
	Batches []Batch
	// WakeAt is the earliest deadline, strictly after the snapshot's Now; zero when nothing is due.
	WakeAt time.Time
}

// Batch is a set of writes that may be sent in any order, each safe alone. A batch begins when the one before it has
// succeeded whole. An object is written at most once in a Decision.
type Batch struct {
	Phase  Phase
	Writes []Write
}

// Phase names a batch, in the order in which batches are carried out.
type Phase string

// The phases of a decision.
const (
	PhaseFacts   Phase = "facts"
	PhaseTouches Phase = "touches"
	PhasePlan    Phase = "plan"
	PhaseGroup   Phase = "group"
	PhaseMembers Phase = "members"
	PhaseGrants  Phase = "grants"
	PhaseFinish  Phase = "finish"
)

// Verb of a write.
type Verb string

// Verbs. Update changes metadata or spec, UpdateStatus the status alone.
const (
	Create       Verb = "create"
	Update       Verb = "update"
	UpdateStatus Verb = "update status"
	Delete       Verb = "delete"
)

// Object is any object that is written.
type Object interface {
	metav1.Object
	runtime.Object
}

// Write is one write, locked by the resourceVersion of Old (a delete by its UID too).
type Write struct {
	Verb Verb
	// Old is the object that was decided from; nil for a create.
	Old Object
	// New is the object as it is to be; nil for a delete.
	New Object
	// Events to send when the write has succeeded.
	Events []Event
}

// Event tells a person of a change.
type Event struct {
	// About is the object the event is about.
	About Object
	// Warning: something a person should look at.
	Warning bool
	// Reason in CamelCase.
	Reason string
	// Message for people.
	Message string
}
