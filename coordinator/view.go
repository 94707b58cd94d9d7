package coordinator

import (
	"sort"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// view is a snapshot with what follows from it at once: the plan in force, who it names, who is available. It is made
// anew for every decision and never changes the objects.
type view struct {
	*Snapshot
	status *v1alpha1.ConsumerGroupStatus
	// members of this group, by object name; foreign are those whose owner is another life of the group.
	members, foreign []*member
	// plan in force, nil when there is none; before is the plan that it followed.
	plan, before *PlanContent
	// planLost: someone is in the generation and its plan is gone.
	planLost bool
	// generation is the greater of the group's and the newest plan's.
	generation int64
	// anyAvailable: some member of the generation is available.
	anyAvailable bool
	// inTime is someJoinedInTime, once asked for.
	inTime *bool
	// firstByName are the members that bear each static name by right; nil until it is asked for.
	firstByName map[string]*member
	// leaderSync is seenSync, once asked for.
	leaderSync *seenSync
	// need collects what must be read live before this can be decided.
	need Live
	// wakeAt is the earliest deadline that was looked at and has not passed.
	wakeAt time.Time
}

// member is a GroupMember with its place in the plan in force.
type member struct {
	*v1alpha1.GroupMember
	index int
	// position in the plan in force, or nobody when it does not list this object.
	position int32
	// named: the plan in force lists it and it has not left since.
	named bool
}

func newView(s *Snapshot) *view {
	v := &view{Snapshot: s, status: &s.Group.Status}
	v.choosePlan()
	v.members = make([]*member, 0, len(s.Members))
	all := make([]member, len(s.Members))
	for i, m := range s.Members {
		all[i] = member{GroupMember: m, position: nobody}
		if v.ownedByAnother(m) {
			v.foreign = append(v.foreign, &all[i])
			continue
		}
		v.members = append(v.members, &all[i])
	}
	sort.Slice(v.members, func(i, j int) bool { return v.members[i].Name < v.members[j].Name })
	v.planLost = v.plan == nil && v.someoneInGeneration()
	for i, m := range v.members {
		m.index = i
		v.place(m)
	}
	for _, m := range v.members {
		v.anyAvailable = v.anyAvailable || m.named && v.available(m)
	}
	return v
}

// choosePlan finds the plan in force: the newest, unless the group has seen a later one, or another of its generation: that
// was deleted by hand, and its name may have been taken since by a late write of a coordinator that is no more.
func (v *view) choosePlan() {
	v.generation = v.status.Generation
	if len(v.Plans) == 0 {
		return
	}
	newest := v.Plans[0].Content
	if newest == nil || newest.Generation < v.status.Generation || v.supplants(v.Plans[0]) {
		return
	}
	v.plan, v.generation = newest, newest.Generation
	if len(v.Plans) > 1 {
		v.before = v.Plans[1].Content
	}
}

// supplants: the plan is not the one that the group followed in that generation. What that gave cannot be given again by
// another plan of the same generation: the tokens would not rise.
func (v *view) supplants(p *Plan) bool {
	last := v.status.LastRebalance
	return last != nil && last.Plan != "" && last.Generation == p.Generation() && last.Plan != string(p.Revision.UID)
}

func (v *view) someoneInGeneration() bool {
	for _, m := range v.members {
		if inGeneration(m.Status.State) {
			return true
		}
	}
	return false
}

func inGeneration(state v1alpha1.MemberState) bool {
	return state == v1alpha1.MemberActive || state == v1alpha1.MemberUnavailable
}

func hasLeft(state v1alpha1.MemberState) bool {
	return state == v1alpha1.MemberLeaving || state == v1alpha1.MemberDead || state == v1alpha1.MemberRejected
}

// place finds a member in the plan in force. A plan names who it lists by name and UID and who has not left since; while
// the plan is lost, those Active or Unavailable count as named.
func (v *view) place(m *member) {
	if v.planLost {
		m.named = inGeneration(m.Status.State)
		return
	}
	if v.plan == nil {
		return
	}
	m.position = v.plan.position(m.GroupMember)
	m.named = m.position != nobody && (m.Status.Left == nil || m.Status.Left.Generation < v.plan.Generation)
}

// leaving: the member is being deleted, or its name is no longer wanted.
func leaving(m *member) bool {
	return m.DeletionTimestamp != nil || m.Spec.Presence != nil && m.Spec.Presence.State == v1alpha1.Leaving
}

// stays: the plan names it and it is not on its way out.
func (m *member) stays() bool { return m.named && !leaving(m) && !hasLeft(m.Status.State) }

func (v *view) staying() []*member {
	var list []*member
	for _, m := range v.members {
		if m.stays() {
			list = append(list, m)
		}
	}
	return list
}

func (v *view) ownedByAnother(m *v1alpha1.GroupMember) bool {
	owner := metav1.GetControllerOfNoCopy(m)
	return owner != nil && owner.UID != v.Group.UID
}

// displayName is what people call a member: its member name, or its object's.
func displayName(m *v1alpha1.GroupMember) string {
	if m.Spec.MemberName != "" {
		return m.Spec.MemberName
	}
	return m.Name
}

// memberID of the member's present incarnation.
func memberID(m *v1alpha1.GroupMember) string { return displayName(m) + "-" + m.Spec.Incarnation }

// restarted: the member has another incarnation than its memberID says.
func restarted(m *member) bool {
	id, name := m.Status.MemberID, displayName(m.GroupMember)
	return id != "" && (len(id) != len(name)+1+len(m.Spec.Incarnation) || !strings.HasPrefix(id, name) ||
		!strings.HasSuffix(id, m.Spec.Incarnation))
}

func selfRegistered(m *member) bool { return m.Spec.Workload == nil }

// passed says whether a deadline has come; if not, it is one to wake up for.
func (v *view) passed(deadline time.Time) bool {
	if !v.Now.Before(deadline) {
		return true
	}
	if v.wakeAt.IsZero() || deadline.Before(v.wakeAt) {
		v.wakeAt = deadline
	}
	return false
}

// confirmed says whether the member was read live for this snapshot; if not, it asks for that.
func (v *view) confirmed(m *member) bool {
	if v.Live.Members[m.Name] {
		return true
	}
	if v.need.Members == nil {
		v.need.Members = map[string]bool{}
	}
	v.need.Members[m.Name] = true
	return false
}

// micro is an instant as it is stored.
func micro(t time.Time) metav1.MicroTime { return metav1.NewMicroTime(t.Truncate(time.Microsecond)) }

func microPtr(t time.Time) *metav1.MicroTime {
	m := micro(t)
	return &m
}
