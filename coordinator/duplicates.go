package coordinator

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Two live processes under one static name. The latest has the name; the others are told loudly, and so are people.

// duplicate: a takeover from another host of a name that was in use, or names going back and forth between two hosts.
// Pods follow one another by their controller's word and are never duplicates.
func (v *view) duplicate(m *member, next *v1alpha1.MemberTakeover) bool {
	n := len(next.Hosts)
	if !selfRegistered(m) || n < 2 || next.Hosts[n-1] == next.Hosts[n-2] {
		return false
	}
	last := v.LastSeen[m.Name].Former
	inUse := !last.IsZero() && v.Now.Sub(last) <= v.session(m)/3
	before := m.Status.Takeover
	backAndForth := n == 3 && next.Hosts[2] == next.Hosts[0] && before != nil && v.Now.Sub(before.Time.Time) <= v.session(m)
	return inUse || backAndForth
}

// duplicateIsOver: a session has passed without another.
func (v *view) duplicateIsOver(m *member) bool {
	taken := m.Status.Takeover
	return taken != nil && taken.Duplicate && v.passed(taken.Time.Add(v.session(m)))
}

// namesUnique is the member's condition.
func (v *view) namesUnique(d *draft) metav1.Condition {
	st := d.status()
	if v.namesIgnored(d.m) {
		return namesOff()
	}
	if taken := v.nameTaken(d.m); st.State == v1alpha1.MemberRejected && !taken.accepted() {
		return condition(v1alpha1.NamesUnique, false, taken.reason, taken.message)
	}
	if rival, ok := v.Rivals[d.m.Name]; ok {
		return condition(v1alpha1.NamesUnique, false, v1alpha1.ReasonNameTaken, rivalry(rival))
	}
	if taken := st.Takeover; taken != nil && taken.Duplicate {
		hosts := taken.Hosts[max(0, len(taken.Hosts)-2):]
		return condition(v1alpha1.NamesUnique, false, "DuplicateName",
			fmt.Sprintf("two processes use this name, on %s: give each its own", strings.Join(hosts, " and ")))
	}
	return condition(v1alpha1.NamesUnique, true, "Unique", "one process has this name")
}

// groupNamesUnique is the group's condition: it names every member that two processes claim.
func (v *view) groupNamesUnique() metav1.Condition {
	var twice []string
	for _, m := range v.members {
		if taken := m.Status.Takeover; taken != nil && taken.Duplicate {
			twice = append(twice, fmt.Sprintf("%s (%s)", displayName(m.GroupMember), strings.Join(slices.Compact(slices.Clone(taken.Hosts)), ", ")))
		}
	}
	if len(twice) > 0 {
		return condition(v1alpha1.NamesUnique, false, "DuplicateName",
			shorten("two processes use one name: "+strings.Join(twice, "; "), maxReason))
	}
	if claims := v.claims(); len(claims) > 0 {
		return condition(v1alpha1.NamesUnique, false, v1alpha1.ReasonNameTaken,
			shorten("who was there first keeps its name: "+strings.Join(claims, "; "), maxReason))
	}
	if v.Config.NoStaticMembership {
		return namesOff()
	}
	return condition(v1alpha1.NamesUnique, true, "Unique", "every static name has one process")
}

// claims names everybody who wants a name that another has: pods, and members that are Rejected for it.
func (v *view) claims() []string {
	var claims []string
	for _, m := range v.members {
		if rival, ok := v.Rivals[m.Name]; ok && v.static(m) {
			claims = append(claims, fmt.Sprintf("pod %s wants the name of GroupMember %s (%s)", rival.Pod, m.Name, m.Spec.Host))
		}
		if m.Status.State == v1alpha1.MemberRejected && !v.nameTaken(m).accepted() {
			claims = append(claims, fmt.Sprintf("GroupMember %s (%s) wants the name of %s", m.Name, m.Spec.Host, v.firstOf(m).Name))
		}
	}
	return claims
}
