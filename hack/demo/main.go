// Command demo tells in a terminal what Rollcall does: on a local cluster with real controllers and the real manager,
// step by step, and checks every promise on the way. `make demo` runs it from the repository's root; KEEP=1 leaves the
// cluster and the manager running. The exit code is 0 only if every promise was kept.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

var errInterrupted = errors.New("it was interrupted, and everything has been ended")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	screen := newScreen(os.Stdout)
	// The story is all that is to be read here; what a client library remarks is not part of it.
	logf.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	err := run(ctx, screen, os.Getenv("KEEP") != "" && os.Getenv("KEEP") != "0")
	stop()
	if err != nil {
		screen.failure(err)
		os.Exit(1)
	}
}

// run plays the story and ends everything, unless it is to be kept.
func run(ctx context.Context, screen *screen, keep bool) error {
	began := time.Now()
	stage, err := setUp(ctx, screen, keep)
	if err == nil {
		err = play(ctx, stage, screen)
		screen.line("\nAll in all %s.", rounded(time.Since(began)))
		if keep && ctx.Err() == nil {
			stage.leave()
			return err
		}
	}
	if ctx.Err() != nil { // A person ended it; what else failed then is a consequence.
		return errors.Join(errInterrupted, stage.strike(false))
	}
	return errors.Join(err, stage.strike(err != nil))
}

func play(ctx context.Context, stage *stage, screen *screen) error {
	story := newStory(ctx, stage, screen)
	story.tell()
	return story.outcome()
}
