package explore

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// world is one state. Objects are never changed in place, so worlds share them.
type world struct {
	*setup
	now   time.Time
	clock int64 // the last resourceVersion

	group   slot[*v1alpha1.ConsumerGroup]
	plans   []slot[*coordinator.Plan] // newest first
	members []slot[*v1alpha1.GroupMember]
	leases  []lease
	procs   []process
	leader  leader
	flights []coordinator.Write // sent, and nobody waits for them: each may arrive at any time, or never

	happened int // events so far
	failed   int // faults so far
	terms    int // coordinators so far
	lives    int // groups so far
	births   map[string]int
	forces   int
	referee  *referee.Referee

	// choices of the leader, once asked for; nil before.
	choices []coordinator.Decision
	// improper says what is wrong with the form of a decision made here.
	improper error
}

// slot is a stored object, and how it was before somebody else than the leader changed it last: a cache may still show that.
type slot[T any] struct {
	name string
	now  T
	// there, before: whether there is such an object. stale: before may still be in the cache.
	there          bool
	before         T
	stale, existed bool
}

// lease is the heartbeat of a self-registered member, and when the present leader saw it.
type lease struct {
	name   string
	holder string
	renew  time.Time
	seen   time.Time
	former time.Time
}

// leader is the coordinator that holds the leadership.
type leader struct {
	term    string
	counter int64
	// queue is what it has decided and not sent yet, a batch at a time.
	queue []coordinator.Batch
	// begun: something of the queue has been sent.
	begun bool
	// unknown are objects that it has written with unknown outcome, by kind and name.
	unknown []string
}

func (w *world) clone() *world {
	c := *w
	c.plans = slices.Clone(w.plans)
	c.members = slices.Clone(w.members)
	c.leases = slices.Clone(w.leases)
	c.procs = slices.Clone(w.procs)
	c.flights = slices.Clone(w.flights)
	c.leader.unknown = slices.Clone(w.leader.unknown)
	c.referee = w.referee.Clone()
	c.choices = nil
	return &c
}

func (w *world) born(name string) int {
	births := make(map[string]int, len(w.births)+1)
	for k, v := range w.births {
		births[k] = v
	}
	births[name]++
	w.births = births
	return births[name]
}

// put stores a new version of an object in a slot. Foreign: somebody else than the leader wrote it.
func (s *slot[T]) put(now T, foreign bool) {
	s.keep(foreign)
	s.now, s.there = now, true
}

func (s *slot[T]) drop(foreign bool) {
	s.keep(foreign)
	var none T
	s.now, s.there = none, false
}

// keep remembers what a cache may still show. The leader's own writes are laid over its cache.
func (s *slot[T]) keep(foreign bool) {
	var none T
	if foreign {
		s.before, s.existed, s.stale = s.now, s.there, true
	} else {
		s.before, s.existed, s.stale = none, false, false
	}
}

// fresh forgets what a cache might still show.
func (s *slot[T]) fresh() {
	var none T
	s.before, s.existed, s.stale = none, false, false
}

func (w *world) member(name string) *slot[*v1alpha1.GroupMember] {
	for i := range w.members {
		if w.members[i].name == name {
			return &w.members[i]
		}
	}
	return nil
}

// memberNow is the stored object, or nil.
func (w *world) memberNow(name string) *v1alpha1.GroupMember {
	if s := w.member(name); s != nil && s.there {
		return s.now
	}
	return nil
}

// memberSlot finds or makes the slot of a name; slots stand in order of names.
func (w *world) memberSlot(name string) *slot[*v1alpha1.GroupMember] {
	if s := w.member(name); s != nil {
		return s
	}
	w.members = append(w.members, slot[*v1alpha1.GroupMember]{name: name})
	slices.SortFunc(w.members, func(a, b slot[*v1alpha1.GroupMember]) int { return compareNames(a.name, b.name) })
	return w.member(name)
}

func compareNames(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (w *world) lease(name string) *lease {
	for i := range w.leases {
		if w.leases[i].name == name {
			return &w.leases[i]
		}
	}
	return nil
}

func (w *world) groupUID() types.UID {
	if !w.group.there {
		return ""
	}
	return w.group.now.UID
}

// groupGoing: there is no group, or it is being deleted.
func (w *world) groupGoing() bool { return !w.group.there || w.group.now.DeletionTimestamp != nil }

// view is what the referee sees.
func (w *world) view() referee.View {
	v := referee.View{Now: w.now}
	if w.group.there {
		v.Group = w.group.now
	}
	for i := range w.plans {
		if w.plans[i].there {
			v.Plans = append(v.Plans, w.plans[i].now)
		}
	}
	for i := range w.members {
		if w.members[i].there {
			v.Members = append(v.Members, w.members[i].now)
		}
	}
	for i := range w.procs {
		if p := &w.procs[i]; len(p.works) > 0 {
			v.Processes = append(v.Processes, referee.Process{Name: p.name, Group: p.group, Works: p.works})
		}
	}
	return v
}
