package presence

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Decide says which GroupMembers the workload's pods are, and what is to be written about them. It looks at the objects
// alone, and may be asked at any time and any number of times: applied to its own result, it wants nothing more.
func Decide(s Snapshot) Decision {
	v := newView(s)
	d := Decision{Sights: Sights{}}
	for _, member := range v.mine {
		if v.groupGone(member) {
			v.dismiss(&d, member)
		} else {
			v.follow(&d, member)
		}
	}
	v.admitAll(&d)
	if !v.need.Empty() {
		return Decision{Need: v.need}
	}
	d.Events, d.WakeAt = v.events, v.wake
	return d
}

// groupGone says that the group which the member was made for does not exist, though another of its name may.
func (v *view) groupGone(member *v1alpha1.GroupMember) bool {
	group := v.Groups[member.Spec.Group]
	if group == nil {
		return true
	}
	owner := metav1.GetControllerOfNoCopy(member)
	return owner != nil && owner.UID != group.UID
}

// dismiss deletes a member whose group is gone. A cache may be behind: the group is read live before.
func (v *view) dismiss(d *Decision, member *v1alpha1.GroupMember) {
	if member.DeletionTimestamp != nil {
		return
	}
	if group := member.Spec.Group; !v.Live.Groups[group] {
		if v.need.Groups == nil {
			v.need.Groups = map[string]bool{}
		}
		v.need.Groups[group] = true
		return
	}
	d.Deletes = append(d.Deletes, member)
}

// admitAll finds the pods that are to become members of the groups that the annotation names.
func (v *view) admitAll(d *Decision) {
	for _, name := range v.groups {
		group := v.Groups[name]
		if group == nil {
			v.warn(v.workload, reasonGroupNotFound, name, fmt.Sprintf("annotation %s names ConsumerGroup %q, which does not exist in "+
				"namespace %q: its members join when it is created", v1alpha1.GroupAnnotation, name, v.Namespace))
			continue
		}
		if group.DeletionTimestamp != nil || v.ending() {
			continue
		}
		for _, pod := range v.pods {
			if member := v.admit(group, pod); member != nil {
				d.Creates = append(d.Creates, member)
			}
		}
	}
}
