package publish

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Decide says what is to be written to the pod, and what is to be acknowledged for its members. It looks at the objects
// alone, and may be asked at any time and any number of times: applied to its own result, it wants nothing more.
func Decide(s Snapshot) Decision {
	if s.Pod == nil || s.Pod.Status.Phase == corev1.PodSucceeded || s.Pod.Status.Phase == corev1.PodFailed {
		return Decision{}
	}
	// Stored instants have microseconds: with more, a document would differ from itself once written and read.
	s.Now = s.Now.UTC().Truncate(time.Microsecond)
	desk := &desk{Snapshot: s}
	told := desk.tellers()
	desk.limit(told)
	for _, t := range told {
		desk.write(t)
		desk.acknowledge(t)
	}
	desk.removeOthers(told)
	return desk.Decision
}

// desk is a snapshot together with the decision as far as it is made.
type desk struct {
	Snapshot
	Decision
}

// teller is one member whose assignment this pod holds, with what the pod was told of it.
type teller struct {
	member *v1alpha1.GroupMember
	group  *v1alpha1.ConsumerGroup
	// annotated: the pod reads the document.
	annotated bool
	// key of the annotation, text that it has now, and standing, the document in it.
	key, text string
	standing  v1alpha1.AssignmentDocument
	// document as it is to be; its published are those that still count.
	document v1alpha1.AssignmentDocument
	// due are the revocations that wait for an acknowledgement from here.
	due []v1alpha1.Revocation
	// news: one of them stands in no document that the pod was given.
	news bool
}

// tellers are the members that speak for this very pod, in the order of their groups. A member that has never been active
// has nothing to tell; one whose status is another incarnation's speaks for another pod.
func (d *desk) tellers() []*teller {
	var told []*teller
	for _, member := range d.Members {
		group := d.groupOf(member)
		if group != nil && everActive(member) && speaksFor(member, d.Pod) {
			told = append(told, d.newTeller(member, group))
		}
	}
	slices.SortFunc(told, func(a, b *teller) int {
		return cmp.Or(cmp.Compare(a.group.Name, b.group.Name), cmp.Compare(a.member.Name, b.member.Name))
	})
	return told
}

// groupOf is the group that the member was made for; nil where it is gone, even if another bears its name.
func (d *desk) groupOf(member *v1alpha1.GroupMember) *v1alpha1.ConsumerGroup {
	group := d.Groups[member.Spec.Group]
	if owner := metav1.GetControllerOfNoCopy(member); group != nil && owner != nil && owner.UID != group.UID {
		return nil
	}
	return group
}

func (d *desk) newTeller(member *v1alpha1.GroupMember, group *v1alpha1.ConsumerGroup) *teller {
	t := &teller{
		member:    member,
		group:     group,
		annotated: reads(d.Pod, group.Name),
		key:       v1alpha1.AssignmentAnnotationPrefix + group.Name,
		due:       unacknowledged(member, group),
	}
	t.text = d.Pod.Annotations[t.key]
	t.standing = parse(t.text)
	t.document = documentOf(member, group, &t.standing)
	if t.annotated {
		t.document.Published = stillPublished(member, t.standing.Published)
		t.news = !allTold(t.due, t.document.Published)
	}
	if t.news {
		t.document.Published = append(t.document.Published, d.publishedNow(member))
	}
	return t
}

// everActive says that a plan has once taken the member in.
func everActive(member *v1alpha1.GroupMember) bool {
	return member.Status.State == v1alpha1.MemberActive || member.Status.Generation > 0
}

// speaksFor says that the pod is the incarnation whose assignment stands in the member's status.
func speaksFor(member *v1alpha1.GroupMember, pod *corev1.Pod) bool {
	uid := string(pod.UID)
	return member.Spec.Incarnation == uid && member.Status.MemberID == nameOf(member)+"-"+uid
}

// nameOf is what a memberID begins with: a static member's name, a dynamic one's object name.
func nameOf(member *v1alpha1.GroupMember) string {
	if member.Spec.MemberName != "" {
		return member.Spec.MemberName
	}
	return member.Name
}

// write sets the annotation when it is to say something else. Published revisions that have been acknowledged since go with
// the next change, not by a write of their own.
func (d *desk) write(t *teller) {
	if !t.annotated {
		return
	}
	same := t.document
	if !t.news {
		same.Published = t.standing.Published
	}
	if marshal(&same) != t.text {
		text := marshal(&t.document)
		d.set(t.key, &text)
	}
}

// removeOthers takes away the documents of members that the pod is no more. A member whose group is gone is on its way out,
// and takes its document along when it is gone too.
func (d *desk) removeOthers(told []*teller) {
	keep := map[string]bool{}
	for _, t := range told {
		keep[t.group.Name] = t.annotated
	}
	for _, member := range d.Members {
		if d.groupOf(member) == nil {
			keep[member.Spec.Group] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.Pod.Annotations)) {
		group, ours := strings.CutPrefix(key, v1alpha1.AssignmentAnnotationPrefix)
		if ours && !keep[group] {
			d.set(key, nil)
		}
	}
}

func (d *desk) set(key string, text *string) {
	if d.Annotations == nil {
		d.Annotations = map[string]*string{}
	}
	d.Annotations[key] = text
}

// wakeAt asks to be woken at that instant, if it is still to come.
func (d *desk) wakeAt(at time.Time) {
	if at.After(d.Now) && (d.WakeAt.IsZero() || at.Before(d.WakeAt)) {
		d.WakeAt = at
	}
}
