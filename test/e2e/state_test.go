package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// group is a group as it is; an empty one where there is none.
func (s *sandbox) group(name string) *v1alpha1.ConsumerGroup {
	if group, ok := named[*v1alpha1.ConsumerGroup](s.recorder, name); ok {
		return group
	}
	return &v1alpha1.ConsumerGroup{}
}

// members are those of a group.
func (s *sandbox) members(group string) []*v1alpha1.GroupMember {
	return slices.DeleteFunc(current[*v1alpha1.GroupMember](s.recorder), func(m *v1alpha1.GroupMember) bool { return m.Spec.Group != group })
}

// member is a static member by its pod's name; an empty one where there is none.
func (s *sandbox) member(group, pod string) *v1alpha1.GroupMember {
	if member, ok := named[*v1alpha1.GroupMember](s.recorder, group+"."+pod); ok {
		return member
	}
	return &v1alpha1.GroupMember{}
}

// pods are those of a workload.
func (s *sandbox) pods(workload string) []*corev1.Pod {
	return slices.DeleteFunc(current[*corev1.Pod](s.recorder), func(p *corev1.Pod) bool { return p.Labels["app"] != workload })
}

// settled says that the group is Ready with that many members, no more and no fewer, all of them available.
func (s *sandbox) settled(name string, members int) bool {
	group := s.group(name)
	status := &group.Status
	if !ready(group) || int(status.Members) != members || int(status.AvailableMembers) != members {
		return false
	}
	all := s.members(name)
	return len(all) == members && !slices.ContainsFunc(all, func(m *v1alpha1.GroupMember) bool {
		return m.Status.State != v1alpha1.MemberActive || len(m.Status.Pending) > 0
	})
}

// ready says that the condition Ready is True and speaks of the spec as it is.
func ready(group *v1alpha1.ConsumerGroup) bool {
	return meta.IsStatusConditionTrue(group.Status.Conditions, v1alpha1.GroupReady) &&
		group.Status.ObservedGeneration == group.Generation
}

// awaitSettled waits until the group is settled, and every pod of its members has been told.
func (s *sandbox) awaitSettled(group string, members int) {
	s.t.Helper()
	s.await(fmt.Sprintf("%s is Ready with %d members", group, members), func() bool { return s.settled(group, members) })
	s.awaitTold(group)
}

// awaitTold waits until every pod of the group's members bears the document of what its member holds.
func (s *sandbox) awaitTold(group string) {
	s.t.Helper()
	wrong := ""
	if !s.within(patience, "every pod is told", func() bool { wrong = s.wronglyTold(group); return wrong == "" }) {
		s.t.Fatalf("waited %v in vain until every pod of %s is told what it holds: %s", patience, group, wrong)
	}
}

// wronglyTold is the first member of a group whose pod bears another document than it should; empty when all are right.
func (s *sandbox) wronglyTold(group string) string {
	byUID := map[string]*corev1.Pod{}
	for _, pod := range current[*corev1.Pod](s.recorder) {
		byUID[string(pod.UID)] = pod
	}
	for _, member := range s.members(group) {
		pod := byUID[member.Spec.Incarnation]
		if pod == nil {
			return fmt.Sprintf("%s is of pod %s, which is not there", member.Name, member.Spec.Incarnation)
		}
		if wrong := s.wrongDocument(member, pod); wrong != "" {
			return fmt.Sprintf("pod %s: %s", pod.Name, wrong)
		}
	}
	return ""
}

