package sim

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/presence"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// AckMode is how a process acknowledges what was revoked.
type AckMode string

// Ways to acknowledge.
const (
	// AckAtOnce: as soon as it reads of it.
	AckAtOnce AckMode = "true"
	// AckManual: it stops at once, and says so when told to.
	AckManual AckMode = "manual"
	// AckStuck: it never says so, and goes on working.
	AckStuck AckMode = "stuck"
)

// Errors that a process sees.
const (
	ErrorNone             = "none"
	ErrorMemberIDMismatch = "MemberIDMismatch"
	ErrorSessionExpired   = "SessionExpired"
	ErrorRejected         = "Rejected"
	ErrorRemoved          = "Removed"
)

// ProcessSpec is what a process is started with.
type ProcessSpec struct {
	// Handle is its name in the test.
	Handle string
	// Member is its static name; empty for a dynamic member.
	Member                           string
	Host, Zone                       string
	Topics                           []string
	Capacity                         *int64
	Protocols                        []v1alpha1.MemberProtocol
	SessionTimeout, RebalanceTimeout *metav1.Duration
	Acks                             AckMode
	// JoinsManually: in Leader mode it releases and joins only when told to.
	JoinsManually bool
}

// Process is a self-registered member: it joins, renews its Lease, works on what it last read and acknowledges.
type Process struct {
	ProcessSpec

	world       *World
	group       string
	object      string
	incarnation string
	// uid is the object's that it joined with; empty while it waits for a former one to go.
	uid types.UID
	// groupUID is the group's by whose answer it works.
	groupUID types.UID
	read     *v1alpha1.GroupMember
	works    map[referee.Copy]int64
	err      string
	// revoked is the newest revision that took something from it: until it has acknowledged that, it owes its word.
	revoked int64
	// ended: it writes nothing more.
	ended            bool
	silenced, paused bool
	// unread: it was frozen and has not read since.
	unread bool
	// halted: its session was over by its own clock, and it has not renewed and read since.
	halted         bool
	underExclusive bool
	// joinedFor is the generation that it has joined for last (Leader mode).
	joinedFor int64

	lease leaseHeld
}

// Start begins a process of the group and lets it join.
func (w *World) Start(group string, spec ProcessSpec) *Process {
	p := &Process{
		ProcessSpec: spec, world: w, group: group, incarnation: w.uuid(), works: map[referee.Copy]int64{}, err: ErrorNone,
	}
	if p.Host == "" {
		p.Host = "host-" + strings.ToLower(p.Handle)
	}
	p.object = presence.StaticObjectName(group, spec.Member)
	if spec.Member == "" {
		p.object = presence.DynamicObjectName(group, strings.ToLower(spec.Handle), p.incarnation)
	}
	w.processes = append(w.processes, p)
	p.join()
	return p
}

// Process finds the newest process of that handle; nil when there is none.
func (w *World) Process(handle string) *Process {
	for i := len(w.processes) - 1; i >= 0; i-- {
		if w.processes[i].Handle == handle {
			return w.processes[i]
		}
	}
	return nil
}

// Processes that were started, oldest first.
func (w *World) Processes() []*Process { return w.processes }

func (w *World) processOf(memberID string) *Process {
	for _, process := range w.processes {
		if process.memberID() == memberID {
			return process
		}
	}
	return nil
}

// memberID is "<member or object name>-<incarnation>".
func (p *Process) memberID() string {
	name := p.Member
	if name == "" {
		name = p.object
	}
	return name + "-" + p.incarnation
}

// Object is the name of its GroupMember.
func (p *Process) Object() string { return p.object }

// Group is the name of its group.
func (p *Process) Group() string { return p.group }

// Trouble is the error that it has seen: ErrorNone while all is well.
func (p *Process) Trouble() string { return p.err }

// join registers the process. Where the object that bears its name is going, it waits until that is gone.
func (p *Process) join() bool {
	if p.ended || p.paused || p.uid != "" || p.world.isDark() {
		return false
	}
	stored := Get[*v1alpha1.GroupMember](p.world.Store, p.object)
	switch {
	case stored == nil:
		return p.register()
	case stored.DeletionTimestamp != nil:
		return false
	case stored.Spec.Workload != nil:
		p.end(ErrorRejected) // The name is a pod's.
		return true
	}
	return p.takeOver(stored)
}

