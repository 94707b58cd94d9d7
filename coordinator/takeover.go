package coordinator

import (
	"slices"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// A takeover: the member's spec bears another incarnation than its memberID. The new one has the name from this write
// on, the old one is fenced.

// takeOver keeps the member's place: no round, and its cached assignment under a greater token.
func (v *view) takeOver(m *member) *draft {
	d := v.draft(m)
	v.adoptIncarnation(d)
	if inGeneration(m.Status.State) {
		d.status().State = v1alpha1.MemberActive
		if v.unavailable(m) && m.Status.State == v1alpha1.MemberUnavailable {
			d.status().State = v1alpha1.MemberUnavailable
		}
	}
	return d
}

// adoptIncarnation gives a draft the memberID of its spec's incarnation. It does nothing when it has that already.
func (v *view) adoptIncarnation(d *draft) {
	st, m := d.status(), d.m
	if st.MemberID == "" {
		st.MemberID, st.Host = memberID(m.GroupMember), m.Spec.Host
		return
	}
	if !restarted(m) {
		return
	}
	v.dropEnded(d)
	if v.keepsThroughTakeover(m) {
		d.raiseTokens()
	} else {
		v.holdBackFromSuccessor(d)
	}
	d.setUntil(v)
	hosts := []string{st.Host}
	if st.Takeover != nil {
		hosts = st.Takeover.Hosts
	}
	hosts = append(slices.Clone(hosts), m.Spec.Host)
	taken := &v1alpha1.MemberTakeover{Time: micro(v.Now), Hosts: hosts[max(0, len(hosts)-3):]}
	if taken.Duplicate = v.duplicate(m, taken); taken.Duplicate {
		d.event(true, "DuplicateName", "two processes use this name, on "+strings.Join(taken.Hosts[len(taken.Hosts)-2:], " and "))
	}
	st.Takeover = taken
	if v.leaderMode() {
		v.restartInLeaderMode(d)
	}
	st.MemberID, st.Host, st.Unavailable = memberID(m.GroupMember), m.Spec.Host, nil
}

// keepsThroughTakeover: the new incarnation goes on with the assignment. Only under Exclusive must a process that may
// still run have ended first: a pod's has, its object is gone; of another only its word or the end of its session tells.
func (v *view) keepsThroughTakeover(m *member) bool {
	if !v.exclusive() || v.released(m) || countCopies(m.Status.Assignment) == 0 {
		return true
	}
	return v.holderExpired(m) && v.confirmed(m)
}

// raiseTokens: each takeover adds one to the token of what its holder keeps.
func (d *draft) raiseTokens() {
	st := d.status()
	if st.Assignment == nil {
		return
	}
	if st.Assignment.Token > 0 {
		st.LastToken = max(st.LastToken, st.Assignment.Token)
		st.Assignment.Token++
	}
	for i := range st.Assignment.TopicPartitions {
		tp := &st.Assignment.TopicPartitions[i]
		st.LastToken = max(st.LastToken, tp.Token)
		tp.Token++
	}
}

// holdBackFromSuccessor revokes from the former incarnation; the new one has the same copies pending.
func (v *view) holdBackFromSuccessor(d *draft) {
	st := d.status()
	if st.Assignment == nil {
		return
	}
	held := expand(st.Assignment.TopicPartitions)
	pending := append(expand(st.Pending), untokened(held)...)
	v.revoke(d, held, nil)
	if d.m.named && inGeneration(st.State) {
		st.Pending = compress(pending)
	}
}

func untokened(list []holding) []holding {
	out := slices.Clone(list)
	for i := range out {
		out[i].token = 0
	}
	return out
}

// setUntil notes in every revocation of the former memberID when its session has ended: the takeover counts as its last
// renewal. A pod's has ended with it.
func (d *draft) setUntil(v *view) {
	if !selfRegistered(d.m) {
		return
	}
	st := d.status()
	for i := range st.Revoking {
		if r := &st.Revoking[i]; r.Until == nil && r.MemberID == st.MemberID {
			r.Until = microPtr(v.Now.Add(v.session(d.m)))
		}
	}
}

// restartInLeaderMode notes with what the new incarnation came. It goes on with the cached state in a Stable group; in any
// other it has to join, and holds nothing until it is answered.
func (v *view) restartInLeaderMode(d *draft) {
	d.status().Rest = v.rest(d.m).String()
	if d.status().Assignment != nil && (v.status.State != v1alpha1.GroupStable || v.generation != v.status.Generation) {
		d.dropState()
	}
}
