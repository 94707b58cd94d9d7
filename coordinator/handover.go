package coordinator

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// Executing a plan: losers first, gainers as copies become free. want is what the plan gives a member, have what stands
// in its assignment.

// handover is what one decision finds to do for the plan in force.
type handover struct {
	v *view
	h *holders
	// named has, by position in the plan, the members that it names.
	named []*member
	// wants has, by member index, the copies that the plan gives it and that it has not.
	wants map[int][]copyKey
	// writeOut are members whose ended revocations stand in the way of a grant.
	writeOut map[*member]bool
	granting bool
	members  []Write
	grants   []Write
}

// settled: nothing moves, and every member is as the plan wants it. It is the cheap answer for a group at rest.
func (v *view) settled() bool {
	if v.plan == nil || v.planLost || v.status.Generation != v.plan.Generation || v.status.State != v1alpha1.GroupStable {
		return false
	}
	for _, m := range v.members {
		if !v.atRest(m) {
			return false
		}
	}
	return true
}

// atRest: the member has what the plan gives it, and nothing is on its way to it or from it.
func (v *view) atRest(m *member) bool {
	st := &m.Status
	switch {
	case len(st.Revoking) > 0 || len(st.Pending) > 0:
		return false
	case m.position == nobody:
		return holdsNothing(st) && st.State != v1alpha1.MemberActive
	case m.named:
		return inGeneration(st.State) && v.hasShare(m)
	}
	return true
}

// hasShare: have equals want.
func (v *view) hasShare(m *member) bool {
	share := v.plan.shares[m.position]
	return countCopies(m.Status.Assignment) == share && v.countWanted(m, assignmentOf(m)) == share
}

func (v *view) runHandover(r *round) *handover {
	t := &handover{v: v, wants: map[int][]copyKey{}, writeOut: map[*member]bool{}}
	if v.planLost || v.settled() {
		return t
	}
	t.h = v.findHolders()
	t.findWants()
	down := len(r.staying) == 0 && len(r.causes) == 0
	drafts := make([]*draft, len(v.members))
	gaining := make([][]copyKey, len(v.members))
	for i, m := range v.members {
		drafts[i] = t.lose(m, down)
		gaining[i] = t.gain(m)
	}
	for i, m := range v.members {
		t.finish(m, drafts[i], gaining[i])
	}
	return t
}

func (t *handover) findWants() {
	v := t.v
	if v.plan == nil {
		return
	}
	t.named = make([]*member, len(v.plan.Members))
	for _, m := range v.members {
		if m.named {
			t.named[m.position] = m
		}
	}
	for topic, copies := range v.plan.Target {
		for c, row := range copies {
			for p, position := range row {
				if position == nobody || t.named[position] == nil {
					continue
				}
				key := copyKey{topic, int32(c), int32(p)}
				if m := t.named[position]; t.h.assigned[t.h.number(topic, key.copy, key.partition)] != int32(m.index) {
					t.wants[m.index] = append(t.wants[m.index], key)
				}
			}
		}
	}
}