// register creates the member, and then the Lease that belongs to it.
func (p *Process) register() bool {
	member := &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{
			Name: p.object, Labels: map[string]string{v1alpha1.GroupLabel: p.group}, Finalizers: []string{v1alpha1.HandoverFinalizer},
		},
		Spec: v1alpha1.GroupMemberSpec{
			Group: p.group, MemberName: p.Member, Acknowledgement: v1alpha1.AcknowledgeExplicit,
		},
	}
	p.describe(&member.Spec)
	created, err := p.world.Store.Create(MemberProcess, member)
	if err != nil {
		p.world.fail(fmt.Errorf("process %s cannot register: %w", p.Handle, err))
		p.end(ErrorRejected)
		return true
	}
	p.joined(created.(*v1alpha1.GroupMember))
	p.takeLease()
	return true
}

// takeOver takes the Lease first: from then on the process before can renew nothing.
func (p *Process) takeOver(stored *v1alpha1.GroupMember) bool {
	p.uid = stored.UID
	p.takeLease()
	updated := stored.DeepCopy()
	p.describe(&updated.Spec)
	written, err := p.world.Store.Update(MemberProcess, updated)
	if err != nil {
		p.world.fail(fmt.Errorf("process %s cannot take over: %w", p.Handle, err))
		p.end(ErrorRejected)
		return true
	}
	p.joined(written.(*v1alpha1.GroupMember))
	return true
}

func (p *Process) joined(member *v1alpha1.GroupMember) {
	p.uid, p.read = member.UID, member
}

// describe fills in what only a join sets.
func (p *Process) describe(spec *v1alpha1.GroupMemberSpec) {
	spec.Incarnation, spec.Host, spec.Zone = p.incarnation, p.Host, p.Zone
	p.offer(spec)
}

// offer fills in what the process may change later.
func (p *Process) offer(spec *v1alpha1.GroupMemberSpec) {
	spec.Topics, spec.Capacity, spec.Protocols = p.Topics, p.Capacity, p.protocols()
	spec.SessionTimeout, spec.RebalanceTimeout = p.SessionTimeout, p.RebalanceTimeout
}

// patch changes the process's own part of its member, if the object and the incarnation are still its own.
func (p *Process) patch(change func(*v1alpha1.GroupMemberSpec)) error {
	if p.world.isDark() {
		return errUnreachable
	}
	stored := Get[*v1alpha1.GroupMember](p.world.Store, p.object)
	if stored == nil || stored.UID != p.uid || stored.Spec.Incarnation != p.incarnation {
		return fmt.Errorf("process %s: %s", p.Handle, ErrorMemberIDMismatch)
	}
	updated := stored.DeepCopy()
	change(&updated.Spec)
	_, err := p.world.Store.Update(MemberProcess, updated)
	return err
}

// end stops all work; nothing more is written.
func (p *Process) end(seen string) {
	p.err, p.ended = seen, true
	p.works = map[referee.Copy]int64{}
	p.world.judgeStep(p.Handle + " ends")
}

// Working is what it works on now, with the tokens that it shows to stores.
func (p *Process) Working() map[referee.Copy]int64 {
	if p.ended || p.paused || p.unread || p.halted {
		return nil
	}
	return p.works
}

// Proven says that it has had a word from the control plane within its session.
func (p *Process) Proven() bool {
	return !p.ended && !p.unread && p.uid != "" && p.lease.renewed.Add(p.session()).After(p.world.Now())
}

// session is the timeout that it goes by.
func (p *Process) session() time.Duration {
	if p.read != nil && p.read.Status.SessionTimeout != nil && p.read.Status.MemberID == p.memberID() {
		return p.read.Status.SessionTimeout.Duration
	}
	if p.SessionTimeout != nil {
		return p.SessionTimeout.Duration
	}
	if group := Get[*v1alpha1.ConsumerGroup](p.world.Store, p.group); group != nil {
		return group.Spec.SessionTimeout.Duration
	}
	return defaultSession
}

// processesReact lets every process and pod read and do what follows.
func (w *World) processesReact() bool {
	acted := false
	for _, process := range w.processes {
		acted = process.join() || acted
		acted = process.look() || acted
	}
	return w.podsReact() || acted
}
