// Package house_test holds the rules of CONTRIBUTING.md that a linter cannot check: how long a file may be,
// what a package reaches through the packages that it imports, and that documents and Makefile agree.
package house_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// root is the repository's, seen from this package.
	root = "../.."

	module = "github.com/rollcall-dev/rollcall"

	// maxFileLines is where a file has certainly become two.
	maxFileLines = 600
)

// pure names the packages that decide everything and touch nothing.
var pure = []string{"assignor", "presence", "publish", "coordinator"}

func TestNoFileIsTooLong(t *testing.T) {
	for _, path := range goFiles(t, root) {
		source := read(t, path)
		if lines := bytes.Count(source, []byte("\n")); lines > maxFileLines && !generated(source) {
			t.Errorf("%s has %d lines, more than %d: split it", path, lines, maxFileLines)
		}
	}
}

// goFiles lists the Go files below dir in every module of the repository, programs that were built aside.
func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(entry.Name()):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(path, ".go"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("list Go files below %s: %v", dir, err)
	}
	return files
}

func skipped(dir string) bool {
	return dir == "bin" || dir == "testdata" || len(dir) > 2 && dir[0] == '.'
}

// generated recognizes the mark that Go's tools agree on.
func generated(source []byte) bool {
	return bytes.Contains(source, []byte("\n// Code generated ")) || bytes.HasPrefix(source, []byte("// Code generated "))
}

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
