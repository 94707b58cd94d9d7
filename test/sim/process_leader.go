package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// Leader mode, as a member's process sees it: it releases all and joins when the group is Joining, and works again when
// the answer of the generation that it joined for has come.

// defaultProtocol is offered by who says nothing else.
const defaultProtocol = "sticky"

// leaderGroup is the process's group if that is in Leader mode, nil otherwise.
func (w *World) leaderGroup(name string) *v1alpha1.ConsumerGroup {
	group := Get[*v1alpha1.ConsumerGroup](w.Store, name)
	if group == nil || group.Spec.AssignedBy != v1alpha1.AssignedByLeader {
		return nil
	}
	return group
}

// protocols that a process offers; it knows its group before it starts.
func (p *Process) protocols() []v1alpha1.MemberProtocol {
	if len(p.Protocols) == 0 && p.world.leaderGroup(p.group) != nil {
		return []v1alpha1.MemberProtocol{{Name: defaultProtocol}}
	}
	return p.Protocols
}

// takePart follows the group, and says whether the process has written anything.
func (p *Process) takePart(group *v1alpha1.ConsumerGroup, member *v1alpha1.GroupMember) bool {
	if group.Status.State != v1alpha1.GroupJoining || p.JoinsManually {
		p.workAgain(member)
		return false
	}
	p.works = map[referee.Copy]int64{}
	word := joinsRound(group, member, p.memberID())
	if word == nil {
		return false
	}
	p.joins(word)
	return true
}

// joinsRound is what a member says to join the open round; nil when it has nothing to say: it has said so already, or has
// joined by its creation.
func joinsRound(group *v1alpha1.ConsumerGroup, member *v1alpha1.GroupMember, memberID string) *v1alpha1.Joined {
	state, status := member.Status.State, &member.Status
	takesPart := state == v1alpha1.MemberActive || state == v1alpha1.MemberUnavailable || state == v1alpha1.MemberPending && status.Assignment != nil
	generation := group.Status.Generation + 1
	before := member.Spec.Joined
	if !takesPart || status.MemberID != memberID || before != nil && before.MemberID == memberID && before.Generation >= generation {
		return nil
	}
	return &v1alpha1.Joined{MemberID: memberID, Generation: generation}
}

func (p *Process) joins(word *v1alpha1.Joined) {
	p.joinedFor = word.Generation
	p.mismatch(p.patch(func(spec *v1alpha1.GroupMemberSpec) { spec.Joined = word }))
}

// workAgain works on what the process was answered for the generation that it joined.
func (p *Process) workAgain(member *v1alpha1.GroupMember) {
	p.works = map[referee.Copy]int64{}
	if assignment := member.Status.Assignment; assignment != nil && member.Status.Generation >= p.joinedFor {
		p.works = workOn(referee.Held(assignment.TopicPartitions))
	}
}

// Join releases what the process holds and joins the open round; too late, it says what it would have said in time.
func (p *Process) Join() error {
	group := p.world.leaderGroup(p.group)
	if p.ended || p.paused || p.uid == "" || group == nil || p.world.isDark() {
		return nil
	}
	p.works = map[referee.Copy]int64{}
	word := joinsRound(group, Get[*v1alpha1.GroupMember](p.world.Store, p.object), p.memberID())
	if word == nil {
		return nil
	}
	if group.Status.State != v1alpha1.GroupJoining {
		word.Generation--
	}
	p.joins(word)
	return nil
}

// Sync sends the state of members, by memberID, as the leader does; or an error.
func (p *Process) Sync(states map[string][]byte, trouble string) error {
	group := p.world.leaderGroup(p.group)
	if p.ended || p.uid == "" || group == nil || p.world.isDark() {
		return nil
	}
	sync := &v1alpha1.Sync{MemberID: p.memberID(), Generation: group.Status.Generation, Error: trouble}
	for _, id := range slices.Sorted(maps.Keys(states)) {
		sync.Assignments = append(sync.Assignments, v1alpha1.SyncAssignment{MemberID: id, State: states[id]})
	}
	err := p.patch(func(spec *v1alpha1.GroupMemberSpec) { spec.Sync = sync })
	if err != nil && strings.Contains(err.Error(), ErrorMemberIDMismatch) {
		p.mismatch(err)
		return nil
	}
	return err
}

// takePart is what an agent does for its pod in Leader mode.
func (p *Pod) takePart(group *v1alpha1.ConsumerGroup, member *v1alpha1.GroupMember) bool {
	memberID := member.Status.MemberID
	updated, says := member.DeepCopy(), false
	if len(member.Spec.Protocols) == 0 {
		updated.Spec.Protocols, says = []v1alpha1.MemberProtocol{{Name: defaultProtocol}}, true
	}
	if group.Status.State == v1alpha1.GroupJoining && strings.HasSuffix(memberID, string(p.UID)) {
		if word := joinsRound(group, member, memberID); word != nil {
			updated.Spec.Joined, says = word, true
		}
	}
	if !says {
		return false
	}
	if _, err := p.world.Store.Update(MemberProcess, updated); err != nil {
		p.world.fail(fmt.Errorf("pod %s takes part: %w", p.Name, err))
	}
	return true
}

// answered: the pod may work on what stands in its member, in Leader mode when it is not to release it.
func answered(group *v1alpha1.ConsumerGroup, member *v1alpha1.GroupMember) bool {
	joined := member.Spec.Joined
	return group == nil || group.Status.State != v1alpha1.GroupJoining &&
		(joined == nil || joined.MemberID != member.Status.MemberID || member.Status.Generation >= joined.Generation)
}
