package scenarios_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/rollcall-dev/rollcall/test/scenarios"
)

// playLive plays every file that fits side by side on one cluster, and says how many were left out for which reason.
func playLive(t *testing.T) {
	logf.SetLogger(logr.Discard()) // The client library would complain that there is none.
	if testing.Short() {
		t.Skip("needs a cluster and the manager")
	}
	var fitting []*scenarios.Script
	skipped := map[string]int{}
	for _, path := range scenarioFiles(t) {
		script, err := scenarios.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		reason := script.SkipReason("live")
		if reason == "" && *longest > 0 && script.Duration() > *longest {
			reason = fmt.Sprintf("takes longer than %v", *longest)
		}
		if reason == "" {
			fitting = append(fitting, script)
			continue
		}
		skipped[reason]++
		t.Run(filepath.Base(path), func(t *testing.T) { t.Skip(reason) })
	}
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		t.Logf("%d files skipped: %s", skipped[reason], reason)
	}
	if len(fitting) == 0 {
		t.Skip("no file is left to be played")
	}
	live, err := scenarios.StartLive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// Files run on after this function; the cluster ends after them.
	t.Cleanup(func() {
		if err := live.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, script := range fitting {
		t.Run(script.Name, func(t *testing.T) {
			t.Parallel()
			if err := live.Play(context.Background(), script); err != nil {
				t.Fatal(err)
			}
		})
	}
}
