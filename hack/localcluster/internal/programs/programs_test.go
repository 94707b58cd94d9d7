package programs_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

// fakeGo stands in for the go command: it notes each call, and builds a program that does nothing.
const fakeGo = `#!/bin/sh
echo "$@" >> "$CALLS"
case "$1" in
list) echo one; echo two; echo "go: downloading example.com/x v1.0.0" >&2;;
build)
  echo example.com/x >&2
  if [ -n "$BROKEN" ]; then echo "x.go:1:2: undefined: y" >&2; exit 1; fi
  while [ "$1" != -o ]; do shift; done
  sleep 0.2
  printf '#!/bin/sh\n' > "$2"; chmod +x "$2";;
esac
`

// workplace gives a test an empty cache and the stand-in; the returned file notes the calls of go.
func workplace(t *testing.T) (calls string) {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(fakeGo), 0o755); err != nil {
		t.Fatal(err)
	}
	calls = filepath.Join(bin, "calls")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("CALLS", calls)
	t.Setenv(programs.CacheVariable, t.TempDir())
	t.Setenv(programs.AssetsVariable, "")
	return calls
}

func quiet() *programs.Progress { return programs.NewProgress(&bytes.Buffer{}) }

func TestEnsureBuildsOnce(t *testing.T) {
	calls := workplace(t)
	if _, err := programs.Find(); err == nil {
		t.Fatal("an empty cache cannot hold the programs")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			set, err := programs.Ensure(t.Context(), quiet())
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := programs.In(set.Dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	noted, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if built := strings.Count(string(noted), "build "); built != 1 {
		t.Errorf("four at once built %d times:\n%s", built, noted)
	}
	if !strings.Contains(string(noted), "component-base/version.gitVersion=v1.") {
		t.Errorf("the version is not set:\n%s", noted)
	}
}

func TestFailedBuildSaysWhy(t *testing.T) {
	workplace(t)
	t.Setenv("BROKEN", "yes")
	_, err := programs.Ensure(t.Context(), quiet())
	if err == nil || !strings.Contains(err.Error(), "undefined: y") {
		t.Errorf("got %v", err)
	}
	t.Setenv("BROKEN", "")
	if _, err := programs.Ensure(t.Context(), quiet()); err != nil {
		t.Errorf("after a failure the next attempt begins anew: %v", err)
	}
}

func TestInterruptedBuild(t *testing.T) {
	workplace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := programs.Ensure(ctx, quiet()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestProgressOfABuild(t *testing.T) {
	workplace(t)
	var out bytes.Buffer
	if _, err := programs.Ensure(t.Context(), programs.NewProgress(&out)); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"this is done once", "minutes", "the programs are in"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is missing in\n%s", part, out.String())
		}
	}
}

func TestAssetsAreUsedWhenComplete(t *testing.T) {
	calls := workplace(t)
	assets := t.TempDir()
	t.Setenv(programs.AssetsVariable, assets)
	for _, name := range programs.All {
		if err := os.WriteFile(filepath.Join(assets, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	set, err := programs.Ensure(t.Context(), quiet())
	if err != nil || set.Dir != assets {
		t.Errorf("got %s, %v", set.Dir, err)
	}
	if _, err := os.Stat(calls); !errors.Is(err, os.ErrNotExist) {
		t.Error("nothing was to be built")
	}

	if err := os.Remove(filepath.Join(assets, programs.Kwok)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	set, err = programs.Ensure(t.Context(), programs.NewProgress(&out))
	if err != nil || set.Dir == assets {
		t.Errorf("incomplete assets were used: %s, %v", set.Dir, err)
	}
	if !strings.Contains(out.String(), programs.Kwok) {
		t.Errorf("it is not said what the assets lack:\n%s", out.String())
	}
}

func TestKeyFollowsTheModule(t *testing.T) {
	source := programs.Source{Dir: t.TempDir()}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(source.Dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := func() string {
		t.Helper()
		key, err := source.Key()
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	write("go.mod", "module x")
	write("main.go", "package main")
	first := key()
	write("notes.txt", "not built")
	write("main_test.go", "package main")
	if key() != first {
		t.Error("files that are not built must not change the key")
	}
	write("go.sum", "x v1")
	if key() == first {
		t.Error("other sums are other programs")
	}
}
