package e2e_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/rollcall-dev/rollcall/test/referee"
)

const (
	// killSeed makes the moments of the kills the same in every run.
	killSeed = 20
	// killRounds is how many pairs of a roll and a scale-up are disturbed.
	killRounds = 6
	// rolledPods of one group are rolled while the other group's set grows from grownFrom to grownTo.
	rolledPods, grownFrom, grownTo = 4, 6, 8
	// killedWithin: a roll and a scale-up together cost the manager about that many writes.
	killedWithin = 45
)

// The manager is killed in the midst of a roll and of a scale-up, once or twice, and started again: in the end everything is
// as if it had not been, and the invariants held at every write.
//
// Not in parallel: other tests count what the manager writes, and how fast.
func TestKilledInTheMidst(t *testing.T) {
	needsCluster(t)
	chance := rand.New(rand.NewPCG(killSeed, killRounds))
	rounds := make([]*killRound, killRounds)
	for i := range rounds {
		rounds[i] = newKillRound(t, chance)
	}
	for _, round := range rounds {
		round.begin()
	}
	for i, round := range rounds {
		t.Run(fmt.Sprintf("%d-%s", i, round), round.run)
	}
}

// killRound is one pair of groups, and the moments at which the manager dies.
type killRound struct {
	s *sandbox
	// after counts the manager's writes before each death.
	after []int
	// atOnce: the dead manager's lease is taken away, so that its successor acts within moments and meets the roll where it
	// stood. Otherwise it waits as long as the lease lasts.
	atOnce bool

	generations map[string]int64
	rolled      map[referee.Copy]string
	grown       map[referee.Copy]string
}

func newKillRound(t *testing.T, chance *rand.Rand) *killRound {
	t.Helper()
	round := &killRound{s: newSandbox(t), atOnce: chance.IntN(3) > 0}
	for range 1 + chance.IntN(2) {
		round.after = append(round.after, 1+chance.IntN(killedWithin/2))
	}
	return round
}

// String tells the moments.
func (r *killRound) String() string {
	text := "killed"
	for _, writes := range r.after {
		text += fmt.Sprintf("-after-%d", writes)
	}
	if !r.atOnce {
		text += "-lease-runs-out"
	}
	return text
}

// begin starts what is to be disturbed. Pods take a second to start, so that a roll lasts.
func (r *killRound) begin() {
	r.s.create(newGroup(groupName, 12), newSet(setName, groupName, rolledPods, behaves("starts-after", "1s")),
		newGroup(otherGroup, 24), newSet("grow", otherGroup, grownFrom))
}

func (r *killRound) run(t *testing.T) {
	r.s.t = t
	r.s.awaitSettled(groupName, rolledPods)
	r.s.awaitSettled(otherGroup, grownFrom)
	r.remember()

	r.s.kubectl("rollout", "restart", "statefulset/"+setName)
	r.s.scale("grow", grownTo)
	for _, writes := range r.after {
		r.killAfter(t, writes)
	}
	r.s.kubectl("rollout", "status", "statefulset/"+setName, "--timeout="+patience.String())
	r.s.awaitRolled(groupName, setName)
	r.s.awaitSettled(otherGroup, grownTo)
	r.check(t)
}

func (r *killRound) remember() {
	r.generations = map[string]int64{}
	for _, group := range []string{groupName, otherGroup} {
		r.generations[group] = r.s.group(group).Status.Generation
	}
	r.rolled, r.grown = r.s.owners(groupName), r.s.owners(otherGroup)
}

// killAfter kills the manager when it has written so often, or has nothing left to write, and starts it again.
func (r *killRound) killAfter(t *testing.T, writes int) {
	t.Helper()
	from := r.s.newest()
	r.s.await(fmt.Sprintf("the manager has written %d times", writes), func() bool {
		return r.s.recordedWrites(from) >= writes || r.done()
	})
	if err := suite.running().kill(); err != nil {
		t.Fatal(err)
	}
	if r.atOnce {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: suite.installed.namespace, Name: suite.installed.lease}}
		if err := suite.client.Delete(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	if err := suite.startManager(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// done says that both operations are over, so that no further write is to come.
func (r *killRound) done() bool {
	s := r.s
	return s.settled(otherGroup, grownTo) && s.settled(groupName, rolledPods) && s.wronglyTold(otherGroup) == "" && s.wronglyTold(groupName) == ""
}

// check compares with what an undisturbed roll and scale-up do.
func (r *killRound) check(t *testing.T) {
	t.Helper()
	s := r.s
	if now := s.owners(groupName); !maps.Equal(r.rolled, now) {
		t.Errorf("the roll moved %d partitions", moved(r.rolled, now))
	}
	if now := s.group(groupName).Status.Generation; now != r.generations[groupName] {
		t.Errorf("the roll took the group from generation %d to %d", r.generations[groupName], now)
	}
	if count := moved(r.grown, s.owners(otherGroup)); count != 6 {
		t.Errorf("the scale-up moved %d partitions; undisturbed it moves 6", count)
	}
	checkEven(t, s.shares(otherGroup), 3)
	checkGeneration(t, s.group(otherGroup), r.generations[otherGroup]+1, "MemberJoined", "grow-6", "grow-7")
	s.judge(groupName)
	s.judge(otherGroup)
}
