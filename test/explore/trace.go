package explore

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// cutTouched takes term and generation out of a touched annotation.
func cutTouched(value string) (term string, generation int64, ok bool) {
	parts := strings.Split(value, "/")
	if len(parts) != 3 {
		return "", 0, false
	}
	generation, err := strconv.ParseInt(parts[1], 10, 64)
	return parts[0], generation, err == nil
}

// trace tells a path step by step, and how the world looks at its end.
type trace struct {
	lines []string
	last  *world
	err   error
}

// tell adds a step from a world, and those that followed it at once.
func (t *trace) tell(from *world, by step, via []step) {
	t.lines = append(t.lines, from.describe(by))
	for _, next := range via {
		from = from.take(by)
		t.lines = append(t.lines, from.describe(next))
		by = next
	}
}

func (t *trace) String() string {
	var text strings.Builder
	for i, line := range t.lines {
		fmt.Fprintf(&text, "%3d. %s\n", i+1, line)
	}
	if t.err != nil {
		fmt.Fprintf(&text, "  => %v\n", t.err)
	}
	if t.last != nil {
		text.WriteString(t.last.String())
	}
	return text.String()
}

// String shows the objects and processes of a world.
func (w *world) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "     at %s, leader %s\n", w.now.Sub(beginning), w.leader.term)
	if w.group.there {
		s := &w.group.now.Status
		fmt.Fprintf(&text, "     group %s generation %d, %d/%d assigned, deleted=%t", s.State, s.Generation, s.AssignedPartitions, s.Partitions,
			w.group.now.DeletionTimestamp != nil)
		if s.Rebalance != nil {
			fmt.Fprintf(&text, ", round for %s until %s", s.Rebalance.Reason, s.Rebalance.Deadline.Sub(beginning))
		}
		text.WriteByte('\n')
	}
	for i := range w.plans {
		if w.plans[i].there {
			fmt.Fprintf(&text, "     plan %s\n", strings.TrimSpace(string(w.plans[i].now.Revision.Data.Raw)))
		}
	}
	for i := range w.members {
		if w.members[i].there {
			fmt.Fprintf(&text, "     member %s %s\n", w.members[i].name, describeMember(w.members[i].now))
		}
	}
	for i := range w.procs {
		p := &w.procs[i]
		fmt.Fprintf(&text, "     process %s works on %v", p.name, p.works)
		if p.read != nil {
			fmt.Fprintf(&text, ", has read revision %d of %s", p.read.Status.Revision, p.read.UID)
		}
		text.WriteByte('\n')
	}
	for _, write := range w.flights {
		fmt.Fprintf(&text, "     on its way: %s\n", describeWrite(write))
	}
	return text.String()
}

func describeMember(m *v1alpha1.GroupMember) string {
	s := &m.Status
	var text strings.Builder
	fmt.Fprintf(&text, "%s id=%s rev=%d", s.State, s.MemberID, s.Revision)
	if s.Assignment != nil {
		fmt.Fprintf(&text, " holds=%s", entriesText(s.Assignment.TopicPartitions))
	}
	if len(s.Pending) > 0 {
		fmt.Fprintf(&text, " pending=%s", entriesText(s.Pending))
	}
	for i := range s.Revoking {
		fmt.Fprintf(&text, " revoking(%s@%d)=%s", s.Revoking[i].MemberID, s.Revoking[i].Revision, entriesText(s.Revoking[i].TopicPartitions))
	}
	if a := m.Spec.Acknowledged; a != nil {
		fmt.Fprintf(&text, " ack=%s@%d", a.MemberID, a.Revision)
		if a.Final {
			text.WriteString(" final")
		}
	}
	if s.Left != nil {
		fmt.Fprintf(&text, " left@%d", s.Left.Generation)
	}
	if p := m.Spec.Presence; p != nil {
		fmt.Fprintf(&text, " presence=%s/%s", p.State, p.Reason)
		if p.Stopped {
			text.WriteString("/stopped")
		}
	}
	if touched := m.Annotations[v1alpha1.TouchedAnnotation]; touched != "" {
		text.WriteString(" touched=" + touched)
	}
	if m.DeletionTimestamp != nil {
		text.WriteString(" being deleted")
	}
	return text.String()
}

func entriesText(entries []v1alpha1.TopicPartitions) string {
	var parts []string
	for i := range entries {
		for _, partition := range entries[i].Partitions {
			// A token is read more easily as generation and takeovers in it.
			parts = append(parts, fmt.Sprintf("%s:%d(token ..%d+%d)", entries[i].Topic, partition, entries[i].Token>>15%1000, entries[i].Token&(1<<15-1)))
		}
	}
	return strings.Join(parts, ",")
}

// describe says what a step from here is, for people.
func (w *world) describe(s step) string {
	switch s.kind {
	case stepReads, stepAcks, stepWithdraws, stepClaims, stepPodStops:
		return fmt.Sprintf("%s %s", w.procs[s.i].name, s.kind)
	case stepCollects, stepRecreates:
		return string(s.kind)
	case stepPublishes:
		return fmt.Sprintf("%s: %s", w.members[s.i].name, s.kind)
	case stepEvent:
		return s.ev.String()
	case stepArrives:
		return "late write arrives: " + describeWrite(w.flights[s.i])
	case stepTick:
		then := w.nextInstant(w.decisions()[0].WakeAt)
		return fmt.Sprintf("%s pass (it is %s)", then.Sub(w.now), then.Sub(beginning))
	}
	return w.leader.term + " " + w.describeLeader(s)
}

// describeLeader says what the leader does.
func (w *world) describeLeader(s step) string {
	switch s.kind {
	case stepSends, stepDark:
		write, outcome := w.leader.queue[0].Writes[s.i], ""
		if s.kind == stepDark {
			outcome = " (the " + string(s.kind) + ")"
		} else if !w.lands(write) {
			outcome = " (refused: it has changed)"
		}
		return fmt.Sprintf("writes, phase %s: %s%s", w.leader.queue[0].Phase, describeWrite(write), outcome)
	case stepSettles:
		return "reads live " + w.leader.unknown[s.i] + w.atOnce(s)
	case stepDecides:
		return string(s.kind) + w.atOnce(s)
	case stepStale:
		return string(s.kind) + " of " + w.slotName(s.i)
	}
	return string(s.kind)
}

// atOnce says what the leader writes in the same step.
func (w *world) atOnce(s step) string {
	switch {
	case !w.hasNoChoice():
		return ""
	case s.kind == stepSettles:
		return ", and touches it"
	}
	first := w.decisions()[s.j].Batches[0]
	return fmt.Sprintf(", and writes, phase %s: %s", first.Phase, describeWrite(first.Writes[0]))
}

func (w *world) slotName(i int) string {
	switch {
	case i == allStale:
		return "everything"
	case i == 0:
		return "the group"
	case i <= len(w.plans):
		return w.plans[i-1].name
	}
	return w.members[i-1-len(w.plans)].name
}

func describeWrite(write coordinator.Write) string {
	text := string(write.Verb) + " " + nameOf(subject(write))
	switch o := write.New.(type) {
	case *v1alpha1.GroupMember:
		text += " " + describeMember(o)
	case *v1alpha1.ConsumerGroup:
		text += fmt.Sprintf(" state=%s generation=%d", o.Status.State, o.Status.Generation)
	case *appsv1.ControllerRevision:
		text += " " + strings.TrimSpace(string(o.Data.Raw))
	}
	return text
}
