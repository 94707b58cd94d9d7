package scenarios_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-dev/rollcall/test/scenarios"
)

var (
	world      = flag.String("world", "sim", "the world to play in: sim, or live")
	files      = flag.String("files", "", "scenario files from elsewhere, as a glob or a folder; absolute paths work")
	longest    = flag.Duration("longest", 0, "live: leave out files that take longer than this; 0: none")
	withFaults = flag.Bool("faults", false, "play each file again with a fault after each of its writes")
)

// Every file is one test, named after it.
func TestScenarios(t *testing.T) {
	switch *world {
	case "sim":
	case "live":
		playLive(t)
		return
	default:
		t.Fatalf("the world %q is unknown: there are sim and live", *world)
	}
	for _, path := range scenarioFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { play(t, path) })
	}
}

func play(t *testing.T, path string) {
	script, err := scenarios.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if reason := script.SkipReason(*world); reason != "" {
		t.Skip(reason)
	}
	if err := scenarios.PlaySim(script); err != nil {
		t.Fatal(err)
	}
	if *withFaults {
		if err := scenarios.PlayWithFaults(script); err != nil {
			t.Fatal(err)
		}
	}
}

// scenarioFiles are those that were asked for, or those of this package.
func scenarioFiles(t *testing.T) []string {
	t.Helper()
	found := filesOf(t, "testdata")
	if *files != "" {
		found = nil
		for _, pattern := range strings.Split(*files, ",") {
			matched, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatalf("-files %s: %v", pattern, err)
			}
			for _, path := range matched {
				found = append(found, filesOf(t, path)...)
			}
		}
	}
	if len(found) == 0 {
		t.Fatalf("no scenario file found (-files %q)", *files)
	}
	slices.Sort(found)
	return found
}

// filesOf is the file itself, or every text file below a folder.
func filesOf(t *testing.T, path string) []string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() {
		return []string{path}
	}
	var found []string
	err = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) == ".txt" {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
