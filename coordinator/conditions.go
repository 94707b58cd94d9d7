package coordinator

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func (v *view) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(v.status.Conditions, kind)
}

func condition(kind string, is bool, reason, message string) metav1.Condition {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	if is {
		c.Status = metav1.ConditionTrue
	}
	return c
}

// setFullyAssigned goes by assignment only: what is pending or being revoked is not assigned.
func (v *view) setFullyAssigned(g *v1alpha1.ConsumerGroup, waiting bool) {
	st := &g.Status
	if v.leaderMode() {
		setCondition(&st.Conditions, v.Now, g.Generation, v.leaderFullyAssigned(st))
		return
	}
	c := condition(v1alpha1.GroupFullyAssigned, true, "AllAssigned", "every copy of every partition is assigned")
	missing := st.Partitions - st.AssignedPartitions
	switch {
	case waiting:
		c = condition(c.Type, false, v1alpha1.ReasonWaitingForSession,
			"a new incarnation waits until the session of the one before it has ended")
	case st.State == v1alpha1.GroupDown:
		c = condition(c.Type, false, "NoMembers", "nobody is in the generation: start a member")
	case missing > 0 && st.State != v1alpha1.GroupStable:
		c = condition(c.Type, false, "HandoverInProgress", fmt.Sprintf("%d of %d copies are not assigned yet", missing, st.Partitions))
	case missing > 0:
		c = condition(c.Type, false, "PartitionsUnassigned", fmt.Sprintf(
			"%d of %d copies are held by nobody: no member may take them; look at replicas, topics and capacity of the members",
			missing, st.Partitions))
	}
	setCondition(&st.Conditions, v.Now, g.Generation, c)
}

// setGroupConditions derives the conditions that follow from the rest of the status.
func (v *view) setGroupConditions(g *v1alpha1.ConsumerGroup) {
	st := &g.Status
	set := func(c metav1.Condition) { setCondition(&st.Conditions, v.Now, g.Generation, c) }
	switch {
	case st.Members == 0:
		set(condition(v1alpha1.GroupMembersAvailable, false, "NoMembers", "nobody is in the generation"))
	case st.AvailableMembers < st.Members:
		set(condition(v1alpha1.GroupMembersAvailable, false, "MembersUnavailable",
			fmt.Sprintf("%s members are available", st.MemberSummary)))
	default:
		set(condition(v1alpha1.GroupMembersAvailable, true, "AllAvailable", "every member is available"))
	}
	set(v.groupNamesUnique())
	if v.leaderMode() {
		set(protocolAgreed(st))
	}
	set(v.ready(st))
}

// ready is the first reason not to be, or none.
func (v *view) ready(st *v1alpha1.ConsumerGroupStatus) metav1.Condition {
	no := func(reason, message string) metav1.Condition {
		return condition(v1alpha1.GroupReady, false, reason, message)
	}
	full := meta.FindStatusCondition(st.Conditions, v1alpha1.GroupFullyAssigned)
	session := durationOr(v.Group.Spec.SessionTimeout, defaultSessionTimeout)
	switch {
	case !v.withinSessionBounds(session):
		return no(v1alpha1.ReasonInvalidSessionTimeout, fmt.Sprintf(
			"sessionTimeout %s is outside the manager's bounds, %s is used: choose one from %s to %s",
			session, v.groupSession(), v.Config.SessionMin, v.Config.SessionMax))
	case st.State == v1alpha1.GroupDown:
		return no("NoMembers", "nobody is in the generation: annotate a StatefulSet with "+v1alpha1.GroupAnnotation+" or start a member")
	case st.State == v1alpha1.GroupJoining:
		return no("Rebalancing", "a round is open: "+st.Rebalance.Reason+v.errorShown())
	case st.State == v1alpha1.GroupAwaitingSync && v.leaderMode():
		return no(v.whyNoSync())
	case st.State == v1alpha1.GroupAwaitingSync:
		return no("HandoverInProgress", "partitions are being handed over")
	case full != nil && full.Status != metav1.ConditionTrue:
		return no(full.Reason, full.Message)
	case st.AvailableMembers == 0:
		return no("NoMembersAvailable", "all members are away: what they hold is kept for them")
	case v.Group.Spec.Paused:
		return v.readyWhilePaused()
	}
	return condition(v1alpha1.GroupReady, true, string(v1alpha1.GroupStable), "every member holds what its plan gives it")
}

