package explore

import (
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// kind of a member, by how it heartbeats and acknowledges.
type kind int

const (
	// registered itself: heartbeats by a Lease, acknowledges itself.
	registered kind = iota
	// agent: a pod whose process acknowledges itself.
	agent
	// reader of an annotation: a pod that cannot acknowledge.
	reader
)

func (k kind) String() string { return [...]string{"registered", "agent", "reader"}[k] }

// setup is what stays the same during an exploration.
type setup struct {
	policy     v1alpha1.HandoverPolicy
	kinds      map[string]kind // of each member name that may ever join
	initial    []string        // who is in the Stable group that the exploration begins with
	partitions int32
	replicas   int32 // 0 is 1
	// script is what happens first, in this order; then up to events in all happen from the vocabulary.
	script     []event
	vocabulary []event
	events     int
	faults     int
	// only these kinds of faults; nil: all.
	only []stepKind
	// ties: an assignor that breaks ties differently at every call.
	ties bool
	// fine: every step is taken by itself, and the writes of a batch in any order, however many faults there may be.
	fine bool
	// together: steps that show nothing one by one are taken together, those that can wait wait.
	together bool
	mutation *mutation
	memo     *memo
}

// coarse: with two faults steps are taken together that one fault and none take one by one. The first write of a decision
// follows at once (what comes in between is like a stale read, which is a fault of its own), and who has stopped
// what was revoked says so at once.
func (s *setup) coarse() bool { return s.faults > 1 && !s.fine }

// Timings are all different, so that deadlines do not meet by chance.
const (
	sessionTimeout     = 9 * time.Second
	replacementTimeout = 15 * time.Second
	rebalanceTimeout   = 20 * time.Second
	initialDelay       = 1 * time.Second
	gracePeriod        = 2 * time.Second
	// stopMargin is how long before the end of its session a process under Exclusive stops by its own clock.
	stopMargin = time.Second
	// forgotten is more than any timeout: what is longer ago is all the same.
	forgotten = rebalanceTimeout
)

var (
	beginning = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	config    = coordinator.Config{SessionMin: 6 * time.Second, SessionMax: 30 * time.Minute, ServeSelfRegistered: true}
	workload  = coordinator.Workload{Kind: "StatefulSet", Name: "w"}
)

const (
	namespace = "default"
	groupName = "g"
	topicName = "t"
)

func objectName(member string) string { return groupName + "." + member }

// mutation puts a fault into the rules, from outside: it changes what the coordinator is told, what comes of its
// decision, or what a process answers.
type mutation struct {
	// snapshot changes what Decide is given; objects must be copied before they are changed.
	snapshot func(w *world, s *coordinator.Snapshot)
	// forgetsUnknown: a write of unknown outcome is taken as one that failed.
	forgetsUnknown bool
}
