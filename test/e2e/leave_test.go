package e2e_test

import (
	"fmt"
	"testing"

	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// manyMembers is how large a group is of which one leaves.
const manyMembers = 100

// What one of many costs that leaves or joins does not grow with the group: the plan, two writes of the group, and those
// whose assignment changes. The group keeps as many plans as it may, so that the oldest is deleted with each new one.
func TestOneOfManyLeavesAndJoins(t *testing.T) {
	t.Parallel()
	f := newField(t)
	f.create(fieldGroup(groupName, manyMembers), fieldSet(setName, groupName, manyMembers))
	f.awaitStable(groupName, manyMembers)
	f.fillHistory(manyMembers)
	last := fmt.Sprintf("%s.%s-%d", groupName, setName, manyMembers-1)

	mark := f.mark()
	f.scale(setName, manyMembers-1)
	f.awaitStable(groupName, manyMembers-1)
	f.calmDown()
	checkResize(t, f.ourWrites(mark), last, 6, 2)

	mark = f.mark()
	f.scale(setName, manyMembers)
	f.awaitStable(groupName, manyMembers)
	f.calmDown()
	// A loser has what it loses taken away and, since it cannot say so itself, its stop recorded.
	checkResize(t, f.ourWrites(mark), last, 4, 2)
}

// checkResize: ten others give or take one partition each, nobody else is written, and the one who comes or goes as little as
// it may.
func checkResize(t *testing.T, writes audit.Writes, one string, forOne, forOther int) {
	t.Helper()
	others := membersWritten(writes)
	if own := others[one]; own == 0 || own > forOne {
		t.Errorf("%s was written %d times, allowed are %d", one, own, forOne)
	}
	delete(others, one)
	if len(others) != partitionsPerMember {
		t.Errorf("%d other members were written, not the %d whose assignment changes", len(others), partitionsPerMember)
	}
	for name, count := range others {
		if count > forOther {
			t.Errorf("%s was written %d times, allowed are %d", name, count, forOther)
		}
	}
	want := map[string]int{"create " + planResource: 1, "delete " + planResource: 1, "patch " + groupResource + "/status": 2}
	got := writes.Where(func(w audit.Write) bool { return !audit.To(memberResource)(w) }).Count(audit.PerKind)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("beside members these were written: %v, not %v", got, want)
	}
	if t.Failed() {
		t.Logf("the writes were\n%s", writes)
	}
}
