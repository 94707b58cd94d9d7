package e2e_test

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// judge shows the referee of the invariants every version that a group's objects have had, in the order in which they were
// written, and at the end the group at rest.
func (s *sandbox) judge(group string) {
	s.t.Helper()
	s.caughtUp()
	judge, view := referee.New(), referee.View{}
	for _, v := range s.history() {
		if !s.show(&view, v, group) {
			continue
		}
		view.Now = v.seen
		if err := judge.Check(view, v.String()); err != nil {
			s.t.Error(err)
		}
	}
	if err := judge.Rest(view, "the end"); err != nil {
		s.t.Error(err)
	}
}

// show changes the view by one version. It tells whether the version concerns the group.
func (s *sandbox) show(view *referee.View, v version, group string) bool {
	s.t.Helper()
	switch object := v.object.(type) {
	case *v1alpha1.ConsumerGroup:
		if object.Name != group {
			return false
		}
		view.Group = object
		if v.gone {
			view.Group = nil
		}
	case *v1alpha1.GroupMember:
		if object.Spec.Group != group {
			return false
		}
		view.Members = replaced(view.Members, object, v.gone)
	case *appsv1.ControllerRevision:
		if object.Labels[v1alpha1.GroupLabel] != group {
			return false
		}
		view.Plans = slices.DeleteFunc(slices.Clone(view.Plans), func(p *coordinator.Plan) bool { return p.Revision.UID == object.UID })
		if !v.gone {
			view.Plans = append(view.Plans, s.plan(object))
		}
	default:
		return false
	}
	return true
}

// replaced is the list with the object as it is now, or without it. Views that were shown before stay as they were.
func replaced[T client.Object](all []T, object T, gone bool) []T {
	all = slices.DeleteFunc(slices.Clone(all), func(other T) bool { return other.GetUID() == object.GetUID() })
	if !gone {
		all = append(all, object)
	}
	slices.SortFunc(all, func(a, b T) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

func (s *sandbox) plan(revision *appsv1.ControllerRevision) *coordinator.Plan {
	s.t.Helper()
	content, err := coordinator.ParsePlan(revision)
	if err != nil {
		s.t.Fatalf("plan %s: %v", revision.Name, err)
	}
	return &coordinator.Plan{Revision: revision, Content: content}
}
