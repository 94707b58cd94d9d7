package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// manyGroups of membersEach pods each are in the largest field.
	manyGroups, membersEach = 1000, 10
	// creators create objects in bulk at once.
	creators = 64
	// idleWatch is how long an idle manager is watched.
	idleWatch = time.Minute
)

// BenchmarkManyGroups makes a thousand groups of ten pods, watches the idle manager for a minute, and starts it anew.
func BenchmarkManyGroups(b *testing.B) {
	f := newField(b)
	if !b.Run("Build", func(b *testing.B) { f.with(b).build(b) }) {
		return
	}
	b.Run("Idle", func(b *testing.B) { f.with(b).idle(b) })
	b.Run("Start", func(b *testing.B) { f.with(b).restart(b, manyGroups) })
}

func (f *field) build(b *testing.B) {
	b.Helper()
	defer profiled(b)()
	mark, begun := f.mark(), time.Now()
	f.create(fieldGroup("g0", membersEach), fieldSet("g0", "g0", membersEach)) // The client learns of the kinds.
	f.createMany(1, manyGroups)
	f.awaitAllStable(b)
	b.ReportMetric(time.Since(begun).Seconds(), "s/to-stable")
	f.calmDown()
	b.ReportMetric(float64(f.generations()), "generations")
	b.ReportMetric(residentMiB(b, suite.running()), "MiB/resident")
	reportWrites(b, f.ourWrites(mark))
	noTimePerRun(b)
}

// createMany makes the groups of these numbers, and their pods.
func (f *field) createMany(from, to int) {
	f.t.Helper()
	var flights errgroup.Group
	flights.SetLimit(creators)
	for i := from; i < to; i++ {
		name := fmt.Sprintf("g%d", i)
		for _, object := range []client.Object{fieldGroup(name, membersEach), fieldSet(name, name, membersEach)} {
			object.SetNamespace(f.namespace)
			flights.Go(func() error { return suite.client.Create(f.t.Context(), object) })
		}
	}
	if err := flights.Wait(); err != nil {
		f.t.Fatalf("create groups and StatefulSets: %v", err)
	}
}

// awaitAllStable waits until every group is Ready with all its members.
func (f *field) awaitAllStable(b *testing.B) {
	b.Helper()
	f.awaitEvery(2*time.Second, "every group is Ready with all its members", func(context.Context) (bool, error) {
		stable := 0
		for _, group := range f.groups() {
			if stableWith(&group, membersEach) {
				stable++
			}
		}
		b.Logf("%d of %d groups are Ready", stable, manyGroups)
		return stable == manyGroups, nil
	})
}

// idle measures what a manager with nothing to do does in a minute.
func (f *field) idle(b *testing.B) {
	b.Helper()
	defer profiled(b)()
	before, mark, used := f.generations(), f.mark(), processorTime(b, suite.running())
	select {
	case <-time.After(idleWatch):
	case <-suite.running().ended:
		b.Fatalf("the manager ended: %v", suite.running().err)
	}
	used = processorTime(b, suite.running()) - used
	b.ReportMetric(100*used.Seconds()/idleWatch.Seconds(), "%-of-a-core")
	f.reportRest(b, before, mark)
	noTimePerRun(b)
}
