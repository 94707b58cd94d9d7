package coordinator

import (
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// draft is a member's next status.
type draft struct {
	m      *member
	next   *v1alpha1.GroupMember
	events []Event
	// unacknowledged: a revocation ended without the member's word.
	unacknowledged bool
	// timedOut says why a member is Dead that has not taken part in Leader mode in time.
	timedOut string
}

func (v *view) draft(m *member) *draft { return &draft{m: m, next: m.DeepCopy()} }

func (d *draft) status() *v1alpha1.GroupMemberStatus { return &d.next.Status }

func (d *draft) event(warning bool, reason, message string) {
	d.events = append(d.events, Event{About: d.m.GroupMember, Warning: warning, Reason: reason, Message: message})
}

// write finishes the draft: revision, counts and conditions follow from the lists and the state.
func (v *view) write(d *draft) (Write, bool) {
	st := d.status()
	if listsDiffer(&d.m.Status, st) {
		st.Revision = d.m.Status.Revision + 1
	}
	st.AssignedPartitions = countCopies(st.Assignment)
	if selfRegistered(d.m) && inGeneration(st.State) {
		// The holder learns of a shorter one here, and only then can renew with it.
		st.SessionTimeout = &metav1.Duration{Duration: v.statedSession(d.m)}
	}
	v.setMemberConditions(d)
	if sameMemberStatus(&d.m.Status, st) {
		return Write{}, false
	}
	st.ObservedGeneration = d.m.Generation
	return Write{Verb: UpdateStatus, Old: d.m.GroupMember, New: d.next, Events: d.events}, true
}

func sameMemberStatus(a, b *v1alpha1.GroupMemberStatus) bool {
	if !sameConditions(a.Conditions, b.Conditions) {
		return false
	}
	x, y := *a, *b
	x.Conditions, y.Conditions = nil, nil
	return equality.Semantic.DeepEqual(&x, &y)
}

func listsDiffer(a, b *v1alpha1.GroupMemberStatus) bool {
	return !equality.Semantic.DeepEqual(a.Assignment, b.Assignment) ||
		!equality.Semantic.DeepEqual(a.Pending, b.Pending) || !equality.Semantic.DeepEqual(a.Revoking, b.Revoking)
}

func countCopies(a *v1alpha1.MemberAssignment) int32 {
	if a == nil {
		return 0
	}
	var n int
	for i := range a.TopicPartitions {
		n += len(a.TopicPartitions[i].Partitions)
	}
	return int32(n)
}

func holdsNothing(st *v1alpha1.GroupMemberStatus) bool {
	return countCopies(st.Assignment) == 0 && len(st.Revoking) == 0
}

// setCondition writes a condition; its instant moves only when its status changes.
func setCondition(list *[]metav1.Condition, now time.Time, observed int64, c metav1.Condition) {
	c.ObservedGeneration = observed
	c.LastTransitionTime = metav1.NewTime(now.Truncate(time.Second))
	meta.SetStatusCondition(list, c)
}

// sameConditions compares what is worth a write: a new text goes along with the next one.
func sameConditions(a, b []metav1.Condition) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range b {
		old := meta.FindStatusCondition(a, b[i].Type)
		if old == nil || old.Status != b[i].Status || old.Reason != b[i].Reason {
			return false
		}
	}
	return true
}

// A holding is one copy that stands in a list, with the token it was granted under.
type holding struct {
	topic           string
	copy, partition int32
	token           int64
}

func expand(list []v1alpha1.TopicPartitions) []holding {
	var out []holding
	for i := range list {
		tp := &list[i]
		for _, p := range tp.Partitions {
			out = append(out, holding{tp.Topic, tp.Copy, p, tp.Token})
		}
	}
	return out
}

// compress is the inverse of expand, in the order topic, copy, token, partition.
func compress(holdings []holding) []v1alpha1.TopicPartitions {
	sort.Slice(holdings, func(i, j int) bool { return holdings[i].before(&holdings[j]) })
	var list []v1alpha1.TopicPartitions
	for _, h := range holdings {
		if n := len(list); n > 0 && list[n-1].Topic == h.topic && list[n-1].Copy == h.copy && list[n-1].Token == h.token {
			list[n-1].Partitions = append(list[n-1].Partitions, h.partition)
			continue
		}
		list = append(list, v1alpha1.TopicPartitions{Topic: h.topic, Copy: h.copy, Partitions: []int32{h.partition}, Token: h.token})
	}
	return list
}

func (h *holding) before(o *holding) bool {
	switch {
	case h.topic != o.topic:
		return h.topic < o.topic
	case h.copy != o.copy:
		return h.copy < o.copy
	case h.token != o.token:
		return h.token < o.token
	}
	return h.partition < o.partition
}