// wrongDocument says what is wrong with the document that a pod bears; empty when it is right.
func (s *sandbox) wrongDocument(member *v1alpha1.GroupMember, pod *corev1.Pod) string {
	document, err := documentOf(pod, member.Spec.Group)
	if err != nil {
		return err.Error()
	}
	name := member.Spec.MemberName
	if name == "" {
		name = member.Name
	}
	switch {
	case document.Group != member.Spec.Group || document.Member != name:
		return fmt.Sprintf("the document is of %s in %s", document.Member, document.Group)
	case document.MemberID != name+"-"+string(pod.UID):
		return "the document is of memberID " + document.MemberID
	case document.Revision != member.Status.Revision:
		return fmt.Sprintf("the document is of revision %d, not %d", document.Revision, member.Status.Revision)
	case !maps.Equal(tokensOf(document.TopicPartitions), heldTokens(member)):
		return fmt.Sprintf("the document gives %v, the member holds %v", tokensOf(document.TopicPartitions), heldTokens(member))
	}
	for _, topic := range s.group(member.Spec.Group).Spec.Topics {
		for _, entry := range document.TopicPartitions {
			if entry.Topic == topic.Name && entry.Of != topic.Partitions {
				return fmt.Sprintf("the document says that %s has %d partitions, not %d", topic.Name, entry.Of, topic.Partitions)
			}
		}
	}
	return ""
}

// documentOf reads the document that a pod bears, strictly: its keys are part of what users rely on.
func documentOf(pod *corev1.Pod, group string) (*v1alpha1.AssignmentDocument, error) {
	text, ok := pod.Annotations[v1alpha1.AssignmentAnnotationPrefix+group]
	if !ok {
		return nil, fmt.Errorf("no document of group %s", group)
	}
	document := &v1alpha1.AssignmentDocument{}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(document); err != nil {
		return nil, fmt.Errorf("document of group %s: %w", group, err)
	}
	return document, nil
}

func tokensOf(entries []v1alpha1.DocumentPartitions) map[referee.Copy]int64 {
	tokens := map[referee.Copy]int64{}
	for _, entry := range entries {
		index := int32(0)
		if entry.Copy != nil {
			index = *entry.Copy
		}
		for _, partition := range entry.Partitions {
			tokens[referee.Copy{Topic: entry.Topic, Index: index, Partition: partition}] = entry.Token
		}
	}
	return tokens
}

// heldTokens is what a member holds, with the token of each copy.
func heldTokens(member *v1alpha1.GroupMember) map[referee.Copy]int64 {
	tokens := map[referee.Copy]int64{}
	if member.Status.Assignment != nil {
		for _, work := range referee.Held(member.Status.Assignment.TopicPartitions) {
			tokens[work.Copy] = work.Token
		}
	}
	return tokens
}

// held is what a member holds.
func held(member *v1alpha1.GroupMember) []referee.Copy {
	return slices.SortedFunc(maps.Keys(heldTokens(member)), func(a, b referee.Copy) int { return strings.Compare(a.String(), b.String()) })
}

// owners says by name who holds what in a group of static members.
func (s *sandbox) owners(group string) map[referee.Copy]string {
	owners := map[referee.Copy]string{}
	for _, member := range s.members(group) {
		for _, c := range held(member) {
			owners[c] = member.Spec.MemberName
		}
	}
	return owners
}

// tokens says under which token each copy is held.
func (s *sandbox) tokens(group string) map[referee.Copy]int64 {
	tokens := map[referee.Copy]int64{}
	for _, member := range s.members(group) {
		maps.Copy(tokens, heldTokens(member))
	}
	return tokens
}

// shares counts what each member holds, by its name.
func (s *sandbox) shares(group string) map[string]int {
	shares := map[string]int{}
	for _, member := range s.members(group) {
		shares[member.Spec.MemberName] = len(held(member))
	}
	return shares
}

// moved counts how often a copy came from one static member of a group to another in these versions, there and back counted
// twice. Before says who held what at their beginning.
func moved(versions []version, group string, before map[referee.Copy]string) int {
	holders, count := maps.Clone(before), 0
	for _, v := range versions {
		member, ok := v.object.(*v1alpha1.GroupMember)
		if !ok || v.gone || member.Spec.Group != group {
			continue
		}
		for _, c := range held(member) {
			if holders[c] != "" && holders[c] != member.Spec.MemberName {
				count++
			}
			holders[c] = member.Spec.MemberName
		}
	}
	return count
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// stopped says that a pod's containers have ended for good.
func stopped(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
