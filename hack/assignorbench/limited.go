package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/metrics"
	"strconv"
	"time"
)

const (
	// memoryLimit ends that process too: at the larger points it would take what a common machine does not have.
	memoryLimit = 4 << 30
	// memoryExceeded is the exit code that says so.
	memoryExceeded = 3
)

// report is a line that the limited process writes: first the verdict, then the samples.
type report struct {
	Verdict *verdict `json:"verdict,omitempty"`
	Sample  *sample  `json:"sample,omitempty"`
}

// limited measures sarama at the point of that number, as far as it comes within the limits. It cannot be stopped, so it
// runs in a process of its own.
func limited(ctx context.Context, number int, timeLimit time.Duration) (*outcome, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-sarama", strconv.Itoa(number))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start sarama: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start sarama: %w", err)
	}
	o := collect(out)
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case len(o.samples) > 0:
		return o, nil
	case ctx.Err() != nil:
		o.failure = fmt.Sprintf("not in %v", timeLimit)
	case errors.As(err, &exit) && exit.ExitCode() == memoryExceeded:
		o.failure = fmt.Sprintf("not in %d GiB", memoryLimit>>30)
	default:
		return nil, fmt.Errorf("run sarama: %w", err)
	}
	return o, nil
}

func collect(out io.Reader) *outcome {
	o := &outcome{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var r report
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break // cut off by the limit
		}
		if r.Verdict != nil {
			o.verdict = *r.Verdict
		}
		if r.Sample != nil {
			o.samples = append(o.samples, *r.Sample)
		}
	}
	return o
}

// runSarama is the limited process: it measures sarama at a point and writes reports.
func runSarama(p point, w io.Writer) error {
	go endAtMemoryLimit()
	in, err := p.input()
	if err != nil {
		return err
	}
	s, err := newSarama(&in)
	if err != nil {
		return err
	}
	m := &measured{contestant: s}
	target, err := m.warmUp()
	if err != nil {
		return fmt.Errorf("sarama at %v: %w", p, err)
	}
	v := judge(&in, p.feature, target)
	reports := json.NewEncoder(w)
	if err := reports.Encode(report{Verdict: &v}); err != nil {
		return fmt.Errorf("report sarama's verdict: %w", err)
	}
	for i := 0; ; i++ {
		if i == len(m.outcome.samples) && m.done() {
			return nil
		}
		if i == len(m.outcome.samples) {
			if err := m.round(); err != nil {
				return fmt.Errorf("sarama at %v: %w", p, err)
			}
		}
		if err := reports.Encode(report{Sample: &m.outcome.samples[i]}); err != nil {
			return fmt.Errorf("report sarama's sample: %w", err)
		}
	}
}

func endAtMemoryLimit() {
	used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	for range time.Tick(20 * time.Millisecond) {
		metrics.Read(used)
		if used[0].Value.Uint64() > memoryLimit {
			os.Exit(memoryExceeded)
		}
	}
}
