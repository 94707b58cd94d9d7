package referee

import (
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// remembered is how many plans of a life are kept: a late one is judged by its predecessor.
const remembered = 3

// checkGenerations: one generation is one plan, and the group follows it.
func (r *Referee) checkGenerations(v View, verdict *verdict) {
	if v.Group == nil {
		return
	}
	next := r.nextGeneration(v)
	r.noteFreed(v)
	for _, p := range v.Plans {
		if planOf(p, v.Group) && !r.knows(p) {
			r.checkPlan(v, p, next, verdict)
			r.remember(p)
		}
	}
	generation := v.Group.Status.Generation
	switch {
	case generation < r.generation:
		verdict.broken(2, "the group went from generation %d back to %d", r.generation, generation)
	case generation > r.generation && !r.planned(generation):
		verdict.broken(2, "the group is at generation %d, for which there was no plan", generation)
	}
	r.checkFollowed(v, verdict)
	r.generation = max(r.generation, generation)
}

// checkFollowed: the group follows plans that were stored, and one of each generation.
func (r *Referee) checkFollowed(v View, verdict *verdict) {
	is, before := v.Group.Status.LastRebalance, r.last.Group
	if is == nil || is.Plan == "" || before == nil || before.UID != v.Group.UID {
		return
	}
	var was v1alpha1.LastRebalance
	if before.Status.LastRebalance != nil {
		was = *before.Status.LastRebalance
	}
	switch {
	case was.Plan == is.Plan:
	case was.Plan != "" && was.Generation == is.Generation:
		verdict.broken(2, "in generation %d the group followed plan %s, and now %s", is.Generation, was.Plan, is.Plan)
	case !slices.ContainsFunc(r.plans, func(p *coordinator.Plan) bool { return string(p.Revision.UID) == is.Plan }):
		verdict.broken(2, "the group follows plan %s of generation %d, which there never was", is.Plan, is.Generation)
	}
}

// planOf: plans of a former life of the group have its UID in their names.
func planOf(p *coordinator.Plan, group *v1alpha1.ConsumerGroup) bool {
	return p.Content != nil && strings.HasPrefix(p.Revision.Name, group.Name+"-"+short(group.UID)+"-")
}

// nextGeneration is the greatest that a plan may have: one above all that the objects knew, or were when a plan was not yet
// deleted by hand.
func (r *Referee) nextGeneration(v View) int64 {
	next := r.generation
	for _, p := range slices.Concat(r.last.Plans, r.plans) {
		if planOf(p, v.Group) {
			next = max(next, p.Generation())
		}
	}
	for _, m := range r.last.Members {
		if m.Status.Left != nil {
			next = max(next, m.Status.Left.Generation)
		}
	}
	return next + 1
}

func (r *Referee) knows(p *coordinator.Plan) bool {
	return slices.ContainsFunc(r.plans, func(known *coordinator.Plan) bool { return known.Revision.UID == p.Revision.UID }) ||
		slices.ContainsFunc(r.last.Plans, func(known *coordinator.Plan) bool { return known.Revision.UID == p.Revision.UID })
}

func (r *Referee) planned(generation int64) bool {
	return slices.ContainsFunc(r.plans, func(p *coordinator.Plan) bool { return p.Generation() == generation })
}

// remember keeps the newest first; of two of one generation (the first was deleted by hand) the later one first.
func (r *Referee) remember(p *coordinator.Plan) {
	r.plans = append([]*coordinator.Plan{p}, r.plans...)
	slices.SortStableFunc(r.plans, func(a, b *coordinator.Plan) int { return int(b.Generation() - a.Generation()) })
	r.plans = r.plans[:min(len(r.plans), remembered)]
}

func (r *Referee) checkPlan(v View, p *coordinator.Plan, next int64, verdict *verdict) {
	generation := p.Generation()
	if p.Content.Generation != generation {
		verdict.broken(2, "plan %s says generation %d", p.Revision.Name, p.Content.Generation)
	}
	if generation <= r.generation && !r.nameWasFreed(generation) || generation > next {
		verdict.broken(2, "plan %s came when the group was at generation %d and the next was %d", p.Revision.Name, r.generation, next)
	}
	for _, other := range v.Plans {
		if other.Revision.UID != p.Revision.UID && planOf(other, v.Group) && other.Generation() == generation {
			verdict.broken(2, "two plans of generation %d: %s and %s", generation, p.Revision.Name, other.Revision.Name)
		}
	}
	checkTarget(p, verdict)
	checkProtocol(v, p, verdict)
	r.checkReasons(v, p, verdict)
}

// noteFreed remembers the generations whose plans are no longer stored: deleted by hand, or the oldest by the coordinator.
func (r *Referee) noteFreed(v View) {
	for _, p := range r.last.Plans {
		if planOf(p, v.Group) && !stored(v, p) && !r.nameWasFreed(p.Generation()) {
			r.freed = append(slices.Clone(r.freed), p.Generation())
		}
	}
}

// nameWasFreed: there was a plan of that generation, and it was deleted.
//
// Why a plan may then come for a generation that the group has reached: its name is all that keeps two coordinators from
// creating the same generation, and that is free again. A creation that was sent before can be on its way for ever, so
// nothing that the coordinator does can keep it from landing; what can be asked is that it changes nothing. The group was
// or is at that generation by the plan that was deleted: no generation is spent by the late one, and checkFollowed holds
// the group to the one plan it followed, or to none if it followed none before it went on to the next. Whoever is given
// anything by the late one shows in checkTokens, since the tokens of a generation are spent. A plan that the group has not
// reached needs no tolerance: there a freed name is a commit like any other.
func (r *Referee) nameWasFreed(generation int64) bool { return slices.Contains(r.freed, generation) }

// checkTarget: a plan gives nobody two copies of one partition.
func checkTarget(p *coordinator.Plan, verdict *verdict) {
	for topic, copies := range p.Content.Target {
		gainers := map[[2]int32]bool{}
		for index, row := range copies {
			for partition, position := range row {
				if position < 0 {
					continue
				}
				key := [2]int32{int32(partition), position}
				if gainers[key] {
					verdict.broken(1, "plan %s gives %s two copies of %s:%d (index %d is the second)",
						p.Revision.Name, p.Content.Members[position].Object, topic, partition, index)
				}
				gainers[key] = true
			}
		}
	}
}

// checkProtocol: whom a plan lists supports its protocol, as far as the object is still what the plan saw.
func checkProtocol(v View, p *coordinator.Plan, verdict *verdict) {
	if p.Content.Protocol == "" {
		return
	}
	for i := range p.Content.Members {
		listed := &p.Content.Members[i]
		for _, m := range v.Members {
			if m.Name == listed.Object && m.Spec.Incarnation == listed.Incarnation && !supports(m, p.Content.Protocol) {
				verdict.broken(6, "plan %s chose %q, which %s does not support", p.Revision.Name, p.Content.Protocol, m.Name)
			}
		}
	}
}

func supports(m *v1alpha1.GroupMember, protocol string) bool {
	return slices.ContainsFunc(m.Spec.Protocols, func(p v1alpha1.MemberProtocol) bool { return p.Name == protocol })
}

// checkLeader: Leader mode's leader is listed by the newest plan.
func (r *Referee) checkLeader(v View, verdict *verdict) {
	if v.Group == nil || v.Group.Status.Leader == "" || len(r.plans) == 0 || r.plans[0].Generation() != v.Group.Status.Generation {
		return
	}
	content := r.plans[0].Content
	if content.Protocol != v.Group.Status.Protocol {
		verdict.broken(6, "generation %d speaks %q, its plan chose %q", content.Generation, v.Group.Status.Protocol, content.Protocol)
	}
	for i := range content.Members {
		if leads(v, &content.Members[i]) {
			return
		}
	}
	verdict.broken(6, "leader %s is not in generation %d", v.Group.Status.Leader, v.Group.Status.Generation)
}

func leads(v View, listed *coordinator.PlanMember) bool {
	if listed.Name == v.Group.Status.Leader {
		return true
	}
	for _, m := range v.Members {
		if m.Name == listed.Object && m.Name+"-"+m.Spec.Incarnation == v.Group.Status.Leader {
			return true
		}
	}
	return false
}
