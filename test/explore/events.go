package explore

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// happening is a kind of event.
type happening string

const (
	joins       happening = "joins"                   // a new process, or pod, of a name that has no member
	leaves      happening = "leaves"                  // stops, says its last word and deletes its member
	silent      happening = "falls silent"            // its heartbeat ends, its node is lost; the process goes on working
	dies        happening = "dies"                    // process or pod is gone
	backAgain   happening = "is back"                 // heartbeat or node are back, same incarnation
	restarts    happening = "restarts"                // a new incarnation; one that registered itself may still run
	scaledAway  happening = "is scaled away"          // the pod is being deleted, its name no longer wanted
	wantedAgain happening = "is wanted again"         // scaled up again before or after the pod has stopped
	removed     happening = "is removed"              // somebody deletes the GroupMember
	forced      happening = "rebalance is forced"     // annotation
	grows       happening = "topic gets a partition"  //
	shrinks     happening = "topic loses a partition" //
	groupGoes   happening = "group is deleted"        //
	groupComes  happening = "group is created"        //
	planGoes    happening = "newest plan is deleted"  // by hand
)

// event is something that happens in the world, to a member or to the group.
type event struct {
	what happening
	who  string
}

func (e event) String() string {
	if e.who == "" {
		return "the " + string(e.what)
	}
	return e.who + " " + string(e.what)
}

// happens lets an event happen; false when it cannot now.
func (w *world) happens(e event) bool {
	if e.who == "" {
		return w.groupEvent(e.what)
	}
	m, p := w.memberNow(objectName(e.who)), w.procOf(e.who)
	switch e.what {
	case joins:
		return w.join(e.who, m, p)
	case removed:
		if m == nil || m.DeletionTimestamp != nil {
			return false
		}
		w.remove(m, true)
		return true
	}
	if p == nil && e.what != restarts && e.what != wantedAgain {
		return false
	}
	if w.kinds[e.who] == registered {
		return w.processEvent(e.what, e.who, m, p)
	}
	return m != nil && m.DeletionTimestamp == nil && w.podEvent(e.what, e.who, m, p)
}

func (w *world) join(who string, m *v1alpha1.GroupMember, p *process) bool {
	if m != nil || p != nil || !w.group.there || w.group.now.DeletionTimestamp != nil {
		return false
	}
	w.createMember(w.startProcess(who))
	return true
}

// processEvent is about a process that registered itself.
func (w *world) processEvent(what happening, who string, m *v1alpha1.GroupMember, p *process) bool {
	switch what {
	case leaves:
		if p.quits || p.claims {
			return false
		}
		p.works, p.quits, p.leaves, p.renews = nil, true, true, false
	case silent:
		if !p.renews {
			return false
		}
		p.renews = false
	case dies:
		p.stop()
	case backAgain:
		return w.renewAgain(p)
	case restarts:
		return w.restartProcess(who, m)
	default:
		return false
	}
	return true
}

// renewAgain: the heartbeat succeeds again, unless another has taken the Lease.
func (w *world) renewAgain(p *process) bool {
	l := w.lease(p.object())
	if p.renews || p.quits || l == nil || l.holder != p.memberID() {
		return false
	}
	p.renews, p.renewed, p.unproven = true, w.now, false
	l.renew, l.seen, l.former = w.now, w.now, l.seen
	return true
}

// restartProcess takes the Lease first; the incarnation is written by a later step.
func (w *world) restartProcess(who string, m *v1alpha1.GroupMember) bool {
	if m == nil || m.DeletionTimestamp != nil || w.lease(m.Name) == nil {
		return false
	}
	for i := range w.procs {
		if w.procs[i].member == who {
			w.procs[i].renews = false
			if w.procs[i].claims {
				return false
			}
		}
	}
	p := w.startProcess(who)
	p.renews, p.renewed, p.claims = true, w.now, true
	l := w.lease(m.Name)
	l.holder, l.renew, l.former, l.seen = p.memberID(), w.now, l.seen, w.now
	return true
}

// claim writes the incarnation, locked by the version that was read before the Lease was taken.
func (w *world) claim(p *process) {
	p.claims = false
	m := w.memberNow(p.object())
	if m == nil || m.DeletionTimestamp != nil {
		p.stop()
		return
	}
	w.rewrite(m, func(spec *v1alpha1.GroupMemberSpec) { spec.Incarnation = p.incarnation })
}

// podEvent is about a member whose presence the workload controller writes.
func (w *world) podEvent(what happening, who string, m *v1alpha1.GroupMember, p *process) bool {
	if !podCan(what, m.Spec.Presence) {
		return false
	}
	switch what {
	case silent:
		w.setPresence(m, v1alpha1.Away, v1alpha1.PresenceNodeLost, false)
	case dies:
		p.stop()
		w.setPresence(m, v1alpha1.Away, v1alpha1.PresenceReplacing, true)
	case backAgain:
		w.setPresence(m, v1alpha1.Present, v1alpha1.PresenceReady, false)
	case restarts:
		w.replacePod(who, m)
	case scaledAway:
		p.goes = true
		w.setPresence(m, v1alpha1.Leaving, v1alpha1.PresencePodGoing, false)
	case wantedAgain:
		w.wantAgain(who, m, p)
	}
	return true
}

