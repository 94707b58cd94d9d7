// Command demo tells in a terminal what Rollcall does: on a local cluster with real controllers and the real manager,
// step by step, and checks every promise on the way. `make demo` runs it from the repository's root; KEEP=1 leaves the
// cluster and the manager running. The exit code is 0 only if every promise was kept.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// errBroken: the story was told to its end, and a promise was not kept.
var errBroken = errors.New("a promise was not kept")

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

func run(ctx context.Context, screen *screen, keep bool) error {
	began := time.Now()
	stage, err := setUp(ctx, screen, keep)
	if err != nil {
		return errors.Join(interruption(ctx), err, stage.strike(true))
	}
	story := newStory(ctx, stage, screen)
	story.tell()
	err = errors.Join(interruption(ctx), story.outcome())
	screen.line("%d steps in %s, all in all.", len(story.rows), rounded(time.Since(began)))
	if keep && ctx.Err() == nil {
		stage.leave()
		return err
	}
	return errors.Join(err, stage.strike(err != nil))
}

// interruption says that a person ended the demo; what else failed then is a consequence.
func interruption(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("the demo was interrupted: %w", ctx.Err())
}
