package e2e_test

import (
	"fmt"
	"testing"
	"time"
)

// The manager freezes in the midst of a roll and of a scale-up, as on a machine that is suspended; a second one takes over
// when its lease has run out. When the first thaws it must find out and end, and what it still sends changes nothing.
//
// Not in parallel: other tests count what the manager writes, and how fast.
func TestFrozenInTheMidst(t *testing.T) {
	needsCluster(t)
	moments := []int{6, 17}
	var rounds []*disturbed
	for range moments {
		rounds = append(rounds, prepare(t))
	}
	for i, round := range rounds {
		t.Run(fmt.Sprintf("frozen-after-%d", moments[i]), func(t *testing.T) {
			round.run(t, func(t *testing.T) { round.freeze(t, moments[i]) })
		})
	}
}

func (d *disturbed) freeze(t *testing.T, writes int) {
	t.Helper()
	frozen := suite.running()
	standby, err := suite.launch()
	if err != nil {
		t.Fatal(err)
	}
	if err := standby.untilReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.awaitWrites(t, writes)
	if err := frozen.freeze(); err != nil {
		t.Fatal(err)
	}
	suite.lead(standby)
	if err := standby.untilItLeads(t.Context(), suite); err != nil {
		t.Fatal(err)
	}
	// It thaws while its successor is at work.
	if err := frozen.thaw(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-frozen.ended:
		if frozen.err == nil {
			t.Error("a manager that has lost its lease must end with an error, so that it is started anew")
		}
	case <-time.After(stopTimeout):
		t.Errorf("the frozen manager has lost its lease and goes on:\n%s", frozen.tail(""))
	}
}
