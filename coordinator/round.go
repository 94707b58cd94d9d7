package coordinator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// What asks for a round is a comparison of the objects with the newest plan; nothing is written to ask for one.

// round is what a decision finds about rounds.
type round struct {
	// causes that ask for a round now; none means that no round is wanted.
	causes []Cause
	// staying are in the generation, joiners are accepted and would be taken in.
	staying, joiners []*member
	// soon: an expiry will ask within its second.
	soon bool
	// open: the round is written on the group. start and deadline are its times, open or not.
	open            bool
	start, deadline time.Time
}

// commits: the round is over now.
func (v *view) commits(r *round) bool {
	if v.leaderMode() {
		return v.barrierOver(r)
	}
	return len(r.causes) > 0 && !v.Group.Spec.Paused && v.passed(r.deadline)
}

// waits: the round is open, or opened by this decision, and goes on.
func (v *view) waits(r *round) bool {
	return len(r.causes) > 0 && (r.open || !v.Group.Spec.Paused)
}

func (v *view) findRound() *round {
	r := v.readRound()
	v.findJoiners(r)
	v.findCauses(r)
	if v.leaderMode() && len(r.staying) > 0 {
		r.causes = mergeCauses(r.causes, v.recordedCauses(r))
	}
	if len(r.causes) > 0 {
		r.deadline = v.deadline(r)
	}
	return r
}

// readRound is the round as it stands in the group. In Leader mode the group's account of it stays until a good sync.
func (v *view) readRound() *round {
	r := &round{staying: v.staying(), start: v.Now}
	open := v.status.Rebalance
	if open != nil && v.generation == v.status.Generation && (!v.leaderMode() || v.status.State == v1alpha1.GroupJoining) {
		r.open, r.start = true, open.StartTime.Time
	}
	return r
}

func (v *view) findJoiners(r *round) {
	for m, judged := range v.judge() {
		if judged.accepted() && v.available(m) {
			r.joiners = append(r.joiners, m)
		}
	}
	slices.SortFunc(r.joiners, func(a, b *member) int { return a.index - b.index })
}

// findCauses lists what asks for a round. Where nobody is in the generation only a joiner asks.
func (v *view) findCauses(r *round) {
	add := func(reason v1alpha1.RebalanceReason, names []string) {
		if len(names) > 0 {
			slices.Sort(names)
			r.causes = append(r.causes, Cause{Reason: reason, Names: names})
		}
	}
	add(v1alpha1.RebalanceMemberJoined, namesOf(r.joiners))
	if len(r.staying) == 0 {
		return
	}
	left, expired, soon := v.listedButGone(r)
	add(v1alpha1.RebalanceMemberLeft, left)
	add(v1alpha1.RebalanceSessionExpired, expired)
	r.soon = soon
	if v.planLost {
		r.causes = append(r.causes, Cause{Reason: v1alpha1.RebalancePlanLost})
		return
	}
	r.causes = append(r.causes, v.leaderCauses(r)...)
	add(v1alpha1.RebalanceMemberChanged, v.changed(r.staying))
	add(v1alpha1.RebalanceMemberReturned, v.returned(r.staying))
	add(v1alpha1.RebalanceMemberUnavailable, v.owedToAbsent(r.staying))
	if !inputsHash(&v.Group.Spec).same(v.plan.Inputs) {
		r.causes = append(r.causes, Cause{Reason: v1alpha1.RebalanceTopicsChanged})
	}
	if v.forced(r) {
		r.causes = append(r.causes, Cause{Reason: v1alpha1.RebalanceForced})
	}
	// An expiry asks a second later, so that those who die together cost one generation; any other round settles it too.
	if soon && len(r.causes) > 0 {
		_, expired, _ := v.listedButGone(&round{staying: r.staying, joiners: r.joiners, open: true})
		r.causes = slices.DeleteFunc(r.causes, func(c Cause) bool { return c.Reason == v1alpha1.RebalanceSessionExpired })
		add(v1alpha1.RebalanceSessionExpired, expired)
		r.soon = false
	}
}

func namesOf(members []*member) []string {
	var names []string
	for _, m := range members {
		names = append(names, displayName(m.GroupMember))
	}
	return names
}

// listedButGone are those that the plan lists and no longer names: gone, another object, or left since. An expiry asks a
// second later (soon), unless a round is open anyway.
func (v *view) listedButGone(r *round) (left, expired []string, soon bool) {
	if v.plan == nil || len(r.staying) == len(v.plan.Members) {
		return nil, nil, false
	}
	there := v.listedAndThere(r)
	for _, m := range v.members {
		// Who lived and did not take part in time has left: its round does not wait for others.
		if m.position == nobody || there[m.position] || m.Status.State != v1alpha1.MemberDead || diedOfTimeout(m) {
			continue
		}
		there[m.position] = true
		if r.open || v.passed(leftAt(m).Add(expiryGathering)) {
			expired = append(expired, displayName(m.GroupMember))
		} else {
			soon = true
		}
	}
	for i := range there {
		if !there[i] {
			left = append(left, v.plan.Members[i].Name)
		}
	}
	return left, expired, soon
}

// listedAndThere marks the positions of the plan whose objects stay, or come back and ask to join.
func (v *view) listedAndThere(r *round) []bool {
	there := make([]bool, len(v.plan.Members))
	for _, list := range [][]*member{r.staying, r.joiners} {
		for _, m := range list {
			if m.position != nobody {
				there[m.position] = true
			}
		}
	}
	return there
}