// podCan says which events fit a pod's condition.
func podCan(what happening, presence *v1alpha1.Presence) bool {
	switch what {
	case silent, dies:
		return presence.State == v1alpha1.Present
	case backAgain:
		return presence.State == v1alpha1.Away && !presence.Stopped
	case restarts, scaledAway:
		return presence.State != v1alpha1.Leaving
	case wantedAgain:
		return presence.State == v1alpha1.Leaving
	}
	return false
}

func (w *world) replacePod(who string, m *v1alpha1.GroupMember) {
	for i := range w.procs {
		if w.procs[i].member == who {
			w.procs[i].stop()
		}
	}
	p := w.startProcess(who)
	w.rewrite(m, func(spec *v1alpha1.GroupMemberSpec) {
		spec.Incarnation = p.incarnation
		spec.Presence = &v1alpha1.Presence{State: v1alpha1.Present, Reason: v1alpha1.PresenceReady, Since: metav1.NewMicroTime(w.now)}
	})
}

// wantAgain: a pod that still runs is Present until it has stopped; one that has stopped is replaced.
func (w *world) wantAgain(who string, m *v1alpha1.GroupMember, p *process) {
	if p == nil {
		w.replacePod(who, m)
		return
	}
	w.setPresence(m, v1alpha1.Present, v1alpha1.PresenceTerminating, false)
}

// podStops: a pod that was to go has stopped.
func (w *world) podStops(p *process) {
	p.stop()
	m := w.memberNow(p.object())
	if m == nil || m.Spec.Incarnation != p.incarnation || m.Spec.Presence == nil {
		return
	}
	if m.Spec.Presence.State == v1alpha1.Leaving {
		w.rewrite(m, func(spec *v1alpha1.GroupMemberSpec) {
			stopped := *spec.Presence
			stopped.Stopped = true
			spec.Presence = &stopped
		})
		return
	}
	w.replacePod(p.member, m)
}

func (w *world) groupEvent(what happening) bool {
	if what == groupComes {
		if w.group.there {
			return false
		}
		w.createGroup()
		return true
	}
	if !w.group.there || w.group.now.DeletionTimestamp != nil {
		return false
	}
	switch what {
	case forced:
		w.force()
	case grows:
		return w.resize(1)
	case shrinks:
		return w.resize(-1)
	case groupGoes:
		w.remove(w.group.now, true)
	case planGoes:
		return w.losePlan()
	}
	return true
}

func (w *world) force() {
	w.forces++
	changed := *w.group.now
	changed.Annotations = map[string]string{v1alpha1.RebalanceAnnotation: fmt.Sprintf("r%d", w.forces)}
	w.putGroup(&changed, true)
}

func (w *world) losePlan() bool {
	if len(w.plans) == 0 || !w.plans[0].there {
		return false
	}
	w.remove(w.plans[0].now.Revision, true)
	return true
}

func (w *world) resize(by int32) bool {
	partitions := w.group.now.Spec.Topics[0].Partitions + by
	if partitions < 1 || partitions > w.partitions+1 {
		return false
	}
	changed := *w.group.now
	changed.Spec.Topics = slices.Clone(changed.Spec.Topics)
	changed.Spec.Topics[0].Partitions = partitions
	changed.Generation++
	w.putGroup(&changed, true)
	return true
}

func (w *world) createGroup() {
	w.lives++
	w.putGroup(&v1alpha1.ConsumerGroup{
		ObjectMeta: metav1.ObjectMeta{
			Name: groupName, Namespace: namespace, UID: types.UID(fmt.Sprintf("g%07d-g", w.lives)), Generation: 1,
			CreationTimestamp: metav1.NewTime(w.now),
		},
		Spec: v1alpha1.ConsumerGroupSpec{
			ProtocolType: "consumer", AssignedBy: v1alpha1.AssignedByCoordinator, Assignor: "sticky", ZonePolicy: v1alpha1.ZoneIgnore,
			Topics:                []v1alpha1.TopicSpec{{Name: topicName, Partitions: w.partitions, Replicas: max(w.replicas, 1), Weight: 1}},
			SessionTimeout:        &metav1.Duration{Duration: sessionTimeout},
			ReplacementTimeout:    &metav1.Duration{Duration: replacementTimeout},
			RebalanceTimeout:      &metav1.Duration{Duration: rebalanceTimeout},
			InitialRebalanceDelay: &metav1.Duration{Duration: initialDelay},
			ExpansionTimeout:      &metav1.Duration{},
			Handover:              v1alpha1.Handover{Policy: w.policy, RevocationGracePeriod: &metav1.Duration{Duration: gracePeriod}},
		},
	}, true)
}
