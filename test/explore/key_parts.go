package explore

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

func (k *keyer) metaKey(m *metav1.ObjectMeta) {
	k.text(string(m.UID))
	k.yes(m.DeletionTimestamp != nil)
	k.number(int64(len(m.Finalizers)))
	k.number(int64(len(m.OwnerReferences)))
	k.text(m.Annotations[v1alpha1.RebalanceAnnotation])
	k.touchedKey(m.Annotations[v1alpha1.TouchedAnnotation])
}

func (k *keyer) groupKey(g *v1alpha1.ConsumerGroup) {
	k.metaKey(&g.ObjectMeta)
	for i := range g.Spec.Topics {
		k.number(int64(g.Spec.Topics[i].Partitions))
	}
	s := &g.Status
	k.yes(s.ObservedGeneration == g.Generation)
	k.text(string(s.State))
	k.number(k.relative(s.Generation))
	k.yes(s.TokenBase != 0)
	if g.DeletionTimestamp != nil {
		k.instant(g.DeletionTimestamp.Time)
		k.number(max(0, s.TokenBase+s.Generation-k.moment.Sub(tokenEpoch).Milliseconds()/10+2))
	}
	k.number(int64(s.Members))
	k.number(int64(s.AvailableMembers))
	k.number(int64(s.Partitions))
	k.number(int64(s.AssignedPartitions))
	k.yes(s.AvailableSince != nil)
	if s.AvailableSince != nil {
		k.instantWithin(s.AvailableSince.Time, replacementTimeout)
	}
	if r := s.Rebalance; r != nil {
		k.text(r.Reason)
		k.instant(r.StartTime.Time)
		k.instant(r.Deadline.Time)
	}
	if l := s.LastRebalance; l != nil {
		k.number(k.relative(l.Generation))
		k.text(ordinal(l.Plan))
		k.yes(l.CompletionTime != nil)
	}
	if q := s.RebalanceRequest; q != nil {
		k.text(q.Token)
		k.text(string(q.Outcome))
	}
	k.conditions(s.Conditions)
}

func (k *keyer) conditions(conditions []metav1.Condition) {
	for i := range conditions {
		c := &conditions[i]
		k.text(c.Type)
		k.text(string(c.Status))
		k.text(c.Reason)
	}
}

func (k *keyer) memberKey(m *v1alpha1.GroupMember) {
	k.text(m.Name)
	k.metaKey(&m.ObjectMeta)
	k.memberSpec(m)
	s := &m.Status
	k.text(s.MemberID)
	k.text(string(s.State))
	k.number(k.relative(s.Generation))
	if k.yes(s.Left != nil); s.Left != nil {
		k.number(k.relative(s.Left.Generation))
		k.instantWithin(s.Left.Time.Time, sessionTimeout)
	}
	k.number(k.token(s.LastToken))
	k.instantOf(s.AskingSince)
	if s.Takeover != nil {
		k.instantWithin(s.Takeover.Time.Time, sessionTimeout)
		k.yes(s.Takeover.Duplicate)
	}
	if s.Assignment != nil {
		k.entries(s.Assignment.TopicPartitions)
	}
	k.text("p")
	k.entries(s.Pending)
	for i := range s.Revoking {
		r := &s.Revoking[i]
		k.text(r.MemberID)
		k.number(s.Revision - r.Revision)
		k.instant(r.Since.Time)
		k.instantOf(r.Until)
		k.entries(r.TopicPartitions)
	}
	if s.Unavailable != nil {
		k.instant(s.Unavailable.Since.Time)
		k.instant(s.Unavailable.RenewTime.Time)
	}
	k.conditions(s.Conditions)
}

func (k *keyer) memberSpec(m *v1alpha1.GroupMember) {
	k.text(m.Spec.Incarnation)
	k.instantWithin(m.CreationTimestamp.Time, sessionTimeout)
	if p := m.Spec.Presence; p != nil {
		k.text(string(p.State))
		k.text(p.Reason)
		k.instantWithin(p.Since.Time, replacementTimeout)
		k.yes(p.Stopped)
	}
	if a := m.Spec.Acknowledged; a != nil {
		k.text(a.MemberID)
		k.number(m.Status.Revision - a.Revision)
		k.yes(a.Final)
	}
}

