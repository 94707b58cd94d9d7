package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-dev/rollcall/coordinator"
)

// Bounds of one call of a driver. What does not come to an end within them has a fault; it is tried again later, with
// others served in between.
const (
	maxRounds    = 100
	maxLiveReads = 5
	maxOvertaken = 5
)

// ErrNotSettled: decisions still asked for writes, or for live reads, after as many rounds as one call may take.
var ErrNotSettled = errors.New("decisions do not come to an end")

// decider looks at the newest state and says what is to be written now, or when something will be due.
type decider func() (wakeAt time.Time, batches []coordinator.Batch, err error)

// loop decides and carries out, again and again, until nothing is left to do. A write that others have overtaken is
// decided again at once: what it was refused for is known then.
func (e *Executor) loop(ctx context.Context, what string, decide decider) (time.Time, error) {
	overtaken := 0
	for range maxRounds {
		wakeAt, batches, err := decide()
		if err != nil {
			return time.Time{}, fmt.Errorf("%s: %w", what, err)
		}
		if len(batches) == 0 {
			return wakeAt, nil
		}
		_, err = e.Run(ctx, batches)
		switch {
		case err == nil:
		case IsNamespaceTerminating(err):
			// What can still be done is asked for by the deletion of the namespace's objects.
			return time.Time{}, nil
		case !onlyOvertaken(err) || overtaken >= maxOvertaken:
			return time.Time{}, fmt.Errorf("%s: %w", what, err)
		default:
			overtaken++
		}
	}
	return time.Time{}, fmt.Errorf("%s: %w after %d rounds", what, ErrNotSettled, maxRounds)
}

// onlyOvertaken: every failure of a batch was a write that others had overtaken.
func onlyOvertaken(err error) bool {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return IsOvertaken(err)
	}
	for _, one := range joined.Unwrap() {
		if !IsOvertaken(one) {
			return false
		}
	}
	return true
}

// batchOf is one batch, or none where there is nothing to write.
func batchOf(phase coordinator.Phase, writes []coordinator.Write) []coordinator.Batch {
	if len(writes) == 0 {
		return nil
	}
	return []coordinator.Batch{{Phase: phase, Writes: writes}}
}
