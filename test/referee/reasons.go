package referee

import (
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// checkReasons compares the recorded reasons with the plan before. A late plan may land after its reason has gone, so only
// what was ever true since then counts.
func (r *Referee) checkReasons(v View, p *coordinator.Plan, verdict *verdict) {
	if len(p.Content.Reasons) == 0 {
		verdict.broken(2, "plan %s gives no reason", p.Revision.Name)
	}
	before := r.planBefore(v, p)
	for _, cause := range p.Content.Reasons {
		if before == nil && cause.Reason != v1alpha1.RebalanceMemberJoined || r.stoodOpen(p, cause) {
			continue
		}
		if len(cause.Names) == 0 {
			if !wholeTrue(cause.Reason, p, before) {
				verdict.broken(2, "plan %s says %s, which was not so", p.Revision.Name, cause.Reason)
			}
			continue
		}
		for _, name := range cause.Names {
			if !r.reasonTrue(cause.Reason, name, p, before) {
				verdict.broken(2, "plan %s says %s of %s, which was not so", p.Revision.Name, cause.Reason, name)
			}
		}
	}
}

// planBefore is the plan that another follows; nil when one of that generation was deleted by hand: then it may not be
// the one that was compared with.
func (r *Referee) planBefore(v View, p *coordinator.Plan) *coordinator.Plan {
	generation := p.Generation() - 1
	gone := func(known *coordinator.Plan) bool { return known.Generation() == generation && !stored(v, known) }
	i := slices.IndexFunc(v.Plans, func(known *coordinator.Plan) bool {
		return known.Generation() == generation && planOf(known, v.Group)
	})
	if i < 0 || slices.ContainsFunc(r.plans, gone) {
		return nil
	}
	return v.Plans[i]
}

func stored(v View, p *coordinator.Plan) bool {
	return slices.ContainsFunc(v.Plans, func(other *coordinator.Plan) bool { return other.Revision.UID == p.Revision.UID })
}

// wholeTrue judges the reasons that name nobody.
func wholeTrue(reason v1alpha1.RebalanceReason, p, before *coordinator.Plan) bool {
	switch reason {
	case v1alpha1.RebalanceTopicsChanged:
		return p.Content.Inputs != before.Content.Inputs
	case v1alpha1.RebalanceForced:
		return p.Content.Forced != before.Content.Forced
	}
	return true
}

// reasonTrue judges the reasons that name a member.
func (r *Referee) reasonTrue(reason v1alpha1.RebalanceReason, name string, p, before *coordinator.Plan) bool {
	was, is := listed(before, name), listed(p, name)
	switch reason {
	case v1alpha1.RebalanceMemberJoined:
		return is != nil && r.anew(was, is, before)
	case v1alpha1.RebalanceMemberLeft, v1alpha1.RebalanceSessionExpired:
		return was != nil && r.anew(was, is, before)
	case v1alpha1.RebalanceMemberChanged:
		return was != nil && changed(was, is)
	case v1alpha1.RebalanceMemberReturned:
		return was != nil && slices.Contains(before.Content.Short, int32(slices.Index(before.Content.Members, *was)))
	case v1alpha1.RebalanceMemberUnavailable:
		return was != nil
	}
	return true
}

func changed(was, is *coordinator.PlanMember) bool {
	return is == nil || was.Offer != is.Offer || was.Rest != is.Rest || ledTo(is, was)
}

// ledTo: in Leader mode a restart asks for a round while the sync is awaited. Only there a plan has the rest of an offer.
func ledTo(is, was *coordinator.PlanMember) bool {
	return is.Rest != "" && is.Incarnation != was.Incarnation
}

// stoodOpen: in Leader mode a round lasts and always commits, though what asked for it may have gone; the group told of it.
func (r *Referee) stoodOpen(p *coordinator.Plan, cause coordinator.Cause) bool {
	if p.Content.Leader == "" || r.last.Group == nil || r.last.Group.Status.Rebalance == nil {
		return false
	}
	return strings.Contains(r.last.Group.Status.Rebalance.Reason, string(cause.Reason))
}

// anew: listed by one plan only, another object of that name, or one that has left since the plan before.
func (r *Referee) anew(was, is *coordinator.PlanMember, before *coordinator.Plan) bool {
	return was == nil || is == nil || was.Object != is.Object || was.UID != is.UID || r.leftSince(was.UID, before.Generation())
}

func listed(p *coordinator.Plan, name string) *coordinator.PlanMember {
	if p == nil {
		return nil
	}
	for i := range p.Content.Members {
		if m := &p.Content.Members[i]; m.Name == name || m.Object == name {
			return m
		}
	}
	return nil
}
