package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const failureModes = "docs/failure-modes.md"

var (
	lastColumn   = regexp.MustCompile(`(?m)^\|.*\|([^|]*)\|$`)
	endToEndTest = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// Each line of the page on failure modes names a test that is there.
func TestFailureModesAreBackedByTests(t *testing.T) {
	tests := endToEndTests(t)
	lines := 0
	for _, match := range lastColumn.FindAllStringSubmatch(string(read(t, filepath.Join(root, failureModes))), -1) {
		column := strings.TrimSpace(match[1])
		if column == "backed by" || strings.Trim(column, "-") == "" {
			continue
		}
		lines++
		named := inlineCode.FindAllString(column, -1)
		if len(named) == 0 {
			t.Errorf("%s: nothing backs %q", failureModes, match[0])
		}
		for _, code := range named {
			name := strings.Trim(code, "`")
			if !tests[name] && !exists(filepath.Join("test/scenarios/testdata", name+".txt")) {
				t.Errorf("%s names %s, which is neither an end-to-end test nor a scenario", failureModes, name)
			}
		}
	}
	if lines < 40 {
		t.Errorf("%s has %d lines", failureModes, lines)
	}
}

func endToEndTests(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "test/e2e/*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range endToEndTest.FindAllStringSubmatch(string(text), -1) {
			names[match[1]] = true
		}
	}
	return names
}
