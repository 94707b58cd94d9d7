package sim

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// Pod is what runs in the newest pod of a name: a reader of the pod's annotations, or an agent that reads the member itself and
// acknowledges for it. It knows what it last read; nothing reaches a pod on a lost node.
type Pod struct {
	// Name of the pod, and UID of the newest one.
	Name string
	UID  types.UID

	world *World
	// works by group, and the UID of that group.
	works  map[string]map[referee.Copy]int64
	groups map[string]types.UID
	// running: its containers run.
	running bool
}

// Pods of which there ever was one, by name.
func (w *World) Pods() []*Pod {
	var pods []*Pod
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		pods = append(pods, w.pods[name])
	}
	return pods
}

// Working is what it works on now, by group, with the tokens that it shows to stores.
func (p *Pod) Working() map[string]map[referee.Copy]int64 { return p.works }

// podsReact lets what runs in pods read and do what follows.
func (w *World) podsReact() bool {
	acted := false
	for _, pod := range w.Pods() {
		acted = pod.react() || acted
	}
	return acted
}

// react says whether what it works on has changed, or something was acknowledged.
func (p *Pod) react() bool {
	pod := Get[*corev1.Pod](p.world.Store, p.Name)
	if pod == nil || pod.UID != p.UID {
		return p.stop()
	}
	p.running = containersRun(pod)
	if !p.running {
		return p.stop()
	}
	if p.world.isDark() || p.world.lostNode(pod) {
		return false
	}
	works, groups := map[string]map[referee.Copy]int64{}, map[string]types.UID{}
	acknowledged := false
	for _, member := range p.members() {
		group := member.Spec.Group
		works[group] = p.readOf(pod, member)
		for _, owner := range member.OwnerReferences {
			groups[group] = owner.UID
		}
		acknowledged = p.speak(pod, member) || acknowledged
	}
	changed := !maps.EqualFunc(works, p.works, maps.Equal)
	p.works, p.groups = works, groups
	if changed {
		p.world.judgeStep("pod " + p.Name + " reads")
	}
	return changed || acknowledged
}

// speak is what an agent has to say for its pod.
func (p *Pod) speak(pod *corev1.Pod, member *v1alpha1.GroupMember) bool {
	if group := p.world.leaderGroup(member.Spec.Group); group != nil {
		return hasAgent(pod) && p.takePart(group, member)
	}
	return p.acknowledge(pod, member)
}

func (p *Pod) stop() bool {
	had := len(p.works) > 0
	p.works, p.running = nil, false
	return had
}

func containersRun(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && !slices.ContainsFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
		return status.State.Running == nil
	})
}

// members are those whose incarnation the pod is.
func (p *Pod) members() []*v1alpha1.GroupMember {
	return slices.DeleteFunc(List[*v1alpha1.GroupMember](p.world.Store), func(member *v1alpha1.GroupMember) bool {
		return member.Spec.Workload == nil || member.Spec.Incarnation != string(p.UID)
	})
}

// readOf is what the pod reads that it may work on for a group.
func (p *Pod) readOf(pod *corev1.Pod, member *v1alpha1.GroupMember) map[referee.Copy]int64 {
	if hasAgent(pod) {
		if !strings.HasSuffix(member.Status.MemberID, string(p.UID)) || member.Status.Assignment == nil ||
			!answered(p.world.leaderGroup(member.Spec.Group), member) {
			return nil
		}
		return workOn(referee.Held(member.Status.Assignment.TopicPartitions))
	}
	var document v1alpha1.AssignmentDocument
	text := pod.Annotations[v1alpha1.AssignmentAnnotationPrefix+member.Spec.Group]
	if json.Unmarshal([]byte(text), &document) != nil || !strings.HasSuffix(document.MemberID, string(p.UID)) {
		return nil
	}
	works := map[referee.Copy]int64{}
	for _, entry := range document.TopicPartitions {
		index := int32(0)
		if entry.Copy != nil {
			index = *entry.Copy
		}
		for _, partition := range entry.Partitions {
			works[referee.Copy{Topic: entry.Topic, Index: index, Partition: partition}] = entry.Token
		}
	}
	return works
}

func workOn(held []referee.Work) map[referee.Copy]int64 {
	works := map[referee.Copy]int64{}
	for _, work := range held {
		works[work.Copy] = work.Token
	}
	return works
}

func hasAgent(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == v1alpha1.AgentContainerName })
}

// acknowledge is what an agent does as soon as it reads of a revocation.
func (p *Pod) acknowledge(pod *corev1.Pod, member *v1alpha1.GroupMember) bool {
	if !hasAgent(pod) || member.Spec.Acknowledgement != v1alpha1.AcknowledgeExplicit {
		return false
	}
	memberID := member.Status.MemberID
	if !strings.HasSuffix(memberID, string(p.UID)) || !unacknowledged(member, memberID) {
		return false
	}
	p.works[member.Spec.Group] = p.readOf(pod, member)
	updated := member.DeepCopy()
	updated.Spec.Acknowledged = acknowledgement(&updated.Spec, memberID, member.Status.Revision, false)
	_, err := p.world.Store.Update(MemberProcess, updated)
	p.world.fail(err)
	return true
}

func hashOf(data []byte) uint32 {
	hash := fnv.New32a()
	hash.Write(data)
	return hash.Sum32()
}
