package explore

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// layout is the size of a small group.
type layout struct {
	name       string
	initial    []string
	names      []string
	partitions int32
}

var layouts = []layout{
	{"nobody, 2 partitions", nil, []string{"a", "b"}, 2},
	{"1 member, 2 partitions", []string{"a"}, []string{"a", "b"}, 2},
	{"2 members, 2 partitions", []string{"a", "b"}, []string{"a", "b", "c"}, 2},
	{"3 members, 1 partition", []string{"a", "b", "c"}, []string{"a", "b", "c"}, 1},
}

var policies = []v1alpha1.HandoverPolicy{v1alpha1.HandoverAvailable, v1alpha1.HandoverExclusive}

func (l layout) setup(k kind, policy v1alpha1.HandoverPolicy) *setup {
	s := &setup{policy: policy, kinds: map[string]kind{}, initial: l.initial, partitions: l.partitions, ties: true, together: true}
	for _, name := range l.names {
		s.kinds[name] = k
	}
	s.vocabulary = vocabulary(s.kinds)
	return s
}

var groupHappenings = []happening{forced, grows, shrinks, groupGoes, groupComes, planGoes}

// happeningsOf is what can happen to a member of a kind.
func happeningsOf(k kind) []happening {
	if k == registered {
		return []happening{joins, leaves, silent, dies, backAgain, restarts, removed}
	}
	return []happening{joins, silent, dies, backAgain, restarts, scaledAway, wantedAgain, removed}
}

// vocabulary is all that can happen to these members and their group.
func vocabulary(kinds map[string]kind) []event {
	var events []event
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		for _, what := range happeningsOf(kinds[name]) {
			events = append(events, event{what, name})
		}
	}
	for _, what := range groupHappenings {
		events = append(events, event{what, ""})
	}
	return events
}

// firsts are the events that can happen first. Of the members that are there from the beginning those that hold equally
// many partitions are alike but for which of equal ones they hold, so one of them stands for all.
func (s *setup) firsts(start *world) []event {
	var firsts []event
	alike := map[int]string{}
	for _, e := range s.vocabulary {
		if m := start.memberNow(objectName(e.who)); m != nil {
			held := int(m.Status.AssignedPartitions)
			if alike[held] == "" {
				alike[held] = e.who
			}
			if alike[held] != e.who {
				continue
			}
		}
		if trial := start.clone(); trial.happens(e) {
			firsts = append(firsts, e)
		}
	}
	return firsts
}

func (s *setup) String() string {
	return fmt.Sprintf("%s, %s, %d events, %d faults", s.kinds["a"], s.policy, s.events, s.faults)
}