// changed are members whose offer differs from the plan's; in Leader mode also whose rest does, and who has restarted
// while the sync is awaited: the leader may have used the old memberID already.
func (v *view) changed(staying []*member) []string {
	var names []string
	for _, m := range staying {
		listed := &v.plan.Members[m.position]
		if !v.offer(m).same(listed.Offer) || v.restChanged(m) || v.syncAwaited() && listed.Incarnation != m.Spec.Incarnation {
			names = append(names, displayName(m.GroupMember))
		}
	}
	return names
}

// returned are members that were away when the plan was made, got less than their share, and are available again.
func (v *view) returned(staying []*member) []string {
	if len(v.plan.Short) == 0 {
		return nil
	}
	var names []string
	for _, m := range staying {
		if slices.Contains(v.plan.Short, m.position) && v.available(m) {
			names = append(names, displayName(m.GroupMember))
		}
	}
	return names
}

// owedToAbsent are members to which a copy is owed and who have been Unavailable for too long to wait for.
func (v *view) owedToAbsent(staying []*member) []string {
	var names []string
	for _, m := range staying {
		if v.unavailable(m) && v.owedByPlan(m) && v.passed(v.unavailableSince(m).Add(owedToAbsent)) {
			names = append(names, displayName(m.GroupMember))
		}
	}
	return names
}

// owedByPlan: the plan gives the member a copy that stands neither in its assignment nor in its own revocations in force.
func (v *view) owedByPlan(m *member) bool {
	had := v.countWanted(m, assignmentOf(m))
	for i := range m.Status.Revoking {
		if r := &m.Status.Revoking[i]; v.end(m, r) == inForce {
			had += v.countWanted(m, r.TopicPartitions)
		}
	}
	return had < v.plan.shares[m.position]
}

// countWanted counts the copies in a list that the plan gives to the member.
func (v *view) countWanted(m *member, list []v1alpha1.TopicPartitions) int32 {
	var n int32
	for i := range list {
		tp := &list[i]
		for _, p := range tp.Partitions {
			if v.plan.at(tp.Topic, tp.Copy, p) == m.position {
				n++
			}
		}
	}
	return n
}

func assignmentOf(m *member) []v1alpha1.TopicPartitions {
	if m.Status.Assignment == nil {
		return nil
	}
	return m.Status.Assignment.TopicPartitions
}

// deadline of the round: when it commits, unless something else comes.
func (v *view) deadline(r *round) time.Time {
	switch {
	case v.leaderMode():
		return v.barrierDeadline(r)
	case len(r.staying) == 0:
		return v.initialDeadline(r)
	case v.onlyWorkloadJoins(r) && v.replicasMissing():
		return r.start.Add(durationOr(v.Group.Spec.ExpansionTimeout, defaultExpansion))
	}
	return r.start
}

const (
	defaultExpansion    = 10 * time.Second
	defaultInitialDelay = 3 * time.Second
)

// initialDeadline: a Down group waits for more members. Each first join extends the wait, within a bound; it ends early
// when every declared replica is present.
func (v *view) initialDeadline(r *round) time.Time {
	if v.declared() > 0 && !v.replicasMissing() {
		return r.start
	}
	delay := durationOr(v.Group.Spec.InitialRebalanceDelay, defaultInitialDelay)
	end, longest := r.start.Add(delay), delay
	for _, m := range r.joiners {
		asked := v.askedAt(m)
		if !asked.After(r.start) {
			longest = max(longest, v.rebalanceTimeout(m))
		}
		end = later(end, asked.Add(delay))
	}
	if bound := r.start.Add(longest); end.After(bound) {
		return bound
	}
	return end
}

func (v *view) onlyWorkloadJoins(r *round) bool {
	for _, c := range r.causes {
		if c.Reason != v1alpha1.RebalanceMemberJoined {
			return false
		}
	}
	return !slices.ContainsFunc(r.joiners, selfRegistered)
}

func (v *view) declared() int32 {
	var n int32
	for _, replicas := range v.Declared {
		n += replicas
	}
	return n
}

// replicasMissing: some workload has fewer present members than declared replicas. Dead ones are not waited for.
func (v *view) replicasMissing() bool {
	there := make(map[Workload]int32, len(v.Declared))
	for _, m := range v.members {
		if w := m.Spec.Workload; w != nil && (v.available(m) || m.Status.State == v1alpha1.MemberDead) && !leaving(m) {
			there[Workload{w.Kind, w.Name}]++
		}
	}
	for w, replicas := range v.Declared {
		if there[w] < replicas {
			return true
		}
	}
	return false
}

// describe puts causes into words, for status and events.
func describe(causes []Cause) string {
	const shown = 5
	parts := make([]string, 0, len(causes))
	for _, c := range causes {
		text := string(c.Reason)
		if n := len(c.Names); n > shown {
			text += fmt.Sprintf(" (%s and %d more)", strings.Join(c.Names[:shown], ", "), n-shown)
		} else if n > 0 {
			text += " (" + strings.Join(c.Names, ", ") + ")"
		}
		parts = append(parts, text)
	}
	return shorten(strings.Join(parts, "; "), maxReason)
}

// maxReason is what the API takes for a reason, in bytes, less some room.
const maxReason = 4000

func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return text[:limit] + "..."
}
