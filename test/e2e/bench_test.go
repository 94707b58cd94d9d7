package e2e_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
	"github.com/rollcall-dev/rollcall/test/referee"
)

// BenchmarkScaleDown scales eight pods to six: how long after the last stop the last partition is with another, and what
// it costs. Counts do not drift with the machine; the time is promised to be under three seconds.
func BenchmarkScaleDown(b *testing.B) {
	for b.Loop() {
		s := newSandbox(b)
		s.create(newGroup(groupName, 24), newSet(setName, groupName, 8, behaves("terminates-after", "2s")))
		s.awaitSettled(groupName, 8)
		leaving := copiesOf(s.owners(groupName), "web-6", "web-7")
		generation := s.group(groupName).Status.Generation
		from, mark := s.newest(), s.mark()

		s.scale(setName, 6)
		s.awaitSettled(groupName, 6)
		s.caughtUp()
		versions := s.since(from)
		b.ReportMetric(lastTaken(versions, leaving).Sub(lastStop(versions)).Seconds(), "s/hand-over-after-stop")
		b.ReportMetric(float64(s.group(groupName).Status.Generation-generation), "generations")
		reportWrites(b, s.ourWrites(mark))
		noTimePerRun(b)
		b.ReportMetric(float64(len(s.ourWrites(mark).Where(audit.To(groupResource)))), "group-writes")
	}
}

// benchRolled pods are rolled in the benchmark.
const benchRolled = 50

// BenchmarkRoll rolls fifty pods: what it costs.
func BenchmarkRoll(b *testing.B) {
	for b.Loop() {
		s := newSandbox(b)
		set := newSet(setName, groupName, benchRolled)
		set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement // of starts; a roll is one after another all the same
		s.create(newGroup(groupName, 4*benchRolled), set)
		s.awaitSettled(groupName, benchRolled)
		s.quiet(3 * time.Second)
		owners, generation := s.owners(groupName), s.group(groupName).Status.Generation
		from, mark := s.newest(), s.mark()

		s.roll(setName)
		s.awaitRolled(groupName, setName)
		s.caughtUp()
		writes := s.ourWrites(mark)
		reportWrites(b, writes)
		noTimePerRun(b)
		b.ReportMetric(float64(moved(s.since(from), groupName, owners)), "moved")
		b.ReportMetric(float64(s.group(groupName).Status.Generation-generation), "generations")
		b.ReportMetric(float64(len(writes))/benchRolled, "writes/pod")
		b.ReportMetric(float64(len(writes.Where(audit.To(groupResource)))), "group-writes")
	}
}

// lastStop is when the last pod was seen to stop.
func lastStop(versions []version) time.Time {
	var last time.Time
	seen := map[string]bool{}
	for _, v := range versions {
		if pod, ok := v.object.(*corev1.Pod); ok && !seen[pod.Name] && (v.gone || stopped(pod)) {
			seen[pod.Name], last = true, v.seen
		}
	}
	return last
}

// lastTaken is when the last of the leavers' copies was seen with another member.
func lastTaken(versions []version, leaving map[referee.Copy]string) time.Time {
	var last time.Time
	for c, leaver := range leaving {
		_, number := firstOther(versions, c, leaver)
		for _, v := range versions {
			if _, member := v.object.(*v1alpha1.GroupMember); member && v.number == number && v.seen.After(last) {
				last = v.seen
			}
		}
	}
	return last
}
