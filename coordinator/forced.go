package coordinator

import (
	"slices"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// A forced rebalance: a new token in an annotation of the group. The last token is acted on once; an older one given
// again is new.

const (
	reasonAccepted           = "Accepted"
	reasonInvalidState       = "InvalidState"
	reasonUnsupportedVersion = "UnsupportedVersion"
)

func (v *view) forcedToken() string { return v.Group.Annotations[v1alpha1.RebalanceAnnotation] }

// unanswered: the token is neither the plan's nor the last request's.
func (v *view) unanswered() bool {
	token := v.forcedToken()
	return token != "" && (v.status.RebalanceRequest == nil || v.status.RebalanceRequest.Token != token) &&
		(v.plan == nil || v.plan.Forced != token)
}

// forced: the request asks for a round. It can only be made of a group with a generation and no open round.
func (v *view) forced(r *round) bool {
	return v.unanswered() && !v.Config.NoForcedRebalance && v.refusal(r) == ""
}

// refusal says why a request cannot be acted on in the group's present state; empty when it can.
func (v *view) refusal(r *round) string {
	switch {
	case v.Group.DeletionTimestamp != nil:
		return "the group is being deleted"
	case len(r.staying) == 0 && !r.open:
		return "the group is Down: nobody is in it to rebalance"
	case r.open:
		return "the group is Joining: a round is open already"
	case v.Group.Spec.Paused:
		return "the group is paused: unpause it first"
	}
	return ""
}

// answer is the outcome to record, nil when nothing changes. A token that a plan bears without a recorded outcome was
// accepted if the plan was made for it.
func (v *view) answer(r *round) *v1alpha1.RebalanceRequestStatus {
	token := v.forcedToken()
	if token == "" || v.status.RebalanceRequest != nil && v.status.RebalanceRequest.Token == token {
		return nil
	}
	rejected := func(reason, message string) *v1alpha1.RebalanceRequestStatus {
		return &v1alpha1.RebalanceRequestStatus{Token: token, Outcome: v1alpha1.RequestRejected, Reason: reason, Message: message}
	}
	if v.plan != nil && v.plan.Forced == token {
		if slices.ContainsFunc(v.plan.Reasons, func(c Cause) bool { return c.Reason == v1alpha1.RebalanceForced }) {
			return v.accepted(token)
		}
		return rejected(reasonInvalidState, "a round was open already")
	}
	if v.leaderMode() && v.forced(r) { // Its round lasts: the plan will bear the token, and this request is answered now.
		return v.accepted(token)
	}
	if v.Config.NoForcedRebalance {
		return rejected(reasonUnsupportedVersion, "this manager runs without forced rebalances")
	}
	if why := v.refusal(r); why != "" {
		return rejected(reasonInvalidState, why)
	}
	return nil
}

// accepted says so, and whether anybody has looked at who asked: where admission does, it has noted the group's creator.
func (v *view) accepted(token string) *v1alpha1.RebalanceRequestStatus {
	request := &v1alpha1.RebalanceRequestStatus{Token: token, Outcome: v1alpha1.RequestAccepted, Reason: reasonAccepted}
	if v.Group.Annotations[v1alpha1.CreatorAnnotation] == "" {
		request.Message = "authorization is off: the group has no " + v1alpha1.CreatorAnnotation +
			", which Rollcall's admission policies note when a group is created"
	}
	return request
}
