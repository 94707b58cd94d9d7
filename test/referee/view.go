package referee

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// View is the world at one instant. The referee keeps its objects: they must not be changed in place afterwards.
type View struct {
	// Group is nil while there is none.
	Group *v1alpha1.ConsumerGroup
	// Plans that are stored, in any order, with their contents.
	Plans []*coordinator.Plan
	// Members that name the group, in any order.
	Members []*v1alpha1.GroupMember
	// Processes that are at work, and on what.
	Processes []Process
	// Now by the operator's clock.
	Now time.Time
}

// Process is one running process. A process that is frozen, or has stopped, works on nothing.
type Process struct {
	// Name tells it from every other process of the test; a restarted process has another one.
	Name string
	// Group is the UID of the group whose answer it works by: processes of a former life of the group are not counted
	// against those of this one.
	Group types.UID
	// Works is what it works on now.
	Works []Work
}

// Work is one copy of a partition that a process works on, and the token that it shows to stores.
type Work struct {
	Copy  Copy
	Token int64
}

// Copy is one copy of one partition.
type Copy struct {
	Topic            string
	Index, Partition int32
}

func (c Copy) compare(o Copy) int {
	return cmp.Or(cmp.Compare(c.Topic, o.Topic), cmp.Compare(c.Index, o.Index), cmp.Compare(c.Partition, o.Partition))
}

// String is "orders:3", or "orders:3#1" for a copy index above 0.
func (c Copy) String() string {
	if c.Index == 0 {
		return fmt.Sprintf("%s:%d", c.Topic, c.Partition)
	}
	return fmt.Sprintf("%s:%d#%d", c.Topic, c.Partition, c.Index)
}

// Violation is one invariant that does not hold.
type Violation struct {
	Invariant int
	What      string
}

// Error begins with the invariant's number.
func (v *Violation) Error() string { return fmt.Sprintf("invariant %d: %s", v.Invariant, v.What) }

// Held lists the copies of some entries.
func Held(entries []v1alpha1.TopicPartitions) []Work {
	var held []Work
	eachCopy(entries, func(c Copy, token int64) { held = append(held, Work{Copy: c, Token: token}) })
	return held
}

func eachCopy(entries []v1alpha1.TopicPartitions, visit func(Copy, int64)) {
	for i := range entries {
		for _, partition := range entries[i].Partitions {
			visit(Copy{Topic: entries[i].Topic, Index: entries[i].Copy, Partition: partition}, entries[i].Token)
		}
	}
}

func assigned(m *v1alpha1.GroupMember) []v1alpha1.TopicPartitions {
	if m.Status.Assignment == nil {
		return nil
	}
	return m.Status.Assignment.TopicPartitions
}

// acknowledged: the memberID of a revocation has said that it has stopped what was revoked.
func acknowledged(m *v1alpha1.GroupMember, r *v1alpha1.Revocation) bool {
	word := m.Spec.Acknowledged
	return word != nil && word.MemberID == r.MemberID && (word.Final || word.Revision >= r.Revision)
}
