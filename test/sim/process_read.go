package sim

import (
	"errors"
	"maps"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// look reads its member and does what follows from it. It says whether anything came of it.
func (p *Process) look() bool {
	if p.ended || p.paused || p.uid == "" || p.world.isDark() {
		return false
	}
	stored := Get[*v1alpha1.GroupMember](p.world.Store, p.object)
	switch {
	case stored == nil || stored.UID != p.uid:
		p.end(ErrorRemoved)
		return true
	case stored.Spec.Incarnation != p.incarnation:
		p.end(ErrorMemberIDMismatch)
		return true
	}
	news := stored != p.read || p.unread
	p.read, p.unread = stored, false
	news = p.understand(stored) || news
	if news {
		p.world.judgeStep(p.Handle + " reads")
	}
	return news
}

// understand does what the present form of its member asks for, and says whether anything came of it.
func (p *Process) understand(member *v1alpha1.GroupMember) bool {
	mine, state := member.Status.MemberID == p.memberID(), member.Status.State
	switch {
	case mine && state == v1alpha1.MemberDead:
		p.end(ErrorSessionExpired)
		return true
	case member.DeletionTimestamp != nil:
		return p.removed()
	case !mine:
		return false // Its join has not been answered yet.
	}
	p.err = ErrorNone
	if state == v1alpha1.MemberRejected {
		p.err = ErrorRejected
	}
	if group := p.world.leaderGroup(p.group); group != nil {
		return p.takePart(group, member)
	}
	p.follow(member)
	return p.acknowledge(p.Acks == AckAtOnce)
}

// follow works on what is assigned, and stops what no longer is.
func (p *Process) follow(member *v1alpha1.GroupMember) {
	works := map[referee.Copy]int64{}
	if p.Acks == AckStuck {
		maps.Copy(works, p.works)
	}
	if assignment := member.Status.Assignment; assignment != nil {
		for _, work := range referee.Held(assignment.TopicPartitions) {
			works[work.Copy] = work.Token
		}
	}
	p.works = works
	for _, owner := range member.OwnerReferences {
		p.groupUID = owner.UID
	}
	for _, revoked := range member.Status.Revoking {
		if revoked.MemberID == p.memberID() {
			p.revoked = max(p.revoked, revoked.Revision)
		}
	}
}

// acknowledge says that it has stopped what was revoked from it, if there is anything to say. It may come too late to be
// waited for.
func (p *Process) acknowledge(willing bool) bool {
	member, word := p.read, int64(0)
	if before := member.Spec.Acknowledged; before != nil && before.MemberID == p.memberID() {
		word = before.Revision
	}
	if !willing || p.revoked <= word {
		return false
	}
	err := p.patch(func(spec *v1alpha1.GroupMemberSpec) {
		spec.Acknowledged = acknowledgement(spec, p.memberID(), member.Status.Revision, false)
	})
	p.mismatch(err)
	return true
}

// acknowledgement of a revision that takes nothing back.
func acknowledgement(spec *v1alpha1.GroupMemberSpec, memberID string, revision int64, final bool) *v1alpha1.Acknowledged {
	word := v1alpha1.Acknowledged{MemberID: memberID, Revision: revision, Final: final}
	if before := spec.Acknowledged; before != nil && before.MemberID == memberID {
		word.Revision = max(word.Revision, before.Revision)
		word.Final = word.Final || before.Final
	}
	return &word
}

// unacknowledged: something was revoked from that memberID of which it has not said that it has stopped it.
func unacknowledged(member *v1alpha1.GroupMember, memberID string) bool {
	word := member.Spec.Acknowledged
	for _, revoked := range member.Status.Revoking {
		if revoked.MemberID != memberID {
			continue
		}
		if word == nil || word.MemberID != memberID || !word.Final && word.Revision < revoked.Revision {
			return true
		}
	}
	return false
}

// removed: someone has deleted its member. It stops all, and says so as it says everything else.
func (p *Process) removed() bool {
	if p.err == ErrorRemoved {
		return false
	}
	p.err = ErrorRemoved
	if p.Acks == AckStuck {
		return true
	}
	p.works = map[referee.Copy]int64{}
	if p.Acks == AckAtOnce {
		p.mismatch(p.final())
	}
	return true
}

// final says that everything has stopped and that nothing more starts under this memberID.
func (p *Process) final() error {
	return p.patch(func(spec *v1alpha1.GroupMemberSpec) {
		if p.read.Status.MemberID == p.memberID() {
			spec.Acknowledged = acknowledgement(spec, p.memberID(), p.read.Status.Revision, true)
		}
	})
}

// mismatch: a refused write tells a process that its name has another owner.
func (p *Process) mismatch(err error) {
	if err != nil && !errors.Is(err, errUnreachable) {
		p.end(ErrorMemberIDMismatch)
	}
}
