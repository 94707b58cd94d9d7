package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
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
