package sim

import (
	"errors"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

var errUnreachable = errors.New("the API server cannot be reached")

// Acknowledge says that all has stopped that was revoked so far.
func (p *Process) Acknowledge() {
	if p.ended || p.paused || p.read == nil {
		return
	}
	if p.world.isDark() {
		p.world.later(func() error {
			p.Acknowledge()
			return nil
		})
		return
	}
	if p.Acks == AckStuck {
		p.works = map[referee.Copy]int64{}
		p.follow(p.read)
	}
	if p.read.DeletionTimestamp != nil {
		p.mismatch(p.final())
		return
	}
	p.acknowledge(true)
}

// Silence stops heartbeats, and nothing else.
func (p *Process) Silence() { p.silenced = true }

// Beat renews at once and counts anew. It is really sent, also by a process that has ended.
func (p *Process) Beat() {
	p.silenced = false
	p.beat()
}

// Pause freezes the process: no heartbeat, no reading, no stopping, no work.
func (p *Process) Pause() { p.paused = true }

// Resume lets it go on: it reads before it does anything.
func (p *Process) Resume() {
	if !p.paused {
		return
	}
	p.paused, p.unread = false, true
	p.haltIfOver()
	p.look()
	p.world.judgeStep(p.Handle + " resumes")
}

// Leave stops all, says so, and deletes the member.
func (p *Process) Leave() error {
	return p.finish(func() error {
		stored := Get[*v1alpha1.GroupMember](p.world.Store, p.object)
		lock := Precondition{UID: p.uid, ResourceVersion: stored.ResourceVersion}
		_, err := p.world.Store.Delete(MemberProcess, keyOf(stored), lock)
		return err
	})
}

// Close stops all, says so, and releases the Lease; the name stays.
func (p *Process) Close() error { return p.finish(p.releaseLease) }

// finish ends a process in good order; one whose name has another owner changes nothing.
func (p *Process) finish(last func() error) error {
	if p.ended {
		return nil
	}
	if p.world.isDark() {
		p.works, p.silenced = map[referee.Copy]int64{}, true
		p.world.later(func() error { return p.finish(last) })
		return nil
	}
	if p.uid == "" {
		p.end(ErrorNone)
		return nil
	}
	p.read = Get[*v1alpha1.GroupMember](p.world.Store, p.object)
	if p.read == nil || p.read.UID != p.uid {
		p.end(ErrorRemoved)
		return nil
	}
	if p.read.Spec.Incarnation != p.incarnation {
		p.end(ErrorMemberIDMismatch)
		return nil
	}
	p.works = map[referee.Copy]int64{}
	if err := p.final(); err != nil {
		return err
	}
	p.end(ErrorNone)
	return last()
}

// Update changes what it offers.
func (p *Process) Update(change func(*ProcessSpec)) error {
	change(&p.ProcessSpec)
	if p.ended || p.uid == "" {
		return nil
	}
	if p.world.isDark() {
		p.world.later(func() error { return p.Update(func(*ProcessSpec) {}) })
		return nil
	}
	err := p.patch(p.offer)
	p.mismatch(err)
	return nil
}