func (k *keyer) entries(entries []v1alpha1.TopicPartitions) {
	for i := range entries {
		k.text(entries[i].Topic)
		k.number(int64(entries[i].Copy))
		for _, p := range entries[i].Partitions {
			k.number(int64(p))
		}
		k.number(k.token(entries[i].Token))
	}
}

func (k *keyer) processes() {
	for i := range k.procs {
		p := &k.procs[i]
		k.text(p.name)
		for _, flag := range [...]bool{p.renews, p.unproven, p.claims, p.quits, p.leaves, p.goes} {
			k.yes(flag)
		}
		if p.kind == registered && !p.renews && !p.unproven && k.policy == v1alpha1.HandoverExclusive {
			k.instant(p.renewed)
		}
		k.text(string(p.group))
		for _, work := range p.works {
			k.number(int64(work.Copy.Partition))
			k.number(k.token(work.Token))
		}
		k.readKey(p)
		if k.mutation != nil {
			k.number(k.relative(p.acknowledged))
		}
	}
}

// readKey: what a process has read matters as far as it decides what it does next.
func (k *keyer) readKey(p *process) {
	now := k.memberNow(p.object())
	if k.yes(p.read != nil); p.read == nil {
		return
	}
	k.yes(k.reads(p))
	if now == nil || now.UID != p.read.UID {
		k.text("another")
		return
	}
	k.number(now.Status.Revision - p.read.Status.Revision)
	k.yes(now.Status.State == p.read.Status.State)
	k.number(k.relative(p.read.Status.Generation))
	for i := range p.read.Status.Revoking {
		k.number(now.Status.Revision - p.read.Status.Revoking[i].Revision)
		k.text(p.read.Status.Revoking[i].MemberID)
	}
}

func (k *keyer) coordinators() {
	k.yes(k.leader.begun)
	for _, batch := range k.leader.queue {
		k.text(string(batch.Phase))
		for _, write := range batch.Writes {
			k.writeKey(write)
		}
	}
	for _, name := range k.leader.unknown {
		k.text(name)
	}
	for _, write := range k.flights {
		k.text("F")
		k.writeKey(write)
	}
}

// writeKey: one that will be refused is as good as any other that will be.
func (k *keyer) writeKey(write coordinator.Write) {
	k.text(nameOf(subject(write)))
	k.text(string(write.Verb))
	k.yes(k.lands(write))
	if !k.mayLand(write) {
		return
	}
	switch o := write.New.(type) {
	case *v1alpha1.ConsumerGroup:
		k.object(o, func() { k.groupKey(o) })
	case *v1alpha1.GroupMember:
		k.object(o, func() { k.memberKey(o) })
	case *appsv1.ControllerRevision:
		content := k.content(o)
		k.object(content, func() { k.planKey(content) })
	}
}

// touchedKey: of a touch it matters whether it is the leader's own, and at which generation.
func (k *keyer) touchedKey(value string) {
	if k.ownTerms {
		return
	}
	term, rest, _ := cutTouched(value)
	k.yes(term == k.leader.term)
	if term == k.leader.term {
		k.number(k.relative(rest))
	}
}

// settledTerms: no other coordinator will come, no plan will be lost, and the newest is the leader's own, so nothing is
// touched for another's sake any more.
func (w *world) settledTerms() bool {
	if w.failed < w.faults || w.happened < w.events || !w.group.there || len(w.plans) == 0 || !w.plans[0].there {
		return false
	}
	newest, status := w.plans[0].now, &w.group.now.Status
	if newest.Content.Term != w.leader.term || newest.Generation() < status.Generation {
		return false
	}
	if last := status.LastRebalance; last != nil && last.Generation == newest.Generation() && last.Plan != string(newest.Revision.UID) {
		return false
	}
	return !slices.ContainsFunc(w.flights, func(write coordinator.Write) bool { return write.Verb == coordinator.Create })
}