func (v *view) readyWhilePaused() metav1.Condition {
	if n := v.waitToLeave(); n > 0 {
		return condition(v1alpha1.GroupReady, false, "Paused",
			fmt.Sprintf("paused, and %d members that have left keep what they hold: unpause to hand it over", n))
	}
	return condition(v1alpha1.GroupReady, true, "Paused", "paused: no round is opened and nobody is removed")
}

// waitToLeave counts those that the plan lists and that have left since, with something in their hands.
func (v *view) waitToLeave() int {
	n := 0
	for _, m := range v.members {
		if m.position != nobody && !m.named && countCopies(m.Status.Assignment) > 0 {
			n++
		}
	}
	return n
}

// joined sets the Joined condition of a draft.
func (d *draft) joined(v *view, status metav1.ConditionStatus, reason, message string) {
	setCondition(&d.status().Conditions, v.Now, d.m.Generation, metav1.Condition{
		Type: v1alpha1.MemberJoinedCondition, Status: status, Reason: reason, Message: message,
	})
}

// setMemberConditions derives a member's conditions from its state and lists.
func (v *view) setMemberConditions(d *draft) {
	st := d.status()
	switch st.State {
	case v1alpha1.MemberPending:
		d.joined(v, metav1.ConditionFalse, "WaitingForRound", v.pendingMessage())
	case v1alpha1.MemberActive, v1alpha1.MemberUnavailable:
		d.joined(v, metav1.ConditionTrue, "InGeneration", fmt.Sprintf("in the generation since %d", st.Generation))
	case v1alpha1.MemberLeaving:
		d.joined(v, metav1.ConditionFalse, "Leaving", "leaves the group; what it holds is handed over")
	case v1alpha1.MemberDead:
		reason, message := d.causeOfDeath()
		d.joined(v, metav1.ConditionFalse, reason, message)
	case v1alpha1.MemberRejected: // set with the verdict
	}
	switch {
	case v.leaderMode():
		v.setSyncConditions(d)
	case !stillUnacknowledged(d):
		setCondition(&st.Conditions, v.Now, d.m.Generation, v.assignedCondition(d))
	}
	if d.m.Spec.MemberName != "" {
		setCondition(&st.Conditions, v.Now, d.m.Generation, v.namesUnique(d))
	}
}

func (v *view) pendingMessage() string {
	if v.Group.Spec.Paused {
		return "the group is paused: it joins when the group is unpaused"
	}
	return "waits for the round to commit"
}

// heardOfAgain: the member has said something since.
func heardOfAgain(m *member) bool {
	c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.MemberAssigned)
	return c != nil && c.Reason == v1alpha1.ReasonNotAcknowledged && c.ObservedGeneration != m.Generation
}

// stillUnacknowledged: the member has not been heard of since a revocation of it ended without its word; the condition
// that says so stands. Its word would be a change of its spec, whose generation the condition has noted.
func stillUnacknowledged(d *draft) bool {
	c := meta.FindStatusCondition(d.status().Conditions, v1alpha1.MemberAssigned)
	return c != nil && c.Reason == v1alpha1.ReasonNotAcknowledged && c.ObservedGeneration == d.m.Generation &&
		inGeneration(d.status().State) && d.status().MemberID == d.m.Status.MemberID
}

// assignedCondition: the member has what its plan gives it, or why not.
func (v *view) assignedCondition(d *draft) metav1.Condition {
	st := d.status()
	no := func(reason, message string) metav1.Condition {
		return condition(v1alpha1.MemberAssigned, false, reason, message)
	}
	switch {
	case d.unacknowledged:
		return no(v1alpha1.ReasonNotAcknowledged, "did not acknowledge a revocation in time; its tokens there are stale")
	case !inGeneration(st.State) && v.worksToEnd(d.m) && countCopies(st.Assignment) > 0:
		return no("WorksToEnd", "keeps its copies until its pod has stopped: delete the pod to hand them over")
	case !inGeneration(st.State):
		return no("NotInGeneration", "is given nothing while it is not in the generation")
	case len(st.Pending) > 0:
		return no(whyPending(st))
	case countCopies(st.Assignment) > 0:
		return condition(v1alpha1.MemberAssigned, true, "Assigned", v.assignedMessage(d.m))
	case capacity(&d.m.Spec) == 0:
		return no(v1alpha1.ReasonParked, "capacity is 0: it is given nothing")
	case v.anyPinned():
		return no(v1alpha1.ReasonPinned, "idles for copies that running pods without acknowledgement keep: delete such a pod to move them")
	}
	if unknown := v.unknownTopics(d.m); unknown != "" && !v.knowsAny(d.m) {
		return no(v1alpha1.ReasonUnknownTopics, "is given nothing"+unknown+": correct its topics, or add them to the group")
	}
	return no(v1alpha1.ReasonIdle, "no copy is left for it"+v.unknownTopics(d.m))
}

