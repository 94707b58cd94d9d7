package programs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
)

// modulePath is where the module of the programs lies inside the repository.
var modulePath = filepath.Join("hack", "localcluster", "controlplane")

// Source is the folder of the Go module from which the programs are built.
type Source struct {
	// Dir is the absolute path of the module's folder.
	Dir string
}

// FindSource looks for the module beside this source file as it was at compile time, and then upwards from the working
// directory: the launcher may have been moved, or compiled without paths.
func FindSource() (Source, error) {
	var candidates []string
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		candidates = append(candidates, filepath.Join(filepath.Dir(file), "..", "..", "controlplane"))
	}
	working, err := os.Getwd()
	if err != nil {
		return Source{}, fmt.Errorf("find the working directory: %w", err)
	}
	for dir := working; ; dir = filepath.Dir(dir) {
		candidates = append(candidates, filepath.Join(dir, modulePath))
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, dir := range candidates {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return Source{Dir: filepath.Clean(dir)}, nil
		}
	}
	return Source{}, errors.New("the module " + modulePath + " was not found: run this inside the repository")
}

// Key identifies what would be built: it changes with every file of the module, which pins all versions and sums.
func (s Source) Key() (string, error) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return "", fmt.Errorf("read the control plane's module: %w", err)
	}
	var files []string
	for _, entry := range entries {
		name := entry.Name()
		if name == "go.mod" || name == "go.sum" || strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			files = append(files, name)
		}
	}
	sort.Strings(files)
	sum := sha256.New()
	fmt.Fprintf(sum, "%s/%s\n", runtime.GOOS, runtime.GOARCH)
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			return "", fmt.Errorf("read the control plane's module: %w", err)
		}
		fmt.Fprintf(sum, "%s %x\n", name, sha256.Sum256(content))
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// version returns the version at which the module requires another module.
func (s Source) version(module string) (string, error) {
	content, err := os.ReadFile(filepath.Join(s.Dir, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the control plane's module: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && fields[0] == module && fields[1] != "=>" {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("%s requires no %s", filepath.Join(s.Dir, "go.mod"), module)
}
