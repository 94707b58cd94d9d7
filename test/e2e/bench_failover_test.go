package e2e_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

const (
	// handedOverFrom members lose handedOverFrom - handedOverTo of them when the manager dies in the midst.
	handedOverFrom, handedOverTo = 40, 36
)

// BenchmarkFailover kills the manager when a plan is made and its hand-over waits for pods to stop, and starts another at once.
// Its successor must finish that plan, and touches only members that are still owed something.
func BenchmarkFailover(b *testing.B) {
	for b.Loop() {
		s := newSandbox(b)
		set := newSet(setName, groupName, handedOverFrom, behaves("terminates-after", "5s"))
		set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		s.create(newGroup(groupName, handedOverFrom*partitionsPerMember), set)
		s.awaitSettled(groupName, handedOverFrom)
		generation := s.group(groupName).Status.Generation

		s.scale(setName, handedOverTo)
		s.await("the hand-over waits for pods to stop", func() bool {
			return s.group(groupName).Status.Generation > generation && s.owed(groupName) > 0
		})
		if err := suite.running().kill(); err != nil {
			b.Fatal(err)
		}
		s.caughtUp()
		owed, from, begun := s.owed(groupName), s.newest(), time.Now()
		forgetLeader(b)
		if err := suite.startManager(b.Context()); err != nil {
			b.Fatal(err)
		}
		s.awaitSettled(groupName, handedOverTo)
		b.ReportMetric(time.Since(begun).Seconds(), "s/to-stable")
		s.caughtUp()
		b.ReportMetric(float64(s.group(groupName).Status.Generation-generation), "generations")
		b.ReportMetric(float64(plansMade(s.since(from))), "plans-after-the-kill")
		b.ReportMetric(float64(owed), "members-owed")
		b.ReportMetric(float64(s.touches(from)), "touches")
		noTimePerRun(b)
		s.judge(groupName)
	}
}

// owed counts the members that wait for a copy.
func (s *sandbox) owed(group string) int {
	count := 0
	for _, member := range s.members(group) {
		if len(member.Status.Pending) > 0 {
			count++
		}
	}
	return count
}

// touches counts the writes since a version that touched a member.
func (s *sandbox) touches(from int64) int {
	count, last := 0, map[string]string{}
	for _, v := range s.history() {
		member, ok := v.object.(*v1alpha1.GroupMember)
		if !ok || v.gone {
			continue
		}
		value := member.Annotations[v1alpha1.TouchedAnnotation]
		if v.number > from && value != last[member.Name] {
			count++
		}
		last[member.Name] = value
	}
	return count
}

// plansMade counts the plans that are new among these versions.
func plansMade(versions []version) int {
	count := 0
	for _, v := range versions {
		if plan, ok := v.object.(*appsv1.ControllerRevision); ok && !v.gone && plan.Labels[v1alpha1.GroupLabel] != "" {
			count++
		}
	}
	return count
}
