package explore

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// process is one running process of a member. It works on what it last read, however long ago that was.
type process struct {
	name        string // "a1": the member's name and the count of its starts, which is its incarnation
	member      string
	kind        kind
	incarnation string
	// read is its member's object as it last read it.
	read  *v1alpha1.GroupMember
	works []referee.Work
	group types.UID
	// acknowledged is the generation of what it last acknowledged; only a mutation looks at it.
	acknowledged int64
	// renews: its heartbeat goes on; renewed is its last success. Self-registered processes only.
	renews  bool
	renewed time.Time
	// unproven: under Exclusive it has stopped by its own clock, and works again only after a renewal.
	unproven bool
	// claims: it has taken the Lease and not yet written its incarnation.
	claims bool
	// quits: it has stopped all and is on its way out: first its last word, then (leaves) the deletion of its member.
	quits, leaves bool
	// goes: its pod is being deleted and will stop.
	goes bool
	// over: it does and will do nothing any more.
	over bool
}

func (p *process) object() string   { return objectName(p.member) }
func (p *process) memberID() string { return p.member + "-" + p.incarnation }

// procOf is the latest process of a member that is not over, or nil.
func (w *world) procOf(member string) *process {
	for i := len(w.procs) - 1; i >= 0; i-- {
		if w.procs[i].member == member && !w.procs[i].over {
			return &w.procs[i]
		}
	}
	return nil
}

func (w *world) startProcess(member string) *process {
	n := w.born(member)
	name := fmt.Sprintf("%s%d", member, n)
	p := process{name: name, member: member, kind: w.kinds[member], incarnation: name, group: w.groupUID()}
	i := slices.IndexFunc(w.procs, func(other process) bool { return other.member > member })
	if i < 0 {
		i = len(w.procs)
	}
	w.procs = slices.Insert(slices.Clone(w.procs), i, p)
	return &w.procs[i]
}

// stop ends all work of a process for good.
func (p *process) stop() { p.works, p.over = nil, true }

// createMember is what a process's Join does, or the workload controller for a pod.
func (w *world) createMember(p *process) {
	name := p.object()
	m := &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace, UID: types.UID(fmt.Sprintf("%.2s%06d-m", p.member, w.born(name))),
			CreationTimestamp: metav1.NewTime(w.now), Generation: 1,
			Labels:     map[string]string{v1alpha1.GroupLabel: groupName},
			Finalizers: []string{v1alpha1.HandoverFinalizer},
		},
		Spec: v1alpha1.GroupMemberSpec{
			Group: groupName, MemberName: p.member, Incarnation: p.incarnation, Acknowledgement: v1alpha1.AcknowledgeExplicit,
		},
	}
	if p.kind == registered {
		w.leases = append(slices.Clone(w.leases), lease{name: name, holder: p.memberID(), renew: w.now, seen: w.now})
		p.renews, p.renewed = true, w.now
	} else {
		m.Spec.Workload = &v1alpha1.WorkloadReference{Kind: workload.Kind, Name: workload.Name}
		m.Spec.Presence = &v1alpha1.Presence{State: v1alpha1.Present, Reason: v1alpha1.PresenceReady, Since: metav1.NewMicroTime(w.now)}
	}
	if p.kind == reader {
		m.Spec.Acknowledgement = v1alpha1.AcknowledgeNone
	}
	w.putMember(m, true)
}

// rewrite stores a changed spec.
func (w *world) rewrite(m *v1alpha1.GroupMember, change func(*v1alpha1.GroupMemberSpec)) {
	changed := *m
	change(&changed.Spec)
	changed.Generation++
	w.putMember(&changed, true)
}

func (w *world) setPresence(m *v1alpha1.GroupMember, state v1alpha1.PresenceState, reason string, stopped bool) {
	w.rewrite(m, func(spec *v1alpha1.GroupMemberSpec) {
		spec.Presence = &v1alpha1.Presence{State: state, Reason: reason, Since: metav1.NewMicroTime(w.now), Stopped: stopped}
	})
}

// reads says whether a process would see something that it does not know.
func (w *world) reads(p *process) bool {
	if p.quits || p.claims || p.over || p.unproven {
		return false
	}
	now := w.memberNow(p.object())
	if now == nil || p.read == nil {
		return now != p.read
	}
	a, b := now, p.read
	return a.UID != b.UID || a.Spec.Incarnation != b.Spec.Incarnation || a.Status.MemberID != b.Status.MemberID ||
		a.Status.Revision != b.Status.Revision || a.Status.State != b.Status.State ||
		(a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil)
}

