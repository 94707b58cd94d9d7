package referee_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/coordinator"
	"github.com/rollcall-dev/rollcall/test/referee"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// A case is a short history; only its last view may break the invariant, and must.
type history struct {
	name  string
	views []referee.View
	want  string // contained in the message; empty: nothing is broken
}

func TestCheck(t *testing.T) {
	for _, h := range slices.Concat(holderHistories(), tokenHistories(), generationHistories(), processHistories()) {
		t.Run(h.name, func(t *testing.T) {
			r := referee.New()
			last := len(h.views) - 1
			for i, view := range h.views {
				err := r.Clone().Check(view, "a trial")
				if again := r.Check(view, "a step"); (err == nil) != (again == nil) {
					t.Fatalf("a clone judges otherwise: %v and %v", err, again)
				}
				if i < last && err != nil {
					t.Fatalf("view %d: %v", i, err)
				}
				if i == last {
					check(t, err, h.want)
				}
			}
		})
	}
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("want no violation, got %v", err)
	case want != "" && err == nil:
		t.Errorf("want a violation with %q, got none", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("want a violation with %q, got %v", want, err)
	}
}

func holderHistories() []history {
	stopped := &v1alpha1.Presence{State: v1alpha1.Leaving, Reason: v1alpha1.PresencePodGoing, Stopped: true}
	return []history{
		{"one holder each", []referee.View{world(member("a", holds(100, 0)), member("b", holds(100, 1)))}, ""},
		{"two assignments", []referee.View{world(member("a", holds(100, 0)), member("b", holds(101, 0)))}, "two holders: a (assignment) and b (assignment)"},
		{"granted while revoked in force", []referee.View{
			world(member("a", revoking("a-1", 2, 100, 0))),
			world(member("a", revoking("a-1", 2, 100, 0)), member("b", holds(101, 0), revision(1))),
		}, "a (revoking of a-1)"},
		{"granted after acknowledgement", []referee.View{
			world(member("a", revoking("a-1", 2, 100, 0), acks("a-1", 2, false)), member("b", holds(101, 0))),
		}, ""},
		{"an older acknowledgement does not count", []referee.View{
			world(member("a", revoking("a-1", 2, 100, 0), acks("a-1", 1, false)), member("b", holds(101, 0))),
		}, "two holders"},
		{"another incarnation's does not count", []referee.View{
			world(member("a", revoking("a-0", 2, 100, 0), acks("a-1", 9, true)), member("b", holds(101, 0))),
		}, "two holders"},
		{"two copies of a partition", []referee.View{world(member("a", holds(100, 0), holdsCopy(100, 1, 0)))}, "two copies of one partition"},
		{"released without a word", []referee.View{
			world(member("a", holds(100, 0))), world(member("a", revision(2))),
		}, "left a, although a-1 had neither"},
		{"released with a word", []referee.View{
			world(member("a", holds(100, 0))), world(member("a", revision(2), acks("a-1", 1, true))),
		}, ""},
		{"released when stopped", []referee.View{
			world(member("a", holds(100, 0), presence(stopped))), world(member("a", revision(2), presence(stopped))),
		}, ""},
		{"gone while it held", []referee.View{world(member("a", holds(100, 0))), world()}, "left a"},
		{"gone with its group", []referee.View{world(member("a", holds(100, 0))), {}}, ""},
		{"another answer, the same revision", []referee.View{
			world(member("a")), world(member("a", holds(100, 0), revision(1)), member("b")),
			world(member("a", holds(100, 0, 1), revision(1)), member("b")),
		}, "another answer under the same revision 1"},
	}
}

func tokenHistories() []history {
	gone := world()
	return []history{
		{"token grows", []referee.View{world(member("a", holds(100, 0), acks("a-1", 1, true))), gone, world(member("b", holds(101, 0)))}, ""},
		{"token stays", []referee.View{world(member("a", holds(100, 0), acks("a-1", 1, true))), gone, world(member("b", holds(100, 0)))}, "invariant 3: b (b-1)"},
		{"its own old token again", []referee.View{
			world(member("a", holds(100, 0))),
			world(member("a", revoking("a-1", 2, 100, 0), revision(2))),
			world(member("a", holds(100, 0), revision(3))),
		}, "not above 100 of a-1"},
		{"takeover without a new token", []referee.View{
			world(member("a", holds(100, 0))), world(member("a", incarnation("2"), holds(100, 0))),
		}, "not above 100"},
		{"across lives of the group", []referee.View{
			world(member("a", holds(100, 0))), {}, inGroup(group("later"), member("b", holds(99, 0))),
		}, "not above 100"},
		{"lastToken falls", []referee.View{world(member("a", lastToken(9))), world(member("a", lastToken(8)))}, "forgot lastToken 9"},
		{"former incarnation", []referee.View{
			world(member("a")), world(member("a", incarnation("2"))), world(member("a")),
		}, "former incarnation 1 of a is back"},
	}
}