// knowsAny: the group has some topic that the member subscribes to.
func (v *view) knowsAny(m *member) bool {
	return slices.ContainsFunc(m.Spec.Topics, func(name string) bool { return v.topic(name) != nil })
}

// whyPending is why copies are not granted to a member yet: reason and message.
func whyPending(st *v1alpha1.GroupMemberStatus) (string, string) {
	switch {
	case tooLarge(st):
		return v1alpha1.ReasonTooLarge, "its lists would not fit into one object: it is given no more; add members or use fewer copies"
	case formerHolds(st):
		return v1alpha1.ReasonWaitingForSession, "waits until the session of its former incarnation has ended"
	}
	return "HandoverInProgress", "waits for copies that are not free yet"
}

func formerHolds(st *v1alpha1.GroupMemberStatus) bool {
	return slices.ContainsFunc(st.Revoking, func(r v1alpha1.Revocation) bool { return r.MemberID != st.MemberID })
}

func (v *view) anyPinned() bool {
	return v.exclusive() && slices.ContainsFunc(v.members, func(m *member) bool {
		return v.pinned(m) && countCopies(m.Status.Assignment) > 0
	})
}

func (v *view) assignedMessage(m *member) string {
	return "has what its plan gives it" + v.unknownTopics(m)
}

// unknownTopics names subscribed topics that the group does not have: they count when they appear.
func (v *view) unknownTopics(m *member) string {
	var unknown []string
	for _, name := range m.Spec.Topics {
		if v.topic(name) == nil {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	return "; the group has no topic " + strings.Join(unknown[:min(len(unknown), 5)], ", ")
}

// groupEvents tells of what a group's write changes.
func (v *view) groupEvents(next *v1alpha1.ConsumerGroup) []Event {
	var events []Event
	add := func(warning bool, reason, message string) {
		events = append(events, Event{About: v.Group, Warning: warning, Reason: reason, Message: message})
	}
	old, st := v.status, &next.Status
	if last := st.LastRebalance; st.Generation > old.Generation && last != nil {
		add(false, "Rebalanced", fmt.Sprintf("generation %d: %s; %d moved", st.Generation, last.Reason, last.Moved))
	}
	if st.State != old.State && st.State != v1alpha1.GroupAwaitingSync {
		message := "the group is " + string(st.State)
		if st.Rebalance != nil {
			message += ": " + st.Rebalance.Reason
		}
		add(false, string(st.State), message)
	}
	if q := st.RebalanceRequest; q != nil && (old.RebalanceRequest == nil || old.RebalanceRequest.Token != q.Token) {
		add(q.Outcome == v1alpha1.RequestRejected, "RebalanceRequest"+string(q.Outcome), strings.TrimSpace(q.Reason+" "+q.Message))
	}
	return append(events, v.warnings(st)...)
}

// warnings are of what a person should put right: an error in a sync, a timeout outside the manager's bounds.
func (v *view) warnings(st *v1alpha1.ConsumerGroupStatus) []Event {
	events := v.errorEvents(st)
	if c := v.condition(v1alpha1.GroupReady); !v.withinSessionBounds(durationOr(v.Group.Spec.SessionTimeout, defaultSessionTimeout)) &&
		(c == nil || c.Reason != v1alpha1.ReasonInvalidSessionTimeout) {
		events = append(events, Event{
			About: v.Group, Warning: true, Reason: v1alpha1.ReasonInvalidSessionTimeout, Message: v.ready(st).Message,
		})
	}
	return events
}
