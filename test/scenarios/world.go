package scenarios

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// World is what a script is played in.
type World interface {
	// Do carries out a command that expects nothing. A refusal by the API is a *Refusal.
	Do(command Command) error
	// View is what expectations look at, at this instant.
	View() View
	// Err is what went wrong with the world itself, above all broken invariants; nil while all is well.
	Err() error
}

// Refusal says that the API refused a command.
type Refusal struct{ Err error }

// Error is the API's reason.
func (r *Refusal) Error() string { return fmt.Sprintf("refused: %v", r.Err) }

// Unwrap gives the API's error.
func (r *Refusal) Unwrap() error { return r.Err }

// View is a world at one instant.
type View struct {
	Now     time.Time
	Groups  []*v1alpha1.ConsumerGroup
	Members []*v1alpha1.GroupMember
	Plans   []*appsv1.ControllerRevision
	// Events that the operator sent, oldest first.
	Events []Event
	// Writes of the operator so far, and those to groups among them.
	Writes, GroupWrites int
	// Workers are processes and pods.
	Workers []Worker
	// LastWrites describes the newest writes of everybody, oldest first.
	LastWrites func() []string
}

// Event that the operator sent about an object.
type Event struct{ About, Reason string }

// Worker is a self-registered process, or what runs in a pod.
type Worker struct {
	// Handle of a process, or the pod's name.
	Handle string
	// Pod: it is a pod; PodUID then is the newest pod's of that name, there or not.
	Pod    bool
	PodUID string
	// Group and Object are a process's group and GroupMember, Member its static name.
	Group, Object, Member string
	// Error is what a process has seen, "none" while all is well.
	Error  string
	Proven bool
	// Works on these copies, by group.
	Works map[string]map[partition]bool
}

// group finds a ConsumerGroup; nil when there is none.
func (v *View) group(name string) *v1alpha1.ConsumerGroup {
	for _, group := range v.Groups {
		if group.Name == name {
			return group
		}
	}
	return nil
}

// membersOf are the group's members, by object name.
func (v *View) membersOf(group string) []*v1alpha1.GroupMember {
	var members []*v1alpha1.GroupMember
	for _, member := range v.Members {
		if member.Spec.Group == group {
			members = append(members, member)
		}
	}
	return members
}

// member finds a member of a group by its static name, a handle, a pod's name or its object's name; nil when there is none.
func (v *View) member(group, name string) *v1alpha1.GroupMember {
	members := v.membersOf(group)
	for _, is := range []func(*v1alpha1.GroupMember) bool{
		func(m *v1alpha1.GroupMember) bool { return m.Spec.MemberName == name },
		func(m *v1alpha1.GroupMember) bool { return v.isHandle(m, name) },
		func(m *v1alpha1.GroupMember) bool { return m.Name == name },
	} {
		for _, member := range members {
			if is(member) {
				return member
			}
		}
	}
	return nil
}

func (v *View) isHandle(member *v1alpha1.GroupMember, name string) bool {
	for i := range v.Workers {
		worker := &v.Workers[i]
		if worker.Handle != name {
			continue
		}
		if worker.Pod && member.Spec.Workload != nil && member.Spec.Incarnation == worker.PodUID {
			return true
		}
		if !worker.Pod && worker.Object == member.Name {
			return true
		}
	}
	return false
}

// nameOf is what people call a member: its static name, its pod's name, or its process's handle.
func (v *View) nameOf(member *v1alpha1.GroupMember) string {
	if member.Spec.MemberName != "" {
		return member.Spec.MemberName
	}
	for i := range v.Workers {
		if v.isHandle(member, v.Workers[i].Handle) {
			return v.Workers[i].Handle
		}
	}
	return member.Name
}

// worker finds the newest process of that handle, or the pod of that name; nil when there is none.
func (v *View) worker(handle string) *Worker {
	for i := len(v.Workers) - 1; i >= 0; i-- {
		if v.Workers[i].Handle == handle {
			return &v.Workers[i]
		}
	}
	return nil
}
