package coordinator

import (
	"fmt"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// A predecessor may be frozen with a grant in flight. A touch changes the object that such a grant would be written to,
// so that it fails. It can only be on its way to a member to which the newest plan or the one before it still owes a
// copy. Touched are these, before this process creates a plan after another's or makes its first grant of one.

// touches still to be made. None is needed after a plan of this process: they were made before it.
func (v *view) touches() []Write {
	if v.plan != nil && v.plan.Term == v.Term.ID {
		return nil
	}
	var writes []Write
	for _, m := range v.members {
		if (v.planLost || v.owed(v.plan, m) || v.owed(v.before, m)) && !v.touched(m) {
			writes = append(writes, v.touch(m))
		}
	}
	return writes
}

// owed: the plan gives the object a copy that is not in its assignment.
func (v *view) owed(plan *PlanContent, m *member) bool {
	if plan == nil {
		return false
	}
	position := plan.position(m.GroupMember)
	if position == nobody {
		return false
	}
	var had int32
	for _, tp := range assignmentOf(m) {
		for _, p := range tp.Partitions {
			if plan.at(tp.Topic, tp.Copy, p) == position {
				had++
			}
		}
	}
	return had < plan.shares[position]
}

func (v *view) touchPrefix() string { return fmt.Sprintf("%s/%d/", v.Term.ID, v.generation) }

func (v *view) touched(m *member) bool {
	return strings.HasPrefix(m.Annotations[v1alpha1.TouchedAnnotation], v.touchPrefix())
}

func (v *view) touch(m *member) Write {
	next := m.DeepCopy()
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[v1alpha1.TouchedAnnotation] = TouchValue(v.Term, v.generation)
	return Write{Verb: Update, Old: m.GroupMember, New: next}
}

// TouchValue is the value of the annotation by which an object is touched.
func TouchValue(term Term, generation int64) string {
	return fmt.Sprintf("%s/%d/%d", term.ID, generation, term.Counter)
}
