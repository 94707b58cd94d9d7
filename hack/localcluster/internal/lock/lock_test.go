package lock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/lock"
)

func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if held, err := lock.Held(path); err != nil || held {
		t.Fatalf("a lock that was never taken: held %t, %v", held, err)
	}
	first, free, err := lock.Try(path)
	if err != nil || !free {
		t.Fatalf("the first taker: free %t, %v", free, err)
	}
	if _, free, err := lock.Try(path); err != nil || free {
		t.Errorf("the second taker: free %t, %v", free, err)
	}
	if held, err := lock.Held(path); err != nil || !held {
		t.Errorf("held %t, %v", held, err)
	}
	first.Release()
	if held, err := lock.Held(path); err != nil || held {
		t.Errorf("after release: held %t, %v", held, err)
	}
}

// Whoever comes while the file is being discarded ends up with a lock on a file that is there.
func TestDiscardKeepsOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				held, free, err := lock.Try(path)
				if err != nil {
					t.Error(err)
					return
				}
				if !free {
					continue
				}
				if inside.Add(1) > 1 {
					t.Error("two hold the lock")
				}
				inside.Add(-1)
				held.Discard()
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
}

func TestAcquireWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, _, err := lock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	waited := false
	second, err := lock.Acquire(t.Context(), path, func() {
		if !waited {
			first.Release()
		}
		waited = true
	})
	if err != nil || !waited {
		t.Fatalf("waited %t, %v", waited, err)
	}
	defer second.Release()

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := lock.Acquire(ctx, path, func() {}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait that was given up: %v", err)
	}
}
