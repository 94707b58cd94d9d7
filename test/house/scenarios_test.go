package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var scenarioName = regexp.MustCompile("`((?:faults|groups|handover|leader|live|presence|rounds|sessions)/[a-z0-9-]+)`")

// A rule that says which scenarios guard it must not outlive them.
func TestDocumentsNameRealScenarios(t *testing.T) {
	found := 0
	for _, path := range documents(t) {
		for _, match := range scenarioName.FindAllSubmatch(read(t, path), -1) {
			found++
			file := filepath.Join(root, "test/scenarios/testdata", string(match[1])+".txt")
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s names the scenario %s: %v", path, match[1], err)
			}
		}
	}
	if found == 0 {
		t.Error("no document names a scenario")
	}
}