// lose takes from a member what the plan does not give it; nil when it loses nothing.
func (t *handover) lose(m *member, down bool) *draft {
	v := t.v
	if m.position != nobody && !m.named && !down || t.keepsAll(m) {
		return nil
	}
	var taken, kept []holding
	for _, c := range expand(assignmentOf(m)) {
		if t.loses(m, c, down) {
			taken = append(taken, c)
		} else {
			kept = append(kept, c)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	d := v.draft(m)
	v.revoke(d, taken, kept)
	return d
}

// keepsAll: nothing is revoked from a Pending member, the round it asks for settles what it holds; nor from a leaver
// that works to its end before it has ended.
func (t *handover) keepsAll(m *member) bool {
	v := t.v
	if m.Status.State == v1alpha1.MemberPending && !m.named {
		return !v.unavailable(m)
	}
	return v.worksToEnd(m) && !v.released(m)
}

// loses: the plan gives the copy to another who is available now, or to nobody.
func (t *handover) loses(m *member, c holding, down bool) bool {
	v := t.v
	if v.plan == nil || down {
		return true
	}
	gainer := v.plan.at(c.topic, c.copy, c.partition)
	if gainer != nobody && gainer == m.position && m.named {
		return false
	}
	if v.pinned(m) && m.named && t.exists(c) {
		return false
	}
	return gainer == nobody || t.availableAt(gainer)
}

func (t *handover) exists(c holding) bool {
	for i := range t.v.Group.Spec.Topics {
		if s := &t.v.Group.Spec.Topics[i]; s.Name == c.topic {
			return c.partition < s.Partitions && c.copy < replicas(s)
		}
	}
	return false
}

func (t *handover) availableAt(position int32) bool {
	m := t.named[position]
	return m != nil && t.v.available(m)
}

// gain are the copies that may be granted to a member now, or once others have been written out. Only who is named and
// available is granted anything.
func (t *handover) gain(m *member) []copyKey {
	if !m.named || leaving(m) || hasLeft(m.Status.State) || !t.v.available(m) || restarted(m) || tooLarge(&m.Status) {
		return nil
	}
	var list []copyKey
	for _, c := range t.wants[m.index] {
		switch t.h.freeFor(m, c) {
		case held:
			continue
		case freeOnceWrittenOut:
			t.h.eachOver(m, c, func(loser *member) { t.writeOut[loser] = true })
		}
		list = append(list, c)
	}
	return list
}

// maxListBytes is what a member's lists may take of an object: etcd takes 1.5 MiB.
const maxListBytes = 5 << 18

// tooLarge: the member is given no more, its object could not be written.
func tooLarge(st *v1alpha1.GroupMemberStatus) bool {
	size := listBytes(st.Pending)
	if st.Assignment != nil {
		size += listBytes(st.Assignment.TopicPartitions)
	}
	for i := range st.Revoking {
		size += listBytes(st.Revoking[i].TopicPartitions)
	}
	return size > maxListBytes
}

// listBytes is a bound of what a list takes of an object.
func listBytes(list []v1alpha1.TopicPartitions) int {
	size := 0
	for i := range list {
		size += 80 + len(list[i].Topic) + 7*len(list[i].Partitions)
	}
	return size
}

// finish puts a member's part into one write: in the first batch what must come first, else in the grants.
func (t *handover) finish(m *member, d *draft, gained []copyKey) {
	v := t.v
	if m.Status.State == "" && !v.activates(m) {
		return // Nothing is known of it yet; its Pending is showAsking's to write.
	}
	first := d != nil || t.writeOut[m] || v.activates(m)
	if d == nil {
		d = v.draft(m)
	}
	v.activate(d)
	if first || len(gained) > 0 {
		v.dropEnded(d)
	}
	granted := t.grantable(m, gained, first)
	t.grant(d, granted)
	t.setPending(d)
	// What is pending or being revoked does not count: the generation is the one that last changed the assignment.
	if !equality.Semantic.DeepEqual(m.Status.Assignment, d.status().Assignment) {
		d.status().Generation = v.generation
	}
	if w, ok := v.write(d); ok {
		t.add(w, first, len(granted) > 0)
	}
}

// grantable are the copies that this write may grant: in the first batch only those for which nothing must be written
// out before.
func (t *handover) grantable(m *member, gained []copyKey, first bool) []copyKey {
	if !first {
		return gained
	}
	var list []copyKey
	for _, c := range gained {
		if t.h.freeFor(m, c) == free {
			list = append(list, c)
		}
	}
	return list
}

func (t *handover) add(w Write, first, grants bool) {
	t.granting = t.granting || grants
	if first || !grants {
		t.members = append(t.members, w)
	} else {
		t.grants = append(t.grants, w)
	}
}

// activates: the plan names a member that is not yet in the generation by its state.
func (v *view) activates(m *member) bool {
	return m.named && !leaving(m) && !inGeneration(m.Status.State) && !hasLeft(m.Status.State)
}

// activate takes a member into the generation.
func (v *view) activate(d *draft) {
	m, st := d.m, d.status()
	if !v.activates(m) {
		return
	}
	v.adoptIncarnation(d)
	st.State = v1alpha1.MemberActive
	if v.unavailable(m) {
		v.markUnavailable(d)
	}
	st.AskingSince, st.Left = nil, nil
	if !v.leaderMode() { // There the generation is that which last answered it.
		st.Generation = v.plan.Generation
	}
	d.event(false, "Joined", "is in the generation")
}

// grant adds free copies to the assignment under a new token, and takes them out of the member's own revocations.
func (t *handover) grant(d *draft, copies []copyKey) {
	if len(copies) == 0 {
		return
	}
	v, st := t.v, d.status()
	held := []holding{}
	if st.Assignment != nil {
		held = expand(st.Assignment.TopicPartitions)
	}
	d.takeBack(copies)
	token := v.grantToken(st.LastToken)
	for _, c := range copies {
		held = append(held, holding{c.topic, c.copy, c.partition, token})
	}
	setAssignment(st, held)
}

// takeBack removes copies from the draft's own revocations: they are granted to the same member again.
func (d *draft) takeBack(copies []copyKey) {
	st := d.status()
	if len(st.Revoking) == 0 {
		return
	}
	granted := make(map[copyKey]bool, len(copies))
	for _, c := range copies {
		granted[c] = true
	}
	var left []v1alpha1.Revocation
	for _, r := range st.Revoking {
		var rest []holding
		for _, h := range expand(r.TopicPartitions) {
			if granted[copyKey{h.topic, h.copy, h.partition}] {
				st.LastToken = max(st.LastToken, h.token)
				continue
			}
			rest = append(rest, h)
		}
		if len(rest) > 0 {
			r.TopicPartitions = compress(rest)
			left = append(left, r)
		}
	}
	st.Revoking = left
}

// setPending derives pending: what the plan gives the member and it has not.
func (t *handover) setPending(d *draft) {
	st := d.status()
	if !d.m.named || !inGeneration(st.State) {
		st.Pending = nil
		return
	}
	have := map[copyKey]bool{}
	if st.Assignment != nil {
		eachCopy(st.Assignment.TopicPartitions, func(c copyKey) { have[c] = true })
	}
	var pending []holding
	for _, c := range t.wants[d.m.index] {
		if !have[c] {
			pending = append(pending, holding{topic: c.topic, copy: c.copy, partition: c.partition})
		}
	}
	st.Pending = compress(pending)
}
