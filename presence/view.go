package presence

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

const (
	// mergeWindow is how long the news that a static pod has stopped waits for its successor, to be one write with it.
	mergeWindow = 2 * time.Second
	// defaultSession is what a group without a session timeout has: the API server sets the same.
	defaultSession = 45 * time.Second
	// defaultReplacement is the least that a group without a replacement timeout has.
	defaultReplacement = 5 * time.Minute
)

// view is a snapshot in the order in which it is read, and what was found on the way.
type view struct {
	Snapshot
	workload Object
	// groups that the workload's annotation names; static: what its new members are.
	groups []string
	static bool
	// pods and mine, the workload's own members, in the order of their names.
	pods []*corev1.Pod
	mine []*v1alpha1.GroupMember
	// byName are the pods by the static name that they bear.
	byName map[string]*corev1.Pod
	byUID  map[types.UID]*corev1.Pod
	// taken are all members by object name, named all static ones by their names, bound the own ones by their pods.
	taken map[string]*v1alpha1.GroupMember
	named map[memberKey]*v1alpha1.GroupMember
	bound map[memberKey]*v1alpha1.GroupMember

	need   Live
	events []Event
	wake   time.Time
}

// memberKey is a group and what is unique in it: a static name, or the UID of a pod.
type memberKey struct {
	group, key string
}

func newView(s Snapshot) *view {
	// Stored instants have microseconds: with more, an object would differ from itself once written and read.
	s.Now = s.Now.UTC().Truncate(time.Microsecond)
	v := &view{
		Snapshot: s,
		taken:    make(map[string]*v1alpha1.GroupMember, len(s.Members)),
		byName:   make(map[string]*corev1.Pod, len(s.Pods)),
		byUID:    make(map[types.UID]*corev1.Pod, len(s.Pods)),
		named:    make(map[memberKey]*v1alpha1.GroupMember, len(s.Members)),
		bound:    make(map[memberKey]*v1alpha1.GroupMember, len(s.Members)),
	}
	v.workload = v.object()
	v.indexPods()
	v.indexMembers()
	v.groups = v.groupsOf()
	v.static = v.staticMembers()
	v.checkPlaces()
	return v
}

func (v *view) indexPods() {
	v.pods = slices.SortedFunc(slices.Values(v.Pods), func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	for _, pod := range v.pods {
		v.byName[memberName(pod.Name)] = pod
		v.byUID[pod.UID] = pod
	}
}

func (v *view) indexMembers() {
	sorted := slices.SortedFunc(slices.Values(v.Members), func(a, b *v1alpha1.GroupMember) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	for _, member := range sorted {
		v.taken[member.Name] = member
		if member.Spec.MemberName != "" {
			v.named[memberKey{member.Spec.Group, member.Spec.MemberName}] = member
		}
		if v.owns(member) {
			v.mine = append(v.mine, member)
			v.bound[memberKey{member.Spec.Group, member.Spec.Incarnation}] = member
		}
	}
}

// owns says that the member is this workload's. Others are not touched, whatever they are called.
func (v *view) owns(member *v1alpha1.GroupMember) bool {
	workload := member.Spec.Workload
	return workload != nil && workload.Kind == v.Workload.Kind && workload.Name == v.Workload.Name
}

// names says that the workload's annotation names the group.
func (v *view) names(group string) bool { return slices.Contains(v.groups, group) }

// instant is Now as it is stored.
func (v *view) instant() metav1.MicroTime { return metav1.NewMicroTime(v.Now) }

// wakeAt asks to be woken at that instant, if it is still to come.
func (v *view) wakeAt(at time.Time) {
	if at.After(v.Now) && (v.wake.IsZero() || at.Before(v.wake)) {
		v.wake = at
	}
}

// session is the group's session timeout, within the manager's bounds.
func (v *view) session(group *v1alpha1.ConsumerGroup) time.Duration {
	timeout := defaultSession
	if group.Spec.SessionTimeout != nil {
		timeout = group.Spec.SessionTimeout.Duration
	}
	timeout = max(timeout, v.Config.SessionMin)
	if v.Config.SessionMax > 0 {
		timeout = min(timeout, v.Config.SessionMax)
	}
	return timeout
}

// timeoutOf is how long a member may be away for that reason.
func (v *view) timeoutOf(group *v1alpha1.ConsumerGroup, reason string) time.Duration {
	session := v.session(group)
	switch {
	case reason != v1alpha1.PresenceReplacing:
		return session
	case group.Spec.ReplacementTimeout != nil:
		return max(group.Spec.ReplacementTimeout.Duration, session)
	}
	return max(defaultReplacement, session)
}
