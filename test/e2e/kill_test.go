package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// killSeed makes the moments of the kills the same in every run.
	killSeed   = 20
	killRounds = 10
)

// The manager is killed in the midst of a roll and of a scale-up, once or twice, and started again: in the end everything is
// as if it had not been, and the invariants held at every write.
//
// Not in parallel: other tests count what the manager writes, and how fast.
func TestKilledInTheMidst(t *testing.T) {
	needsCluster(t)
	chance := rand.New(rand.NewPCG(killSeed, killRounds))
	var moments []deaths
	var rounds []*disturbed
	for range killRounds {
		moments, rounds = append(moments, newDeaths(chance)), append(rounds, prepare(t))
	}
	for i, round := range rounds {
		t.Run(fmt.Sprintf("%d-%s", i, moments[i]), func(t *testing.T) {
			round.run(t, func(t *testing.T) {
				for _, writes := range moments[i].after {
					round.awaitWrites(t, writes)
					die(t, moments[i].atOnce)
				}
			})
		})
	}
}

// deaths are the moments at which the manager dies.
type deaths struct {
	// after counts the manager's writes before each.
	after []int
	// atOnce: the dead manager's lease is taken away, so that its successor acts within moments and meets the roll where it
	// stood. Otherwise it waits as long as the lease lasts.
	atOnce bool
}

func newDeaths(chance *rand.Rand) deaths {
	d := deaths{atOnce: chance.IntN(3) > 0}
	for range 1 + chance.IntN(2) {
		d.after = append(d.after, 1+chance.IntN(writesOfBoth/2))
	}
	return d
}

// String tells the moments.
func (d deaths) String() string {
	text := "killed"
	for _, writes := range d.after {
		text += fmt.Sprintf("-after-%d", writes)
	}
	if !d.atOnce {
		text += "-lease-runs-out"
	}
	return text
}

// die kills the manager and starts it again.
func die(t *testing.T, atOnce bool) {
	t.Helper()
	if err := suite.running().kill(); err != nil {
		t.Fatal(err)
	}
	if atOnce {
		forgetLeader(t)
	}
	if err := suite.startManager(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// forgetLeader takes a dead manager's lease away, so that its successor need not wait for its end.
func forgetLeader(t testing.TB) {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: suite.installed.namespace, Name: suite.installed.lease}}
	if err := suite.client.Delete(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
}
