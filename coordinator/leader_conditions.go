package coordinator

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Conditions of Leader mode.

// maxShownError is how much of a leader's error is shown, in bytes.
const maxShownError = 500

// protocolAgreed: the members of the generation speak one protocol.
func protocolAgreed(st *v1alpha1.ConsumerGroupStatus) metav1.Condition {
	if st.Protocol == "" {
		return condition(v1alpha1.GroupProtocolAgreed, false, "NoMembers", "nobody is in the generation")
	}
	return condition(v1alpha1.GroupProtocolAgreed, true, "Agreed", "the members speak "+st.Protocol)
}

// leaderFullyAssigned: the leader's sync stands and, where its states can be read and the group says what there is, they
// cover that.
func (v *view) leaderFullyAssigned(st *v1alpha1.ConsumerGroupStatus) metav1.Condition {
	no := func(reason, message string) metav1.Condition {
		return condition(v1alpha1.GroupFullyAssigned, false, reason, message)
	}
	missing := st.Partitions - st.AssignedPartitions
	switch {
	case st.State == v1alpha1.GroupDown:
		return no("NoMembers", "nobody is in the generation: start a member")
	case st.State != v1alpha1.GroupStable:
		return no("WaitingForSync", "the members wait for the leader's sync")
	case v.decodes() && missing > 0:
		return no("PartitionsUnassigned", fmt.Sprintf("the leader's sync leaves %d of %d copies to nobody", missing, st.Partitions))
	}
	return condition(v1alpha1.GroupFullyAssigned, true, "Synced", "every member has the leader's answer")
}

// whyNoSync is the reason and message of a group that waits for its leader.
func (v *view) whyNoSync() (string, string) {
	if trouble := v.syncTrouble(); trouble != "" {
		return string(v1alpha1.RebalanceSyncError), "the leader could not assign: " + shorten(trouble, maxShownError)
	}
	if v.plan == nil {
		return "WaitingForSync", "waits for the leader's sync"
	}
	return "WaitingForSync", "waits for the sync of the leader, " + v.plan.leaderName()
}

// causeOfDeath is a Dead member's reason and message; once written it stands.
func (d *draft) causeOfDeath() (string, string) {
	if d.timedOut != "" {
		return v1alpha1.ReasonRebalanceTimeout, d.timedOut
	}
	if diedOfTimeout(d.m) {
		c := meta.FindStatusCondition(d.m.Status.Conditions, v1alpha1.MemberJoinedCondition)
		return c.Reason, c.Message
	}
	return v1alpha1.ReasonSessionExpired, "its deadline has passed; it joins again when it is present"
}

// setSyncConditions says whether a member has its answer, and what came of a sync that it wrote.
func (v *view) setSyncConditions(d *draft) {
	st := d.status()
	setCondition(&st.Conditions, v.Now, d.m.Generation, v.answeredCondition(d))
	if d.m.Spec.Sync == nil {
		return
	}
	if c, known := v.syncAccepted(d); known {
		setCondition(&st.Conditions, v.Now, d.m.Generation, c)
	}
}

func (v *view) answeredCondition(d *draft) metav1.Condition {
	st := d.status()
	no := func(reason, message string) metav1.Condition {
		return condition(v1alpha1.MemberAssigned, false, reason, message)
	}
	switch sync := v.currentSync(); {
	case !inGeneration(st.State):
		return no("NotInGeneration", "is given nothing while it is not in the generation")
	case v.showsTrouble(d.m):
		return no(string(v1alpha1.RebalanceSyncError), "the leader could not assign: "+shorten(v.syncTrouble(), maxShownError))
	case st.Assignment == nil || v.plan != nil && st.Generation < v.plan.Generation:
		return no("WaitingForSync", "waits for the leader's answer")
	case sync != nil && len(st.Assignment.State) == 0 && v.leftOut(st.MemberID, sync):
		return no(v1alpha1.ReasonTooLarge, "the leader's state for it would not fit into its object: make state or metadata smaller")
	case len(st.Assignment.State) == 0:
		return no(v1alpha1.ReasonIdle, "the leader has given it nothing")
	}
	return condition(v1alpha1.MemberAssigned, true, "Assigned", "has the leader's answer")
}

// leftOut: the sync has a state for the member, which was too large.
func (v *view) leftOut(memberID string, sync *v1alpha1.Sync) bool {
	for i := range sync.Assignments {
		if sync.Assignments[i].MemberID == memberID {
			return len(sync.Assignments[i].State) > 0
		}
	}
	return false
}

// syncAccepted judges a sync by who wrote it and for which generation; one that was good in its time is left alone.
func (v *view) syncAccepted(d *draft) (_ metav1.Condition, known bool) {
	sync := d.m.Spec.Sync
	about := fmt.Sprintf("generation %d: ", sync.Generation)
	no := func(reason, message string) (metav1.Condition, bool) {
		return condition(v1alpha1.MemberSyncAccepted, false, reason, about+message), true
	}
	judged := meta.FindStatusCondition(d.m.Status.Conditions, v1alpha1.MemberSyncAccepted)
	current := v.generation == sync.Generation
	switch {
	case !current && judged != nil && strings.HasPrefix(judged.Message, about):
		return metav1.Condition{}, false // It was judged in its time.
	case !current:
		return no("OtherGeneration", fmt.Sprintf("ignored: the group is at generation %d", v.generation))
	case !v.leads(d.m):
		return no("NotLeader", "ignored: only the leader's sync counts, status.leader of the group tells who that is")
	case cameFrom(d.status(), sync):
		return condition(v1alpha1.MemberSyncAccepted, true, "Accepted", about+"was handed out"), true
	case !v.answersFor(d.m, sync.Generation):
		return no(v1alpha1.ReasonMemberIDMismatch, "ignored: it names another memberID than the member has")
	case v.syncTrouble() != "":
		return no(string(v1alpha1.RebalanceSyncError), shorten(v.syncTrouble(), maxShownError))
	case d.status().Assignment == nil || sync.Generation != d.status().Generation:
		return metav1.Condition{}, false
	}
	return no("AlreadyAnswered", "ignored: it has been answered")
}

// cameFrom: the member's answer is that of its own sync. It may have restarted since.
func cameFrom(st *v1alpha1.GroupMemberStatus, sync *v1alpha1.Sync) bool {
	return sync.Error == "" && st.Assignment != nil && sync.Generation == st.Generation && syncHash(sync).same(st.Assignment.Sync)
}

// errorShown is what a leader has said of the generation that an open round follows; empty when nothing.
func (v *view) errorShown() string {
	if trouble := v.syncTrouble(); v.leaderMode() && trouble != "" {
		return "; the leader could not assign: " + shorten(trouble, maxShownError)
	}
	return ""
}

// errorEvents tell once of an error in a sync.
func (v *view) errorEvents(st *v1alpha1.ConsumerGroupStatus) []Event {
	if !v.leaderMode() || st.Rebalance == nil || st.Rebalance.Errors == nil || v.errorCounted() || v.syncTrouble() == "" {
		return nil
	}
	message := fmt.Sprintf("%s, leader of generation %d, could not assign: %s", st.Leader, v.generation, shorten(v.syncTrouble(), maxShownError))
	return []Event{{About: v.Group, Warning: true, Reason: string(v1alpha1.RebalanceSyncError), Message: message}}
}