func generationHistories() []history {
	joined := coordinator.Cause{Reason: v1alpha1.RebalanceMemberJoined, Names: []string{"a"}}
	left := coordinator.Cause{Reason: v1alpha1.RebalanceMemberLeft, Names: []string{"a"}}
	lost := coordinator.Cause{Reason: v1alpha1.RebalancePlanLost}
	forced := coordinator.Cause{Reason: v1alpha1.RebalanceForced}
	return []history{
		{"one by one", []referee.View{planned(0), planned(0, plan(1, joined)), planned(1, plan(1, joined))}, ""},
		{"goes back", []referee.View{planned(0), planned(1, plan(1, joined)), planned(0, plan(1, joined))}, "back to 0"},
		{"without a plan", []referee.View{planned(0), planned(1)}, "for which there was no plan"},
		{"skips one", []referee.View{planned(0), planned(0, plan(2, joined))}, "the next was 1"},
		{"without a reason", []referee.View{planned(0), planned(0, plan(1))}, "gives no reason"},
		{"who stays has not left", []referee.View{planned(0), planned(1, plan(1, joined)), planned(1, plan(1, joined), plan(2, left))}, "says MemberLeft of a"},
		{"a late plan under a name freed by hand", []referee.View{
			planned(0), following(1, plan(1, joined), plan(1, joined)), following(1, plan(1, joined)),
			following(1, plan(1, joined), as("other", plan(1, joined))),
		}, ""},
		{"a late plan before the one that follows", []referee.View{
			planned(0), following(1, plan(1, joined), plan(1, joined)), following(1, plan(1, joined)), planned(2, plan(2, lost)),
			planned(2, plan(2, lost), as("other", plan(1, joined))),
		}, ""},
		{"a late plan while its own is there", []referee.View{
			planned(0), planned(1, plan(1, joined)), planned(1, plan(1, joined), as("other", plan(1, joined))),
		}, "came when the group was at generation 1"},
		{"follows two of a generation", []referee.View{
			planned(0), following(1, plan(1, joined), plan(1, joined)), following(1, as("other", plan(1, joined)), as("other", plan(1, joined))),
		}, "followed plan g-life-1, and now other"},
		{"follows what there never was", []referee.View{
			planned(0), planned(0, plan(1, joined)), following(1, as("other", plan(1, joined)), plan(1, joined)),
		}, "which there never was"},
		{"nobody forced it", []referee.View{planned(0), planned(1, plan(1, joined)), planned(1, plan(1, joined), plan(2, forced))}, "says Forced"},
	}
}

func processHistories() []history {
	exclusive := group("life")
	exclusive.Spec.Handover.Policy = v1alpha1.HandoverExclusive
	return []history{
		{"two at work, Available", []referee.View{atWork(group("life"), works("a", "life", 100), works("b", "life", 101))}, ""},
		{"two at work, Exclusive", []referee.View{atWork(exclusive, works("a", "life", 100), works("b", "life", 101))}, "two processes work on orders:0 under Exclusive: a and b"},
		{"one of a former life", []referee.View{atWork(exclusive, works("a", "before", 100), works("b", "life", 101))}, ""},
		{"a store takes the same token from two", []referee.View{
			atWork(group("life"), works("a", "life", 100)), atWork(group("life"), works("b", "life", 100)),
		}, "a store accepts both"},
		{"a store refuses the stale one", []referee.View{
			atWork(group("life"), works("b", "life", 101)), atWork(group("life"), works("a", "life", 100)),
		}, ""},
	}
}

func TestRestAndSettled(t *testing.T) {
	for _, test := range []struct {
		name          string
		state         v1alpha1.GroupState
		full          metav1.ConditionStatus
		members       []*v1alpha1.GroupMember
		settled, rest string
	}{
		{"Stable and full", v1alpha1.GroupStable, metav1.ConditionTrue, []*v1alpha1.GroupMember{member("a", holds(100, 0, 1))}, "", ""},
		{"Stable, claims too much", v1alpha1.GroupStable, metav1.ConditionTrue, []*v1alpha1.GroupMember{member("a", holds(100, 0))}, "nobody who may holds [orders:1]", "nobody who may"},
		{"Stable, says what is missing", v1alpha1.GroupStable, metav1.ConditionFalse, []*v1alpha1.GroupMember{member("a", holds(100, 0))}, "", ""},
		{"Stable, claims too little", v1alpha1.GroupStable, metav1.ConditionFalse, []*v1alpha1.GroupMember{member("a", holds(100, 0, 1))}, "every copy is held", "every copy is held"},
		{"Down", v1alpha1.GroupDown, metav1.ConditionFalse, nil, "", ""},
		{"waits for ever", v1alpha1.GroupAwaitingSync, metav1.ConditionFalse, nil, "", "at rest in state AwaitingSync"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := group("life")
			g.Status.State = test.state
			g.Status.Conditions = []metav1.Condition{{Type: v1alpha1.GroupFullyAssigned, Status: test.full, Reason: "R", Message: "m"}}
			view := inGroup(g, test.members...)
			r := referee.New()
			check(t, r.Check(view, "a step"), "")
			check(t, r.Settled(view, "a step"), test.settled)
			check(t, r.Rest(view, "a step"), test.rest)
		})
	}
}

