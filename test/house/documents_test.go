package house_test

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	makeTarget  = regexp.MustCompile(`\bmake ([a-z][a-z0-9-]*)`)
	fenced      = regexp.MustCompile("(?ms)^```.*?^```")
	inlineCode  = regexp.MustCompile("`[^`\n]+`")
	helpLine    = regexp.MustCompile(`(?m)^  ([a-z0-9-]+) `)
	inlineLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	ciRunsMake  = regexp.MustCompile(`(?m)^(?:exec )?make (.+)$`)
	phonyTarget = regexp.MustCompile(`(?m)^\.PHONY: ([a-z0-9-]+)$`)
)

// A command that a document names must be there, and be found by who asks for help.
func TestDocumentsNameRealTargets(t *testing.T) {
	targets := helpTargets(t)
	for _, path := range documents(t) {
		for _, named := range namedTargets(read(t, path)) {
			if !slices.Contains(targets, named) {
				t.Errorf("%s names `make %s`, which `make help` does not list", path, named)
			}
		}
	}
}

// cluster-build is only ever a step of something else.
func TestHelpListsEveryTarget(t *testing.T) {
	targets := append(helpTargets(t), "cluster-build")
	for _, match := range phonyTarget.FindAllSubmatch(read(t, filepath.Join(root, "Makefile")), -1) {
		if target := string(match[1]); !slices.Contains(targets, target) {
			t.Errorf("the Makefile's target %s has no line in `make help`", target)
		}
	}
}

// What CI runs is what a contributor is told to run.
func TestCIRunsTheTestCommandOfTheReadme(t *testing.T) {
	match := ciRunsMake.FindSubmatch(read(t, filepath.Join(root, ".ci/run")))
	if match == nil {
		t.Fatal(".ci/run runs no make target")
	}
	command := "make " + string(match[1])
	if command != "make test" {
		t.Errorf(".ci/run runs %q, not `make test`", command)
	}
	for _, document := range []string{"README.md", "CONTRIBUTING.md"} {
		if !slices.Contains(namedTargets(read(t, filepath.Join(root, document))), "test") {
			t.Errorf("%s does not name %q, which CI runs", document, command)
		}
	}
}

func TestLinksBetweenDocumentsLeadSomewhere(t *testing.T) {
	for _, path := range documents(t) {
		text := fenced.ReplaceAllString(string(read(t, path)), "")
		for _, match := range inlineLink.FindAllStringSubmatch(text, -1) {
			link, err := url.Parse(match[1])
			if err != nil {
				t.Errorf("%s: link %q: %v", path, match[1], err)
				continue
			}
			if link.Scheme != "" || link.Path == "" {
				continue
			}
			target, err := filepath.Rel(root, filepath.Join(filepath.Dir(path), link.Path))
			if err != nil || !exists(target) {
				t.Errorf("%s: link %q leads nowhere", path, match[1])
			}
		}
	}
}

// helpTargets asks make itself: what it prints is what a contributor sees.
func helpTargets(t *testing.T) []string {
	t.Helper()
	output, err := exec.Command("make", "--no-print-directory", "-C", root, "help").CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v\n%s", err, output)
	}
	var targets []string
	for _, match := range helpLine.FindAllSubmatch(output, -1) {
		targets = append(targets, string(match[1]))
	}
	return targets
}

// namedTargets finds make's targets where a document speaks in code, not in prose ("make it so").
func namedTargets(document []byte) []string {
	code := fenced.FindAllString(string(document), -1)
	prose := fenced.ReplaceAllString(string(document), "")
	code = append(code, inlineCode.FindAllString(prose, -1)...)
	var targets []string
	for _, match := range makeTarget.FindAllStringSubmatch(strings.Join(code, "\n"), -1) {
		targets = append(targets, match[1])
	}
	return targets
}

// documents lists the pages for people at the root and below docs/.
func documents(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	return pages
}
