package publish

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// defaultGrace is what a group without a grace period has: the API server sets the same.
const defaultGrace = 10 * time.Second

// unacknowledged are the revocations of the present memberID that only time can end: the member cannot acknowledge, and
// its group's policy takes time as proof. Under Exclusive there are none.
func unacknowledged(member *v1alpha1.GroupMember, group *v1alpha1.ConsumerGroup) []v1alpha1.Revocation {
	if member.Spec.Acknowledgement != v1alpha1.AcknowledgeNone || group.Spec.Handover.Policy == v1alpha1.HandoverExclusive {
		return nil
	}
	var due []v1alpha1.Revocation
	for _, entry := range member.Status.Revoking {
		if entry.MemberID == member.Status.MemberID && !covers(member.Spec.Acknowledged, member, entry.Revision) {
			due = append(due, entry)
		}
	}
	return due
}

// covers says that the member has stopped what that revision took away.
func covers(acknowledged *v1alpha1.Acknowledged, member *v1alpha1.GroupMember, revision int64) bool {
	return acknowledged != nil && acknowledged.MemberID == member.Status.MemberID &&
		(acknowledged.Final || acknowledged.Revision >= revision)
}

// stillPublished are the entries of this very object that nobody has acknowledged: a member that was deleted and made again
// has the same memberID and counts its revisions anew.
func stillPublished(member *v1alpha1.GroupMember, published []v1alpha1.PublishedRevision) []v1alpha1.PublishedRevision {
	var still []v1alpha1.PublishedRevision
	for _, entry := range published {
		if entry.UID == string(member.UID) && !covers(member.Spec.Acknowledged, member, entry.Revision) {
			still = append(still, entry)
		}
	}
	return still
}

// allTold says that each revocation stands in a document that the pod was given.
func allTold(due []v1alpha1.Revocation, published []v1alpha1.PublishedRevision) bool {
	return !slices.ContainsFunc(due, func(entry v1alpha1.Revocation) bool {
		return !slices.ContainsFunc(published, func(p v1alpha1.PublishedRevision) bool { return p.Revision >= entry.Revision })
	})
}

// publishedNow is the mark of the document that is written now.
func (d *desk) publishedNow(member *v1alpha1.GroupMember) v1alpha1.PublishedRevision {
	return v1alpha1.PublishedRevision{UID: string(member.UID), Revision: member.Status.Revision, At: metav1.NewMicroTime(d.Now)}
}

// acknowledge speaks for the member when the grace has passed since its pod was told, or since the revocation itself where
// the pod reads no document.
func (d *desk) acknowledge(t *teller) {
	tellings, grace := d.tellings(t), graceOf(t.group)
	passed := int64(-1)
	for _, told := range tellings {
		if !told.At.Add(grace).After(d.Now) {
			passed = max(passed, told.Revision)
		}
	}
	for _, told := range tellings {
		if tells(told, t.due, passed) {
			d.wakeAt(told.At.Add(grace))
		}
	}
	if passed < 0 {
		return
	}
	changed := t.member.DeepCopy()
	changed.Spec.Acknowledged = &v1alpha1.Acknowledged{MemberID: t.member.Status.MemberID, Revision: passed}
	d.Updates = append(d.Updates, Update{Old: t.member, New: changed})
}

// tells says that the document told of a revocation that is due and younger than that revision.
func tells(told v1alpha1.PublishedRevision, due []v1alpha1.Revocation, than int64) bool {
	return slices.ContainsFunc(due, func(entry v1alpha1.Revocation) bool {
		return entry.Revision > than && entry.Revision <= told.Revision
	})
}

// tellings are the instants from which the grace runs: those of documents that stand in the pod and tell of a revocation that
// is due. What is only about to be written begins nothing.
func (d *desk) tellings(t *teller) []v1alpha1.PublishedRevision {
	var told []v1alpha1.PublishedRevision
	if !t.annotated {
		for _, entry := range t.due {
			told = append(told, v1alpha1.PublishedRevision{Revision: entry.Revision, At: entry.Since})
		}
		return told
	}
	for _, entry := range stillPublished(t.member, t.standing.Published) {
		if tells(entry, t.due, -1) {
			told = append(told, entry)
		}
	}
	return told
}

func graceOf(group *v1alpha1.ConsumerGroup) time.Duration {
	if group.Spec.Handover.RevocationGracePeriod == nil {
		return defaultGrace
	}
	return group.Spec.Handover.RevocationGracePeriod.Duration
}
