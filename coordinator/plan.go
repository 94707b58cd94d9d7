package coordinator

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Plan is one generation: who is in it, and who gets what. It is stored as a ControllerRevision, and creating that
// object is the commit of a round: exactly one coordinator can create a group's next generation. A plan never changes.
type Plan struct {
	// Revision is the stored object.
	Revision *appsv1.ControllerRevision
	// Content is what it says; nil where only its name and UID are known.
	Content *PlanContent
}

// PlanContent is what a plan says.
type PlanContent struct {
	Generation int64
	Reasons    []Cause
	StartTime  time.Time
	Moved      int64
	Term       string
	Inputs     string
	Forced     string
	Members    []PlanMember
	// Target[topic][copy][partition] is a position in Members, or -1.
	Target map[string][][]int32
	// Short are positions of listed members that were away and got less than their share.
	Short []int32
}

// PlanMember is a member that a plan lists.
type PlanMember struct {
	// Object is the GroupMember's name, UID the first eight characters of its UID.
	Object, UID string
	// Name is what people call it.
	Name string
	// Incarnation, Offer and Rest as they were at the commit.
	Incarnation, Offer, Rest string
}

// Cause is why a round was opened, with the names it concerns.
type Cause struct {
	Reason v1alpha1.RebalanceReason `json:"reason"`
	Names  []string                 `json:"names,omitempty"`
}

// Generation of the plan, as its object says it.
func (p *Plan) Generation() int64 { return p.Revision.Revision }
