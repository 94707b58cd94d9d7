package e2e_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/rollcall-dev/rollcall/test/referee"
)

const (
	// rolledPods of one group are rolled while the other group's set grows from grownFrom to grownTo.
	rolledPods, grownFrom, grownTo = 4, 6, 8
	growingSet                     = "grow"
	// writesOfBoth is about how often the manager writes for a roll and a scale-up together.
	writesOfBoth = 45
)

// disturbed is a roll of one group's pods and a scale-up of another's, during which something happens to the manager. In the
// end everything must be as if nothing had.
type disturbed struct {
	*sandbox
	// before it began: generations, and who held what.
	generations   map[string]int64
	rolled, grown map[referee.Copy]string
	from          int64
}

// prepare makes the groups and their pods, and waits for nothing. Pods take a second to start, so that a roll lasts.
func prepare(t *testing.T) *disturbed {
	t.Helper()
	d := &disturbed{sandbox: newSandbox(t), generations: map[string]int64{}}
	d.create(newGroup(groupName, 12), newSet(setName, groupName, rolledPods, behaves("starts-after", "1s")),
		newGroup(otherGroup, 24), newSet(growingSet, otherGroup, grownFrom))
	return d
}

// run disturbs the roll and the scale-up, and compares with what undisturbed ones do.
func (d *disturbed) run(t *testing.T, disturb func(t *testing.T)) {
	t.Helper()
	d.t = t
	d.awaitSettled(groupName, rolledPods)
	d.awaitSettled(otherGroup, grownFrom)
	for _, group := range []string{groupName, otherGroup} {
		d.generations[group] = d.group(group).Status.Generation
	}
	d.rolled, d.grown, d.from = d.owners(groupName), d.owners(otherGroup), d.newest()

	d.kubectl("rollout", "restart", "statefulset/"+setName)
	d.scale(growingSet, grownTo)
	disturb(t)
	d.kubectl("rollout", "status", "statefulset/"+setName, "--timeout="+patience.String())
	d.awaitRolled(groupName, setName)
	d.awaitSettled(otherGroup, grownTo)
	d.check(t)
}

// awaitWrites waits until the manager has written so often, or has nothing left to write.
func (d *disturbed) awaitWrites(t *testing.T, writes int) {
	t.Helper()
	from := d.newest()
	d.await(fmt.Sprintf("the manager has written %d times", writes), func() bool { return d.recordedWrites(from) >= writes || d.over() })
	t.Logf("disturbed after %d writes, when all was over: %t", d.recordedWrites(from), d.over())
}

// over says that roll and scale-up are complete, so that no further write is to come.
func (d *disturbed) over() bool {
	return d.settled(otherGroup, grownTo) && d.settled(groupName, rolledPods) && d.wronglyTold(otherGroup) == "" && d.wronglyTold(groupName) == ""
}

func (d *disturbed) check(t *testing.T) {
	t.Helper()
	d.caughtUp()
	if count := moved(d.since(d.from), groupName, d.rolled); count > 0 || !maps.Equal(d.rolled, d.owners(groupName)) {
		t.Errorf("the roll moved %d partitions", count)
	}
	if now := d.group(groupName).Status.Generation; now != d.generations[groupName] {
		t.Errorf("the roll took the group from generation %d to %d", d.generations[groupName], now)
	}
	if count := moved(d.since(d.from), otherGroup, d.grown); count != 6 {
		t.Errorf("the scale-up moved %d partitions; undisturbed it moves 6", count)
	}
	checkEven(t, d.shares(otherGroup), 3)
	checkGeneration(t, d.group(otherGroup), d.generations[otherGroup]+1, "MemberJoined", "grow-6", "grow-7")
	d.judge(groupName)
	d.judge(otherGroup)
}
