package explore

import (
	"slices"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// mutations are rules of the hand-over, each broken on purpose: the exploration must find what comes of it.
var mutations = map[string]*mutation{
	"acknowledged by generation": {snapshot: byGeneration},
	"granted before it is free":  {snapshot: nothingRevoking},
	"no touch before another's plan is followed": {snapshot: func(w *world, s *coordinator.Snapshot) {
		seemTouched(w, s, func(*v1alpha1.GroupMember) bool { return true })
	}},
	"no touch after an unknown outcome":  {forgetsUnknown: true},
	"deletion frees at once":             {snapshot: deletedGone},
	"touched for the newest plan only":   {snapshot: touchedForNewest},
	"a plan names by name alone":         {snapshot: namedByName},
	"a newer plan is finished when Down": {snapshot: finishedWhenDown},
	"back under the old token":           {snapshot: leftForgotten},
	"any plan of the generation will do": {snapshot: anyPlan},
}

// byGeneration: a word given in a generation counts for all that is revoked in it.
func byGeneration(w *world, s *coordinator.Snapshot) {
	change(s, func(m *v1alpha1.GroupMember) {
		word := m.Spec.Acknowledged
		for i := range w.procs {
			if p := &w.procs[i]; word != nil && word.MemberID == p.memberID() && p.acknowledged == m.Status.Generation {
				m.Spec.Acknowledged = &v1alpha1.Acknowledged{MemberID: word.MemberID, Revision: m.Status.Revision, Final: word.Final}
			}
		}
	})
}

// change puts changed copies of members into a snapshot.
func change(s *coordinator.Snapshot, edit func(*v1alpha1.GroupMember)) {
	for i, m := range s.Members {
		changed := *m
		edit(&changed)
		s.Members[i] = &changed
	}
}

// nothingRevoking hides all revocations.
func nothingRevoking(_ *world, s *coordinator.Snapshot) {
	change(s, func(m *v1alpha1.GroupMember) { m.Status.Revoking = nil })
}

// seemTouched makes members look as if the leader had touched them.
func seemTouched(w *world, s *coordinator.Snapshot, which func(*v1alpha1.GroupMember) bool) {
	change(s, func(m *v1alpha1.GroupMember) {
		if which(m) {
			annotations := map[string]string{}
			for k, v := range m.Annotations {
				annotations[k] = v
			}
			annotations[v1alpha1.TouchedAnnotation] = coordinator.TouchValue(s.Term, w.generation())
			m.Annotations = annotations
		}
	})
}

// deletedGone hides members that are being deleted.
func deletedGone(_ *world, s *coordinator.Snapshot) {
	s.Members = slices.DeleteFunc(s.Members, func(m *v1alpha1.GroupMember) bool { return m.DeletionTimestamp != nil })
}

// touchedForNewest hides the plan before the newest.
func touchedForNewest(_ *world, s *coordinator.Snapshot) {
	s.Plans = s.Plans[:min(len(s.Plans), 1)]
}

// namedByName makes plans list whatever object has the name now.
func namedByName(_ *world, s *coordinator.Snapshot) {
	for i, p := range s.Plans {
		s.Plans[i] = rewritten(p, func(listed *coordinator.PlanMember) {
			for _, m := range s.Members {
				if m.Name == listed.Object {
					listed.UID = string(m.UID[:8])
				}
			}
		})
	}
}

// rewritten is a plan with its list of members changed.
func rewritten(p *coordinator.Plan, edit func(*coordinator.PlanMember)) *coordinator.Plan {
	content := *p.Content
	content.Members = slices.Clone(content.Members)
	for i := range content.Members {
		edit(&content.Members[i])
	}
	return &coordinator.Plan{Revision: p.Revision, Content: &content}
}

// finishedWhenDown: a plan that the group has not followed names nobody when the group is Down.
func finishedWhenDown(_ *world, s *coordinator.Snapshot) {
	if s.Group == nil || s.Group.Status.State != v1alpha1.GroupDown {
		return
	}
	for i, p := range s.Plans {
		if p.Generation() > s.Group.Status.Generation {
			s.Plans[i] = rewritten(p, func(listed *coordinator.PlanMember) { listed.UID = "nobody" })
		}
	}
}

// leftForgotten: who is back is taken for one that has never left, and its last token is not remembered.
func leftForgotten(_ *world, s *coordinator.Snapshot) {
	change(s, func(m *v1alpha1.GroupMember) {
		if m.Status.State == v1alpha1.MemberPending {
			m.Status.Left, m.Status.LastToken = nil, 0
		}
	})
}

// anyPlan: the group does not know which plan of its generation it followed.
func anyPlan(_ *world, s *coordinator.Snapshot) {
	if s.Group == nil || s.Group.Status.LastRebalance == nil {
		return
	}
	changed, last := *s.Group, *s.Group.Status.LastRebalance
	last.Plan = ""
	changed.Status.LastRebalance = &last
	s.Group = &changed
}