func group(uid string) *v1alpha1.ConsumerGroup {
	return &v1alpha1.ConsumerGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "g", UID: types.UID(uid)},
		Spec:       v1alpha1.ConsumerGroupSpec{Topics: []v1alpha1.TopicSpec{{Name: "orders", Partitions: 2, Replicas: 1}}},
	}
}

func world(members ...*v1alpha1.GroupMember) referee.View { return inGroup(group("life"), members...) }

func inGroup(g *v1alpha1.ConsumerGroup, members ...*v1alpha1.GroupMember) referee.View {
	return referee.View{Group: g, Members: members, Now: start}
}

func planned(generation int64, plans ...*coordinator.Plan) referee.View {
	view := world()
	view.Group.Status.Generation = generation
	view.Plans = plans
	return view
}

func plan(generation int64, causes ...coordinator.Cause) *coordinator.Plan {
	name := fmt.Sprintf("g-life-%d", generation)
	return &coordinator.Plan{
		Revision: &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Revision: generation},
		Content: &coordinator.PlanContent{
			Generation: generation, Reasons: causes,
			Members: []coordinator.PlanMember{{Object: "a", UID: "uid-of-a", Name: "a"}},
		},
	}
}

// following is a group that follows a plan, with the plans that are stored.
func following(generation int64, followed *coordinator.Plan, stored ...*coordinator.Plan) referee.View {
	view := planned(generation, stored...)
	view.Group.Status.LastRebalance = &v1alpha1.LastRebalance{Generation: generation, Plan: string(followed.Revision.UID)}
	return view
}

// as is a plan under another UID.
func as(uid types.UID, p *coordinator.Plan) *coordinator.Plan {
	p.Revision.UID = uid
	return p
}

func atWork(g *v1alpha1.ConsumerGroup, processes ...referee.Process) referee.View {
	return referee.View{Group: g, Processes: processes, Now: start}
}

func works(name, group string, token int64) referee.Process {
	return referee.Process{Name: name, Group: types.UID(group), Works: []referee.Work{{Copy: referee.Copy{Topic: "orders"}, Token: token}}}
}

type option func(*v1alpha1.GroupMember)

func member(name string, options ...option) *v1alpha1.GroupMember {
	m := &v1alpha1.GroupMember{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-of-" + name)},
		Spec: v1alpha1.GroupMemberSpec{
			Group: "g", MemberName: name, Incarnation: "1", Workload: &v1alpha1.WorkloadReference{Kind: "StatefulSet", Name: "w"},
			Presence: &v1alpha1.Presence{State: v1alpha1.Present, Reason: v1alpha1.PresenceReady},
		},
		Status: v1alpha1.GroupMemberStatus{MemberID: name + "-1", State: v1alpha1.MemberActive},
	}
	for _, set := range options {
		set(m)
	}
	return m
}

func holds(token int64, partitions ...int32) option {
	return func(m *v1alpha1.GroupMember) {
		m.Status.Revision = max(m.Status.Revision, 1)
		m.Status.Assignment = &v1alpha1.MemberAssignment{TopicPartitions: []v1alpha1.TopicPartitions{{Topic: "orders", Partitions: partitions, Token: token}}}
	}
}

func holdsCopy(token int64, index int32, partitions ...int32) option {
	return func(m *v1alpha1.GroupMember) {
		entry := v1alpha1.TopicPartitions{Topic: "orders", Copy: index, Partitions: partitions, Token: token}
		m.Status.Assignment.TopicPartitions = append(m.Status.Assignment.TopicPartitions, entry)
	}
}

func revoking(memberID string, revision, token int64, partitions ...int32) option {
	return func(m *v1alpha1.GroupMember) {
		m.Status.Revision = max(m.Status.Revision, revision)
		m.Status.Revoking = append(m.Status.Revoking, v1alpha1.Revocation{
			MemberID: memberID, Revision: revision, Since: metav1.NewMicroTime(start),
			TopicPartitions: []v1alpha1.TopicPartitions{{Topic: "orders", Partitions: partitions, Token: token}},
		})
	}
}

func acks(memberID string, revision int64, final bool) option {
	return func(m *v1alpha1.GroupMember) {
		m.Spec.Acknowledged = &v1alpha1.Acknowledged{MemberID: memberID, Revision: revision, Final: final}
	}
}

func presence(p *v1alpha1.Presence) option {
	return func(m *v1alpha1.GroupMember) { m.Spec.Presence = p }
}

func incarnation(i string) option {
	return func(m *v1alpha1.GroupMember) {
		m.Spec.Incarnation, m.Status.MemberID = i, m.Name+"-"+i
	}
}

func revision(n int64) option {
	return func(m *v1alpha1.GroupMember) { m.Status.Revision = n }
}

func lastToken(n int64) option {
	return func(m *v1alpha1.GroupMember) { m.Status.LastToken = n }
}
