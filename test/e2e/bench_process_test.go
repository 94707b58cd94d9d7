package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// ticksPerSecond is the unit of processor time in /proc, the same on every Linux.
const ticksPerSecond = 100

// generations is the sum of all groups' generations.
func (f *field) generations() int64 {
	f.t.Helper()
	sum := int64(0)
	for _, group := range f.groups() {
		sum += group.Status.Generation
	}
	return sum
}

// unready counts the groups that are not Ready.
func (f *field) unready() float64 {
	f.t.Helper()
	count := 0.0
	for _, group := range f.groups() {
		if !ready(&group) {
			count++
		}
	}
	return count
}

func (f *field) groups() []v1alpha1.ConsumerGroup {
	f.t.Helper()
	list := &v1alpha1.ConsumerGroupList{}
	if err := suite.client.List(f.t.Context(), list, client.InNamespace(f.namespace)); err != nil {
		f.t.Fatalf("list the groups: %v", err)
	}
	return list.Items
}

// awaitDecided waits until the running manager has decided about so many groups at least, and has nothing left to look at.
func (f *field) awaitDecided(groups int) {
	f.t.Helper()
	f.await("the manager has decided about everything", func(ctx context.Context) (bool, error) {
		metrics, err := suite.running().metrics(ctx)
		if err != nil {
			return false, nil //nolint:nilerr // The endpoint may not be there yet; a manager that has ended is told of at the end.
		}
		decided := metrics.sum("controller_runtime_reconcile_total{", `controller="group"`, `result="success"`) +
			metrics.sum("controller_runtime_reconcile_total{", `controller="group"`, `result="requeue_after"`)
		waiting := metrics.sum("workqueue_depth{") + metrics.sum("controller_runtime_active_workers{")
		return int(decided) >= groups && waiting == 0, nil
	})
}

// metricLines is what a manager's metrics endpoint says.
type metricLines []string

// metrics reads them; the manager must have been started with an address for them.
func (m *manager) metrics(ctx context.Context) (metricLines, error) {
	text, err := download(ctx, "http://"+m.metricsAt+"/metrics")
	return strings.Split(string(text), "\n"), err
}

// sum adds up all series whose line begins so and holds all these words.
func (l metricLines) sum(prefix string, words ...string) float64 {
	sum := 0.0
	for _, line := range l {
		fits := strings.HasPrefix(line, prefix)
		for _, word := range words {
			fits = fits && strings.Contains(line, word)
		}
		if value, err := strconv.ParseFloat(line[strings.LastIndex(line, " ")+1:], 64); fits && err == nil {
			sum += value
		}
	}
	return sum
}

func download(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// processorTime is what the manager has used of processors so far.
func processorTime(b *testing.B, m *manager) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", m.command.Process.Pid))
	if err != nil {
		b.Skipf("processor time is known on Linux only: %v", err)
	}
	// The second field is the program's name in parentheses; user and system time are the 14th and the 15th.
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:]))
	ticks := 0
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatalf("processor time of the manager: %v", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond
}

// residentMiB is the manager's resident memory.
func residentMiB(b *testing.B, m *manager) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", m.command.Process.Pid))
	if err != nil {
		b.Skipf("resident memory is known on Linux only: %v", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		b.Fatalf("resident memory of the manager: %v", err)
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}

// profiled keeps processor profiles of the manager, one each few seconds, until the function that it returns is called, which
// also keeps a heap profile. Without the flag -profiles it does nothing.
func profiled(b *testing.B) func() {
	b.Helper()
	if *profiles == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := 1; ctx.Err() == nil; i++ {
			// Asked for a slice at a time: a profile is sent only when its time is over.
			if err := keepProfile(context.WithoutCancel(ctx), b, "profile?seconds=5", fmt.Sprintf("cpu-%03d", i)); err != nil {
				select { // The manager is between its end and its next start.
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		}
	}()
	return func() {
		cancel()
		<-ended
		if err := keepProfile(b.Context(), b, "heap?gc=1", "heap"); err != nil {
			b.Errorf("keep a heap profile: %v", err)
		}
	}
}

func keepProfile(ctx context.Context, b *testing.B, what, name string) error {
	text, err := download(ctx, "http://"+suite.running().pprofAt+"/debug/pprof/"+what)
	if err != nil {
		return err
	}
	dir := filepath.Join(*profiles, strings.NewReplacer("/", "-", "=", "-").Replace(strings.TrimPrefix(b.Name(), "Benchmark")))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".pb.gz"), text, 0o644)
}
