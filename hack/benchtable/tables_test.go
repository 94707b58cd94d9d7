package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	dir := t.TempDir()
	figures, page := filepath.Join(dir, "figures"), filepath.Join(dir, "page")
	lines := `{"package":"p","benchmark":"Roll","figure":"moved","value":7,"runs":1}
{"package":"p","benchmark":"Roll","figure":"moved","value":0,"runs":1}
{"package":"p","benchmark":"Roll","figure":"writes/pod","value":3.98,"runs":1}
{"package":"p","benchmark":"Roll","figure":"writes:patch:pods","value":1050,"runs":1}
`
	for path, text := range map[string]string{figures: lines, page: "before\n" + begin + "\nold\n" + end + "\nafter\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(figures, page); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n" + begin, end + "\nafter\n", "| partitions moved | 0 | 0 |\n", "| writes a pod | 3.98 | <= 4 |\n",
		"| of these: patch pods | 1,050 | |\n", "| generations | – | 0 |\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "old") {
		t.Error("what stood there before is still there")
	}
}

func TestPageWithoutMarks(t *testing.T) {
	if _, err := insert("no marks", "tables"); err == nil {
		t.Error("the tables must have a place")
	}
}
