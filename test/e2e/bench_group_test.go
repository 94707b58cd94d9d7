package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// keptPlans is how many generations of a group are kept: only a group with as many deletes its oldest plan with each new one.
const keptPlans = 10

// BenchmarkGroup takes one group from no pod to so many, has one member leave and one join, and starts the manager anew.
// Run it with -benchtime 1x: each part begins where the one before ended.
func BenchmarkGroup(b *testing.B) {
	for _, members := range []int{100, 1000} {
		b.Run(fmt.Sprintf("members=%d", members), func(b *testing.B) {
			f := newField(b)
			if !b.Run("Grow", func(b *testing.B) { f.with(b).grow(b, members) }) {
				return
			}
			f.fillHistory(members)
			b.Run("Leave", func(b *testing.B) { f.with(b).resize(b, members, members-1) })
			b.Run("Join", func(b *testing.B) { f.with(b).resize(b, members-1, members) })
			b.Run("Start", func(b *testing.B) { f.with(b).restart(b, 1) })
		})
	}
}

// with is the field in the hands of a part.
func (f *field) with(t testing.TB) *field { return &field{t: t, namespace: f.namespace} }

// grow creates a group and its pods, and waits until it is at rest.
func (f *field) grow(b *testing.B, members int) {
	b.Helper()
	defer profiled(b)()
	mark, begun := f.mark(), time.Now()
	f.create(fieldGroup(groupName, members), fieldSet(setName, groupName, members))
	group := f.awaitStable(groupName, members)
	b.ReportMetric(time.Since(begun).Seconds(), "s/to-stable")
	f.calmDown()
	writes := f.ourWrites(mark)
	b.ReportMetric(span(writes.Where(audit.To(memberResource))).Seconds(), "s/of-writing")
	b.ReportMetric(float64(group.Status.Generation), "generations")
	reportWrites(b, writes)
	noTimePerRun(b)
}

// fillHistory forces rebalances, which move nothing, until there are as many plans as are kept.
func (f *field) fillHistory(members int) {
	f.t.Helper()
	for i := range keptPlans {
		f.awaitForced(groupName, fmt.Sprintf("history-%d", i), members)
	}
	f.calmDown()
}

// resize scales the workload by one member, and measures what that costs.
func (f *field) resize(b *testing.B, from, to int) {
	b.Helper()
	defer profiled(b)()
	generation, mark := f.awaitStable(groupName, from).Status.Generation, f.mark()
	f.scale(setName, to)
	group := f.awaitStable(groupName, to)
	f.calmDown()
	writes := f.ourWrites(mark)
	wall := span(writes)
	bare := f.issueBare(writes)
	b.ReportMetric(float64(group.Status.Generation-generation), "generations")
	b.ReportMetric(float64(len(membersWritten(writes))), "members-written")
	b.ReportMetric(wall.Seconds(), "s/of-writing")
	b.ReportMetric(bare.Seconds(), "s/of-writing-bare")
	b.ReportMetric(wall.Seconds()/bare.Seconds(), "times-bare")
	reportWrites(b, writes)
	noTimePerRun(b)
	b.Logf("writes:\n%s", writes)
}

// membersWritten counts the writes to each member.
func membersWritten(writes audit.Writes) map[string]int {
	return writes.Where(audit.To(memberResource)).Count(func(w audit.Write) string { return w.Name })
}

// reportWrites reports how many writes there were, in all and of each kind.
func reportWrites(b *testing.B, writes audit.Writes) {
	b.Helper()
	b.ReportMetric(float64(len(writes)), "writes")
	for kind, count := range writes.Count(audit.PerKind) {
		verb, target, _ := strings.Cut(strings.ReplaceAll(kind, ".rollcall.dev", ""), " ")
		b.ReportMetric(float64(count), "writes:"+verb+":"+strings.ReplaceAll(target, ".apps", ""))
	}
}

// noTimePerRun leaves the time per run out: it holds waits that mean nothing.
func noTimePerRun(b *testing.B) { b.ReportMetric(0, "ns/op") }

// restart stops the manager and starts it anew, and measures until it has decided about everything.
func (f *field) restart(b *testing.B, groups int) {
	b.Helper()
	defer profiled(b)()
	before, mark := f.generations(), f.mark()
	if err := suite.running().stop(); err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := suite.startManager(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(begun).Seconds(), "s/to-ready")
	f.awaitDecided(groups)
	b.ReportMetric(time.Since(begun).Seconds(), "s/to-all-decided")
	f.reportRest(b, before, mark)
	b.ReportMetric(f.unready(), "groups-not-stable")
	b.ReportMetric(residentMiB(b, suite.running()), "MiB/resident")
	noTimePerRun(b)
}

// reportRest reports what was written and which generations were spent since a mark.
func (f *field) reportRest(b *testing.B, before int64, mark cluster.Mark) {
	b.Helper()
	writes := f.ourWrites(mark)
	b.ReportMetric(float64(len(writes)), "writes")
	b.ReportMetric(float64(f.generations()-before), "generations")
	if len(writes) > 0 {
		b.Logf("the first writes:\n%s", writes[:min(len(writes), describedVersions)])
	}
}
