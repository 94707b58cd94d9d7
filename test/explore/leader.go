package explore

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/assignor"
	"github.com/rollcall-dev/rollcall/coordinator"
)

// liveReads bounds how often one decision may ask for a live read.
const liveReads = 5

// phaseSettle is what the executor does about a write of unknown outcome, before anything is decided.
const phaseSettle coordinator.Phase = "settle"

// idle: the leader has nothing under way.
func (w *world) idle() bool { return len(w.leader.queue) == 0 && len(w.leader.unknown) == 0 }

// snapshot is what the leader's cache shows, its own writes laid over it. Of a stale slot (its index in staleSlots) it
// shows the version before.
func (w *world) snapshot(stale int) coordinator.Snapshot {
	s := coordinator.Snapshot{
		Config: config, Now: w.now, Term: coordinator.Term{ID: w.leader.term, Counter: w.leader.counter},
		Declared: map[coordinator.Workload]int32{}, LastSeen: map[string]coordinator.Session{},
	}
	old := func(slot int) bool { return stale == slot || stale == allStale }
	if group, there := w.group.shown(old(0)); there {
		s.Group = group
	}
	for i := range w.plans {
		if plan, there := w.plans[i].shown(old(1 + i)); there {
			s.Plans = append(s.Plans, plan)
		}
	}
	for i := range w.members {
		if m, there := w.members[i].shown(old(1 + len(w.plans) + i)); there {
			s.Members = append(s.Members, m)
		}
	}
	for i := range w.leases {
		l := &w.leases[i]
		s.LastSeen[l.name] = l.session()
	}
	if declared := w.declared(); declared > 0 {
		s.Declared[workload] = int32(declared)
	}
	return s
}

// declared replicas of the workload.
func (w *world) declared() int64 {
	var n int64
	for i := range w.procs {
		if p := &w.procs[i]; p.kind != registered && !p.over && !p.goes {
			n++
		}
	}
	return n
}

const (
	noneStale = -1
	allStale  = -2
)

func (s *slot[T]) shown(old bool) (T, bool) {
	if old && s.stale {
		return s.before, s.existed
	}
	return s.now, s.there
}

func (l *lease) session() coordinator.Session {
	return coordinator.Session{
		Holder: l.holder, RenewTime: micro(l.renew), LeaseDuration: sessionTimeout, Seen: l.seen, Former: l.former,
	}
}

// staleSlots are the slots of which the cache may still show the version before; allStale if there are several.
func (w *world) staleSlots() []int {
	var stale []int
	if w.group.stale {
		stale = append(stale, 0)
	}
	for i := range w.plans {
		if w.plans[i].stale {
			stale = append(stale, 1+i)
		}
	}
	for i := range w.members {
		if w.members[i].stale {
			stale = append(stale, 1+len(w.plans)+i)
		}
	}
	if len(stale) > 1 {
		stale = append(stale, allStale)
	}
	return stale
}

// staleness is the number of slots that can be stale: the group, each plan, each member.
func (w *world) staleness() int { return 1 + len(w.plans) + len(w.members) }

func (w *world) slotFresh(i int) {
	switch {
	case i == 0:
		w.group.fresh()
	case i <= len(w.plans):
		w.plans[i-1].fresh()
	default:
		w.members[i-1-len(w.plans)].fresh()
	}
}

// decide asks the coordinator, reading live what it needs. With an assignor that breaks ties at will there may be
// several answers.
func (w *world) decide(stale int) []coordinator.Decision {
	calls := 0
	first := w.decideOnce(stale, func(name string) (assignor.Assignor, bool) {
		calls++
		return assignor.ByName(name)
	})
	answers := []coordinator.Decision{first}
	if calls == 0 || !w.ties {
		return answers
	}
	if other := w.decideOnce(stale, otherTies); !samePlan(first, other) {
		answers = append(answers, other)
	}
	return answers
}

func (w *world) decideOnce(stale int, assign func(string) (assignor.Assignor, bool)) coordinator.Decision {
	s := w.snapshot(stale)
	s.Config.Assign = assign
	for range liveReads {
		told := s
		if w.mutation != nil && w.mutation.snapshot != nil {
			told.Members, told.Plans = slices.Clone(s.Members), slices.Clone(s.Plans)
			w.mutation.snapshot(w, &told)
		}
		decision := coordinator.Decide(told)
		if decision.Need.Empty() {
			w.proper(decision)
			return decision
		}
		w.readLive(&s, decision.Need)
	}
	panic("the coordinator asks for live reads again and again")
}

// proper holds a decision to its form: an object is written at most once, and the next look lies ahead.
func (w *world) proper(d coordinator.Decision) {
	written := map[string]bool{}
	for _, batch := range d.Batches {
		for _, write := range batch.Writes {
			name := nameOf(subject(write))
			if written[name] {
				w.improper = fmt.Errorf("a decision writes %s twice", name)
			}
			written[name] = true
		}
	}
	if len(d.Batches) == 0 && !d.WakeAt.IsZero() && !d.WakeAt.After(w.now) {
		w.improper = fmt.Errorf("a decision is to wake up at %s, which is not after %s", d.WakeAt, w.now)
	}
}

// readLive lays what is stored over the snapshot.
func (w *world) readLive(s *coordinator.Snapshot, need coordinator.Live) {
	if need.Plans {
		s.Live.Plans, s.Plans = true, nil
		for i := range w.plans {
			if w.plans[i].there {
				s.Plans = append(s.Plans, w.plans[i].now)
			}
		}
	}
	for name := range need.Members {
		if s.Live.Members == nil {
			s.Live.Members = map[string]bool{}
		}
		s.Live.Members[name] = true
		s.Members = slices.DeleteFunc(slices.Clone(s.Members), func(m *v1alpha1.GroupMember) bool { return m.Name == name })
		if m := w.memberNow(name); m != nil {
			s.Members = append(s.Members, m)
		}
	}
}

// otherTies is the same assignor, told the members under names in the opposite order.
func otherTies(name string) (assignor.Assignor, bool) {
	assign, ok := assignor.ByName(name)
	return func(in assignor.Input) (assignor.Result, error) {
		in.Members = slices.Clone(in.Members)
		for i := range in.Members {
			in.Members[i].Name = opposite(in.Members[i].Name)
		}
		return assign(in)
	}, ok
}

// opposite maps each letter so that the order of names turns round.
func opposite(name string) string {
	return strings.Map(func(r rune) rune { return 0x2000 - r }, name)
}

func samePlan(a, b coordinator.Decision) bool { return planText(a) == planText(b) }

func planText(d coordinator.Decision) string {
	for _, batch := range d.Batches {
		for _, write := range batch.Writes {
			if plan, ok := write.New.(*appsv1.ControllerRevision); ok && write.Verb == coordinator.Create {
				return string(plan.Data.Raw)
			}
		}
	}
	return ""
}

// takeOn makes a decision the leader's. A cache never goes back: what it has shown once it goes on showing.
func (w *world) takeOn(d coordinator.Decision, stale int) {
	for i := range w.staleness() {
		if stale != allStale && stale != i {
			w.slotFresh(i)
		}
	}
	w.leader.queue, w.leader.begun = slices.Clone(d.Batches), false
	w.leader.counter++
}
