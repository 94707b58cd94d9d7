package referee

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// Referee follows one group name, and what it remembers of it.
type Referee struct {
	last    View
	copies  table[Copy, custody]
	members table[types.UID, record]
	// group is the life of the group that generations and plans below belong to.
	group      types.UID
	generation int64
	// plans seen in this life, newest first, the newest three.
	plans []*coordinator.Plan
	// freed are the generations of this life whose plans were deleted.
	freed []int64
	// exclusive is remembered for processes that outlive the group.
	exclusive bool
}

// custody is the history of one copy.
type custody struct {
	// token, uid and memberID of the last grant or takeover; held while it stands in an assignment.
	token    int64
	uid      types.UID
	memberID string
	held     bool
	// seen is the greatest token that a process has shown to a store, by that process.
	seen int64
	by   string
}

// record is what a member's object has been.
type record struct {
	incarnation string
	// former incarnations, which must not come back.
	former []string
	// left is the greatest generation at which it has left.
	left int64
}

// New knows nothing yet.
func New() *Referee {
	return &Referee{
		copies:  table[Copy, custody]{compare: Copy.compare},
		members: table[types.UID, record]{compare: cmp.Compare[types.UID]},
	}
}

// Clone can go its own way from here.
func (r *Referee) Clone() *Referee {
	clone := *r
	clone.copies, clone.members = r.copies.clone(), r.members.clone()
	return &clone
}

// Check looks at the world after one step, which it names in its messages. It must see every single write; steps that
// write nothing (a process that reads, time that passes) are welcome.
// The error joins all violations, each a *Violation.
func (r *Referee) Check(v View, step string) error {
	verdict := &verdict{}
	if r.objectsChanged(v) {
		r.newLife(v)
		r.checkMembers(v, verdict)
		r.checkHolders(v, verdict)
		r.checkReleased(v, verdict)
		r.checkTokens(v, verdict)
		r.checkGenerations(v, verdict)
		r.checkLeader(v, verdict)
		r.last = v
		r.last.Members, r.last.Plans = slices.Clone(v.Members), slices.Clone(v.Plans)
	}
	r.checkProcesses(v, verdict)
	return verdict.err(step)
}

// objectsChanged: objects are never changed in place, so comparing pointers is enough to spare the work.
func (r *Referee) objectsChanged(v View) bool {
	return v.Group != r.last.Group || !slices.Equal(v.Members, r.last.Members) || !slices.Equal(v.Plans, r.last.Plans)
}

// newLife forgets what belongs to one life of the group. Tokens and members are remembered across lives.
func (r *Referee) newLife(v View) {
	if v.Group == nil || v.Group.UID == r.group {
		return
	}
	r.group, r.generation, r.plans, r.freed = v.Group.UID, 0, nil, nil
	r.exclusive = v.Group.Spec.Handover.Policy == v1alpha1.HandoverExclusive
}

// lastMember is an object as it was at the last look.
func (r *Referee) lastMember(uid types.UID) *v1alpha1.GroupMember {
	for _, m := range r.last.Members {
		if m.UID == uid {
			return m
		}
	}
	return nil
}

// verdict collects violations.
type verdict struct{ found []error }

func (v *verdict) broken(invariant int, format string, args ...any) {
	v.found = append(v.found, &Violation{Invariant: invariant, What: fmt.Sprintf(format, args...)})
}

func (v *verdict) err(step string) error {
	if len(v.found) == 0 {
		return nil
	}
	return fmt.Errorf("after %s: %w", step, errors.Join(v.found...))
}
