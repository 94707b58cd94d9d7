package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/rollcall-dev/rollcall/test/cluster"
	"github.com/rollcall-dev/rollcall/test/cluster/audit"
)

// story is told step by step. Once something has failed (a command, a wait, not a promise) nothing more happens, and
// outcome says what it was: so the steps read as a story, without the handling of errors between the lines.
type story struct {
	ctx    context.Context
	stage  *stage
	seen   *recorder
	screen *screen
	err    error
	rows   []row

	// The step that is being told, and what was at its beginning.
	row        row
	mark       cluster.Mark
	owners     map[partition]string
	generation int64
	versions   int
	podsBefore []types.UID
	acted      time.Time
	counted    audit.Writes // nil until asked for
}

func newStory(ctx context.Context, stage *stage, screen *screen) *story {
	return &story{ctx: ctx, stage: stage, seen: stage.seen, screen: screen}
}

// outcome is the failure that ended the story, or else the promises that were broken.
func (s *story) outcome() error {
	if s.err != nil {
		return fmt.Errorf("step %d, %s: %w", len(s.rows)+1, s.row.step, s.err)
	}
	var errs []error
	for i, row := range s.rows {
		for _, promise := range row.broken {
			errs = append(errs, fmt.Errorf("step %d, %s: a promise was not kept: %s", i+1, row.step, promise))
		}
	}
	return errors.Join(errs...)
}

// chapter prints a heading.
func (s *story) chapter(title string) {
	if s.err == nil {
		s.screen.heading(title)
	}
}

// step begins one that is measured.
func (s *story) step(title string) {
	if s.err != nil {
		return
	}
	s.chapter(fmt.Sprintf("%d. %s", len(s.rows)+1, title))
	s.row = row{step: title}
	s.mark, s.err = s.stage.cluster.Mark(s.ctx)
	s.owners, s.generation = s.held(), s.seen.group().Status.Generation
	s.versions, _ = s.seen.count()
	s.podsBefore, s.counted = nil, nil
	for _, pod := range s.seen.pods() {
		s.podsBefore = append(s.podsBefore, pod.UID)
	}
}

func (s *story) say(text string) {
	if s.err == nil {
		s.screen.say(text)
	}
}

// show runs kubectl and prints its answer.
func (s *story) show(args ...string) {
	if s.err != nil {
		return
	}
	answer, err := s.stage.cluster.Kubectl(s.ctx, args...)
	s.screen.command("kubectl", args, answer)
	s.err = err
}

// prepare changes something that the step needs and is not about.
func (s *story) prepare(args ...string) { s.show(args...) }

// act is what the step is about: time is counted from here.
func (s *story) act(args ...string) {
	s.acted = time.Now()
	s.show(args...)
}

// wait lets kubectl wait for something; what it prints meanwhile is left out.
func (s *story) wait(args ...string) {
	if s.err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	over := s.screen.during("kubectl " + shellWords(args) + " is done")
	_, err := s.stage.cluster.Kubectl(ctx, args...)
	over()
	s.screen.command("kubectl", args, "")
	s.err = err
}

// loseNode makes a node silent.
func (s *story) loseNode(node string) {
	if s.err != nil {
		return
	}
	s.acted = time.Now()
	s.screen.command("localcluster", []string{"node", "lose", node}, "")
	s.err = s.stage.cluster.LoseNode(s.ctx, node)
}

// await waits until a condition holds, and notes how long after the last action the change came that made it so.
func (s *story) await(what string, holds func() bool) {
	if s.err != nil {
		return
	}
	over := s.screen.during(what)
	at, err := s.until(holds)
	over()
	if err != nil {
		s.err = fmt.Errorf("until %s: %w\n\n%s", what, err, s.state())
		return
	}
	s.row.took = max(0, at.Sub(s.acted))
	s.screen.reached(what, s.row.took)
}

func (s *story) until(holds func() bool) (time.Time, error) {
	timeout := time.After(patience)
	for {
		changed := s.seen.next()
		_, at := s.seen.count()
		if holds() {
			return at, nil
		}
		select {
		case <-changed:
		case <-s.stage.manager.ended:
			return at, errors.New("the manager has ended")
		case <-s.ctx.Done():
			return at, s.ctx.Err()
		case <-timeout:
			return at, fmt.Errorf("waited %v in vain", patience)
		}
	}
}

// state is what a person would look at first.
func (s *story) state() string {
	text, err := s.stage.cluster.Kubectl(context.WithoutCancel(s.ctx), "get", "cg,gm,pods,nodes", "-o", "wide")
	if err != nil {
		return err.Error()
	}
	return text
}

// done ends the step: what was measured becomes a row of the summary.
func (s *story) done() {
	if s.err != nil {
		return
	}
	s.row.generations, s.row.moved = s.generations(), s.moved()
	s.row.forOnePod, s.row.toGroup = s.writesForOnePod(), s.writesToGroup()
	s.rows = append(s.rows, s.row)
}
