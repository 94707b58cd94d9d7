package coordinator

import (
	"cmp"
	"slices"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/assignor/consumer"
)

// Leader mode: handing out. Each member of the generation gets the state that the leader's sync has for it.

// runSync is what is written of members for the plan in force: who is in it, who is no more, and the answers.
func (v *view) runSync(r *round) []Write {
	down := len(r.staying) == 0 && len(r.causes) == 0
	var sync *v1alpha1.Sync
	if v.syncAwaited() && !v.waits(r) && !v.invalid() {
		sync = v.currentSync()
	}
	var writes []Write
	for _, m := range v.members {
		if d := v.syncDraft(m, sync, down); d != nil {
			if w, ok := v.write(d); ok {
				writes = append(writes, w)
			}
		}
	}
	return writes
}

// syncDraft is nil where nothing can have changed for the member.
func (v *view) syncDraft(m *member, sync *v1alpha1.Sync, down bool) *draft {
	answers, drops := sync != nil && m.named && v.lacksAnswer(m), v.dropsState(m, down)
	if !v.activates(m) && (m.Status.State == "" || !answers && !drops && !v.tellsOfSync(m)) {
		return nil // Of one that nothing is known of yet, Pending is showAsking's to write.
	}
	d := v.draft(m)
	v.activate(d)
	if drops {
		d.dropState()
	}
	if answers && inGeneration(d.status().State) {
		v.give(d, sync)
	}
	return d
}

// tellsOfSync: a condition of the member may have to tell what came of a sync.
func (v *view) tellsOfSync(m *member) bool { return v.showsTrouble(m) || m.Spec.Sync != nil }

// dropsState: the plan does not list the member; or it lists it though it has not said that it released what it held: it
// works on that no longer, and acts on its answer only when it has released.
func (v *view) dropsState(m *member, down bool) bool {
	if m.Status.Assignment == nil || v.planLost {
		return false
	}
	if down || v.plan == nil || m.position == nobody {
		return true
	}
	return m.named && m.Status.Generation < v.plan.Generation && !joinedAfter(m, v.plan.Generation-1)
}

// dropState takes the answer away; its token does not come back.
func (d *draft) dropState() {
	st := d.status()
	st.LastToken = max(st.LastToken, tokenOf(st))
	st.Assignment = nil
}

// answered: the member has the answer of the present generation.
func (v *view) answered(m *member) bool {
	return v.plan != nil && m.named && m.Status.Assignment != nil && m.Status.Generation == v.plan.Generation
}

func (v *view) lacksAnswer(m *member) bool {
	return !v.answered(m) || !v.seenSync().hash.same(m.Status.Assignment.Sync)
}

// synced: everybody whom the plan names has its answer.
func (v *view) synced(r *round) bool {
	return v.plan != nil && !v.invalid() && !slices.ContainsFunc(r.staying, func(m *member) bool {
		return !v.answered(m) || !inGeneration(m.Status.State)
	})
}

// give answers a member. Whom the leader does not list gets an empty state.
func (v *view) give(d *draft, sync *v1alpha1.Sync) {
	st, token := d.status(), v.generationToken(v.plan.Generation)
	st.LastToken = max(st.LastToken, tokenOf(st))
	answer := &v1alpha1.MemberAssignment{Token: token, Sync: v.seenSync().hash.String()}
	for i := range sync.Assignments {
		if sync.Assignments[i].MemberID == st.MemberID {
			answer.State = sync.Assignments[i].State
			break
		}
	}
	if v.stateTooLarge(d.m, answer.State) {
		answer.State = nil
	}
	answer.TopicPartitions = v.decode(answer.State, token)
	if bytesStored(d.m, answer.State)+listBytes(answer.TopicPartitions) > maxListBytes {
		answer.TopicPartitions = nil // They only show what the bytes say.
	}
	st.Assignment, st.Generation = answer, v.plan.Generation
}

// stateTooLarge: with this state the member's object could not be written.
func (v *view) stateTooLarge(m *member, state []byte) bool {
	return bytesStored(m, state) > maxListBytes
}

// bytesStored is what a state takes of the member's object beside what its process has written there. Bytes take a third
// more in JSON.
func bytesStored(m *member, state []byte) int {
	size := len(state)
	for i := range m.Spec.Protocols {
		size += len(m.Spec.Protocols[i].Metadata)
	}
	if m.Spec.Sync != nil {
		for i := range m.Spec.Sync.Assignments {
			size += len(m.Spec.Sync.Assignments[i].State)
		}
	}
	return size / 3 * 4
}

// maxTopicName is what the API takes for a topic's name.
const maxTopicName = 249

// decode shows the bytes of a consumer's state; what cannot be read, or makes no sense, is carried without.
func (v *view) decode(state []byte, token int64) []v1alpha1.TopicPartitions {
	if v.Group.Spec.ProtocolType != protocolTypeConsumer {
		return nil
	}
	assigned, err := consumer.ParseAssignment(state)
	if err != nil {
		return nil
	}
	var list []v1alpha1.TopicPartitions
	for _, a := range assigned {
		if a.Topic == "" || len(a.Topic) > maxTopicName || slices.ContainsFunc(a.Partitions, func(p int32) bool { return p < 0 }) {
			return nil
		}
		partitions := slices.Compact(slices.Sorted(slices.Values(a.Partitions)))
		list = append(list, v1alpha1.TopicPartitions{Topic: a.Topic, Partitions: partitions, Token: token})
	}
	slices.SortStableFunc(list, func(a, b v1alpha1.TopicPartitions) int { return cmp.Compare(a.Topic, b.Topic) })
	return list
}

// decodes: the states of the generation can be read, and the group says what there is.
func (v *view) decodes() bool {
	return len(v.Group.Spec.Topics) > 0 && slices.ContainsFunc(v.members, func(m *member) bool {
		return m.named && len(assignmentOf(m)) > 0
	})
}

// countCovered counts the copies that the leader's states cover. A leader may give a partition to more members than it has
// copies, or one that the group does not have: neither makes up for one that it gives to nobody.
func (v *view) countCovered() int32 {
	type partition struct {
		topic  string
		number int32
	}
	holders := map[partition]int32{}
	var covered int32
	for _, m := range v.members {
		if !m.named {
			continue
		}
		for _, tp := range assignmentOf(m) {
			s := v.topic(tp.Topic)
			if s == nil {
				continue
			}
			for _, p := range tp.Partitions {
				if one := (partition{tp.Topic, p}); p < s.Partitions && holders[one] < replicas(s) {
					holders[one]++
					covered++
				}
			}
		}
	}
	return covered
}

// showsTrouble: an error in this generation is shown on every member.
func (v *view) showsTrouble(m *member) bool { return m.named && v.syncTrouble() != "" }
