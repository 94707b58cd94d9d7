package house_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// listed is the part of `go list -json` that the import rules need.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

// A rule says what the packages below a folder may import themselves, and what they must not reach at all.
type rule struct {
	folder string
	later  bool     // it may be missing still; the rule is there before it
	except string   // a folder below it that the rule leaves out
	direct []string // module prefixes that it may import, besides the standard library and itself
	never  []string // import prefixes that may not be among its dependencies, however far away
}

var rules = []rule{
	{
		folder: "api", except: "api/v1alpha1/applyconfiguration",
		direct: []string{"k8s.io/apimachinery"},
		never:  []string{"k8s.io/api", "k8s.io/client-go", "sigs.k8s.io/controller-runtime"},
	},
	{
		folder: "assignor", except: "assignor/consumer",
		never: []string{"k8s.io", "sigs.k8s.io"},
	},
	{
		folder: "assignor/consumer",
		direct: []string{module + "/assignor", "github.com/twmb/franz-go/pkg/kmsg"},
		never:  []string{"k8s.io", "sigs.k8s.io"},
	},
	{
		folder: "presence",
		direct: []string{"k8s.io/api", "k8s.io/apimachinery", module + "/api"},
		never:  []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"},
	},
	{
		folder: "publish",
		direct: []string{"k8s.io/api", "k8s.io/apimachinery", module + "/api"},
		never:  []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"},
	},
	{
		folder: "coordinator",
		direct: []string{"k8s.io/api", "k8s.io/apimachinery", module + "/api", module + "/assignor"},
		never:  []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"},
	},
	{
		folder: "member", later: true,
		direct: []string{"k8s.io", "github.com", "golang.org", "sigs.k8s.io"},
		never:  []string{"sigs.k8s.io/controller-runtime"},
	},
}

func TestImports(t *testing.T) {
	for _, rule := range rules {
		t.Run(rule.folder, func(t *testing.T) {
			if rule.later && !exists(rule.folder) {
				t.Skipf("there is no %s/ yet", rule.folder)
			}
			for _, pkg := range list(t, rule.folder) {
				if rule.except == "" || !within(pkg.ImportPath, module+"/"+rule.except) {
					rule.check(t, pkg)
				}
			}
		})
	}
}

func (r rule) check(t *testing.T, pkg listed) {
	t.Helper()
	for _, imported := range pkg.Imports {
		if !standard(imported) && !within(imported, append(r.direct, module+"/"+r.folder)...) {
			t.Errorf("%s imports %s", pkg.ImportPath, imported)
		}
	}
	for _, never := range r.never {
		reached := func(dep string) bool { return within(dep, never) }
		if at := slices.IndexFunc(pkg.Deps, reached); at >= 0 {
			t.Errorf("%s reaches %s, by way of what it imports", pkg.ImportPath, pkg.Deps[at])
		}
	}
}

// The folders in which imports end: programs, developers' tools and tests.
func TestNothingImportsProgramsToolsOrTests(t *testing.T) {
	ends := []string{module + "/cmd", module + "/hack", module + "/test"}
	for _, pkg := range list(t, ".") {
		if within(pkg.ImportPath, ends...) {
			continue
		}
		for _, imported := range pkg.Imports {
			if within(imported, ends...) {
				t.Errorf("%s imports %s", pkg.ImportPath, imported)
			}
		}
	}
}

// list asks Go for the packages below folder, test files aside.
func list(t *testing.T, folder string) []listed {
	t.Helper()
	var failure bytes.Buffer
	command := exec.Command("go", "list", "-json=ImportPath,Standard,Imports,Deps", "./"+folder+"/...")
	command.Dir = root
	command.Stderr = &failure
	output, err := command.Output()
	if err != nil {
		t.Fatalf("list packages below %s: %v\n%s", folder, err, failure.Bytes())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var pkg listed
		switch err := decoder.Decode(&pkg); {
		case errors.Is(err, io.EOF) && len(packages) == 0:
			t.Fatalf("there is no package below %s", folder)
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatalf("list packages below %s: %v", folder, err)
		}
		packages = append(packages, pkg)
	}
}

// standard tells Go's own packages by the first element of their path, which has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// within is true if path is one of the folders or lies below one.
func within(path string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return path == folder || strings.HasPrefix(path, folder+"/")
	})
}