// takeIn is a process that reads its member: what is no longer its own it stops, what is new it starts.
func (w *world) takeIn(p *process) {
	before, now := p.read, w.memberNow(p.object())
	p.read, p.works = now, nil
	if p.kind == registered && w.dismissed(p, before, now) {
		return
	}
	if now == nil || now.Spec.Incarnation != p.incarnation || now.Status.MemberID != p.memberID() {
		return
	}
	if now.Status.Assignment != nil {
		p.works = referee.Held(now.Status.Assignment.TopicPartitions)
	}
	p.group = w.groupUID()
}

// onlyGains: reading would take nothing from it and ask nothing of it. It may as well read at once: who starts early and
// stops late does most harm.
func (w *world) onlyGains(p *process) bool {
	now := w.memberNow(p.object())
	if now == nil || now.DeletionTimestamp != nil || now.Spec.Incarnation != p.incarnation || p.read != nil && p.read.UID != now.UID {
		return false
	}
	if slices.ContainsFunc(now.Status.Revoking, func(r v1alpha1.Revocation) bool { return r.MemberID == p.memberID() }) {
		return false
	}
	later := *p
	w.takeIn(&later)
	for _, work := range p.works {
		if !slices.Contains(later.works, work) {
			return false
		}
	}
	return true
}

// dismissed: another process has its name, or its member was removed. It stops, and works again only as a new start.
func (w *world) dismissed(p *process, before, now *v1alpha1.GroupMember) bool {
	switch {
	case now == nil, now.Spec.Incarnation != p.incarnation, before != nil && before.UID != now.UID:
		p.stop()
		return true
	case now.DeletionTimestamp != nil:
		p.quits, p.renews = true, false
		return true
	}
	return false
}

// mayAcknowledge: something was taken from it that it has read of, has stopped, and has not acknowledged.
func (w *world) mayAcknowledge(p *process) bool {
	now := w.memberNow(p.object())
	if p.over || p.claims || p.kind == reader || now == nil || !w.accepts(now, p) {
		return false
	}
	word := now.Spec.Acknowledged
	if word == nil || word.MemberID != p.memberID() {
		word = &v1alpha1.Acknowledged{Revision: -1}
	}
	return p.quits && !word.Final || !p.quits && p.mustAnswer(now, word.Revision)
}

// mustAnswer: it has read of a revocation that is newer than what it has acknowledged.
func (p *process) mustAnswer(now *v1alpha1.GroupMember, acknowledged int64) bool {
	return p.read != nil && p.read.UID == now.UID && slices.ContainsFunc(p.read.Status.Revoking, func(r v1alpha1.Revocation) bool {
		return r.MemberID == p.memberID() && acknowledged < r.Revision
	})
}

// accepts: the API server takes a process's word only for the memberID in status, and its patch begins with tests of UID
// and incarnation.
func (w *world) accepts(now *v1alpha1.GroupMember, p *process) bool {
	return now.Spec.Incarnation == p.incarnation && now.Status.MemberID == p.memberID()
}

func (w *world) acknowledge(p *process) {
	now := w.memberNow(p.object())
	word := &v1alpha1.Acknowledged{MemberID: p.memberID(), Final: p.quits}
	switch {
	case p.quits:
		word.Revision = now.Status.Revision
	default:
		word.Revision = p.read.Status.Revision
	}
	if p.read != nil {
		p.acknowledged = p.read.Status.Generation
	}
	w.rewrite(now, func(spec *v1alpha1.GroupMemberSpec) { spec.Acknowledged = word })
}

// withdraws: a process that quits has said its last word, or cannot, and ends; one that leaves deletes its member.
func (w *world) withdraws(p *process) bool { return p.quits && !w.mayAcknowledge(p) }

func (w *world) withdraw(p *process) {
	p.stop()
	now := w.memberNow(p.object())
	if p.leaves && now != nil && now.DeletionTimestamp == nil && now.Spec.Incarnation == p.incarnation {
		w.remove(now, true)
	}
}

// published is the revision that the publish controller may acknowledge for a reader: the grace since it was told has
// passed. Due is when the next one will be.
func (w *world) published(m *v1alpha1.GroupMember) (revision int64, due time.Time) {
	if m.Spec.Acknowledgement != v1alpha1.AcknowledgeNone || w.policy == v1alpha1.HandoverExclusive || m.Status.MemberID == "" {
		return 0, time.Time{}
	}
	word := m.Spec.Acknowledged
	for i := range m.Status.Revoking {
		r := &m.Status.Revoking[i]
		if r.MemberID != m.Status.MemberID || word != nil && word.MemberID == r.MemberID && word.Revision >= r.Revision {
			continue
		}
		if at := r.Since.Add(gracePeriod); !at.After(w.now) {
			revision = max(revision, r.Revision)
		} else if due.IsZero() || at.Before(due) {
			due = at
		}
	}
	return revision, due
}
