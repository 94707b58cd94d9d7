package main

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// What is measured of a step, from the objects and the order in which they were written.

// partition is one of a topic; the sample has no copies.
type partition struct {
	topic  string
	number int32
}

// held says which member holds which partition, by the members' own statuses.
func (s *story) held() map[partition]string {
	owners := map[partition]string{}
	for _, member := range s.seen.members() {
		for _, p := range partitionsOf(member) {
			owners[p] = member.Spec.MemberName
		}
	}
	return owners
}

func partitionsOf(member *v1alpha1.GroupMember) []partition {
	var list []partition
	if member.Status.Assignment == nil {
		return nil
	}
	for _, held := range member.Status.Assignment.TopicPartitions {
		for _, number := range held.Partitions {
			list = append(list, partition{held.Topic, number})
		}
	}
	return list
}

// generations is how many the step cost.
func (s *story) generations() int {
	return int(s.seen.group().Status.Generation - s.generation)
}

// moved counts the partitions that had an owner when the step began and have another now.
func (s *story) moved() int {
	count := 0
	now := s.held()
	for p, owner := range s.owners {
		if now[p] != owner {
			count++
		}
	}
	return count
}

// shares are the numbers of partitions that members hold, who hold any.
func (s *story) shares() map[string]int {
	shares := map[string]int{}
	for _, owner := range s.held() {
		shares[owner]++
	}
	return shares
}

func (s *story) heldBy(members []string) int {
	count := 0
	for _, member := range members {
		count += s.shares()[member]
	}
	return count
}

// lonelyNode is the one with the fewest workers, and these.
func (s *story) lonelyNode() (node string, workers []string) {
	on := map[string][]string{}
	for _, pod := range s.seen.pods() {
		on[pod.Spec.NodeName] = append(on[pod.Spec.NodeName], pod.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		if node == "" || len(on[name]) < len(on[node]) {
			node = name
		}
	}
	return node, on[node]
}

// ended tells whether a version shows that a member can work no more; name is the member's.
type ended func(v version) (name string, has bool)

// podStopped: the pod has stopped or is gone.
func podStopped(v version) (string, bool) {
	pod, ok := v.object.(*corev1.Pod)
	if !ok {
		return "", false
	}
	phase := pod.Status.Phase
	return pod.Name, v.gone || phase == corev1.PodSucceeded || phase == corev1.PodFailed
}

// declaredDead: the member's session has ended.
func declaredDead(v version) (string, bool) {
	member, ok := v.object.(*v1alpha1.GroupMember)
	if !ok {
		return "", false
	}
	return member.Spec.MemberName, member.Status.State == v1alpha1.MemberDead
}

// ends are the first versions of this step that show a member's end.
func (s *story) ends(has ended) map[string]version {
	first := map[string]version{}
	for _, v := range s.seen.since(s.versions) {
		if name, over := has(v); over {
			if _, known := first[name]; !known {
				first[name] = v
			}
		}
	}
	return first
}

// handovers are, for each partition that moved in this step, the first version that shows it with another owner.
func (s *story) handovers() map[partition]version {
	first := map[partition]version{}
	for _, v := range s.seen.since(s.versions) {
		member, ok := v.object.(*v1alpha1.GroupMember)
		if !ok || v.gone {
			continue
		}
		for _, p := range partitionsOf(member) {
			if _, known := first[p]; !known && s.owners[p] != "" && s.owners[p] != member.Spec.MemberName {
				first[p] = v
			}
		}
	}
	return first
}

// early counts partitions that another member got before their owner had come to its end.
func (s *story) early(has ended) int {
	count := 0
	ends := s.ends(has)
	for p, got := range s.handovers() {
		if end, over := ends[s.owners[p]]; !over || got.number < end.number {
			count++
		}
	}
	return count
}

// handedOver is the time from the last owner's end to the last partition's arrival at its next owner.
func (s *story) handedOver(has ended) time.Duration {
	var last, end time.Time
	ends := s.ends(has)
	for p, got := range s.handovers() {
		if got.seen.After(last) {
			last = got.seen
		}
		if of := ends[s.owners[p]]; of.seen.After(end) {
			end = of.seen
		}
	}
	return last.Sub(end)
}

// patience is the least time from when one of these members was found away to when it was removed, by the operator's own
// record.
func (s *story) patience(names []string) time.Duration {
	least := time.Duration(0)
	for _, member := range s.seen.members() {
		if !slices.Contains(names, member.Spec.MemberName) || member.Status.Left == nil {
			continue
		}
		waited := member.Status.Left.Time.Sub(member.Spec.Presence.Since.Time)
		if least == 0 || waited < least {
			least = waited
		}
	}
	return least
}
