package sim

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

const (
	// defaultSession is used where neither the process nor a group states one.
	defaultSession = 45 * time.Second
	// beatsPerSession is how often a session is renewed.
	beatsPerSession = 3
	// marginShare of a session is left when a process of an Exclusive group stops by its own clock.
	marginShare = 10
)

// leaseHeld is a process's Lease as it knows it.
type leaseHeld struct {
	// last form that it has read or written; nil before it has one.
	last *coordinationv1.Lease
	// beat is when it last tried to renew on time, renewed when it last succeeded, by its own clock.
	beat, renewed time.Time
	// missed: a renewal did not get through; it is tried again as soon as the API server can be reached.
	missed bool
}

// takeLease makes the process the holder of its name's Lease, whoever held it.
func (p *Process) takeLease() {
	store, now := p.world.Store, p.world.Now()
	p.lease = leaseHeld{beat: now}
	var written Object
	var err error
	if held := Get[*coordinationv1.Lease](store, p.object); held == nil {
		written, err = store.Create(MemberProcess, p.newLease())
	} else {
		taken := held.DeepCopy()
		p.fill(taken)
		taken.Spec.AcquireTime = microOf(now)
		written, err = store.Update(MemberProcess, taken)
	}
	if err != nil {
		p.world.fail(err)
		return
	}
	p.lease.last, p.lease.renewed = written.(*coordinationv1.Lease), now
}

// newLease belongs to the GroupMember and goes with it.
func (p *Process) newLease() *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: p.object, Labels: map[string]string{v1alpha1.GroupLabel: p.group},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: KindGroupMember, Name: p.object, UID: p.uid,
		}},
	}}
	lease.Spec.AcquireTime = microOf(p.world.Now())
	p.fill(lease)
	return lease
}

// fill writes a renewal into a Lease.
func (p *Process) fill(lease *coordinationv1.Lease) {
	holder := p.memberID()
	seconds := int32((p.session() + time.Second - 1) / time.Second)
	lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = &holder, &seconds, microOf(p.world.Now())
}

// beat renews the Lease, locked by the version that the process last saw.
func (p *Process) beat() {
	now := p.world.Now()
	p.lease.beat = now
	if p.lease.last == nil {
		return
	}
	if p.world.isDark() {
		p.lease.missed = true
		return
	}
	p.lease.missed = false
	renewed := p.lease.last.DeepCopy()
	p.fill(renewed)
	written, err := p.world.Store.Update(MemberProcess, renewed)
	switch {
	case err == nil:
		p.lease.last, p.lease.renewed = written.(*coordinationv1.Lease), now
		p.proveAgain()
	case apierrors.IsNotFound(err):
		p.look()
	case p.ended:
	default:
		p.end(ErrorMemberIDMismatch)
	}
}

// proveAgain: after a renewal and a read that comes after it the process may work again.
func (p *Process) proveAgain() {
	if !p.halted || p.ended {
		return
	}
	p.look()
	if !p.ended {
		p.halted = false
		p.world.judgeStep(p.Handle + " works again")
	}
}

// releaseLease empties the holder.
func (p *Process) releaseLease() error {
	if p.lease.last == nil {
		return nil
	}
	nobody := ""
	released := p.lease.last.DeepCopy()
	released.Spec.HolderIdentity = &nobody
	released.Spec.RenewTime = microOf(p.world.Now())
	_, err := p.world.Store.Update(MemberProcess, released)
	return err
}

// beating: the process goes on renewing.
func (p *Process) beating() bool { return !p.ended && !p.silenced && !p.paused && p.uid != "" }

// nextBeat is when it next renews; zero when it does not.
func (p *Process) nextBeat() time.Time {
	if !p.beating() {
		return time.Time{}
	}
	return p.lease.beat.Add(p.session() / beatsPerSession)
}

// renew lets everybody renew whose time has come, and says whether anybody did.
func (w *World) renew() bool {
	renewed := false
	for _, process := range w.processes {
		if due := process.nextBeat(); !due.IsZero() && !due.After(w.Now()) {
			process.beat()
			renewed = true
		}
	}
	return renewed
}

// catchUp lets those renew whose renewals did not get through.
func (w *World) catchUp() {
	for _, process := range w.processes {
		if process.beating() && process.lease.missed {
			at := process.lease.beat
			process.beat()
			process.lease.beat = at
		}
	}
}

// nextHalt is when a process of an Exclusive group stops by its own clock; zero when it does not.
func (p *Process) nextHalt() time.Time {
	if p.ended || p.paused || p.halted || p.uid == "" || !p.exclusive() {
		return time.Time{}
	}
	session := p.session()
	return p.lease.renewed.Add(session - session/marginShare)
}

// exclusive remembers the policy of a group that is gone.
func (p *Process) exclusive() bool {
	if group := Get[*v1alpha1.ConsumerGroup](p.world.Store, p.group); group != nil {
		p.underExclusive = group.Spec.Handover.Policy == v1alpha1.HandoverExclusive
	}
	return p.underExclusive
}

// haltIfOver stops work when the session is over by the process's own clock.
func (p *Process) haltIfOver() bool {
	due := p.nextHalt()
	if due.IsZero() || due.After(p.world.Now()) {
		return false
	}
	p.halted = true
	p.world.judgeStep(p.Handle + " stops by its own clock")
	return true
}

// haltOverdue stops everybody whose session is over by its own clock.
func (w *World) haltOverdue() bool {
	halted := false
	for _, process := range w.processes {
		halted = process.haltIfOver() || halted
	}
	return halted
}
