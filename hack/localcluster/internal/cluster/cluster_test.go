package cluster

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/lock"
)

func TestNames(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for name, valid := range map[string]bool{
		"rollcall": true, "test-12-3": true, "a": true, "": false, "-a": false, "a-": false, "A": false, "a/b": false,
		"..": false, strings.Repeat("a", 48): true, strings.Repeat("a", 49): false,
	} {
		if _, err := NewLayout(name); (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The clusters' folder lies where everybody may write; one that others can read or that is a link is not used.
func TestForeignFolderIsRefused(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	layout, err := NewLayout("a")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(layout.Dir)
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := NewLayout("a"); err == nil {
		t.Error("a folder that others can read was accepted")
	}
	if err := errors.Join(os.Remove(root), os.Symlink(t.TempDir(), root)); err != nil {
		t.Fatal(err)
	}
	if _, err := NewLayout("a"); err == nil {
		t.Error("a link was accepted")
	}
}

func TestPhases(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	layout, err := NewLayout("a")
	if err != nil {
		t.Fatal(err)
	}
	expectPhase(t, layout, Absent)
	held, _, err := lock.Try(layout.Lock())
	if err != nil {
		t.Fatal(err)
	}
	if err := prepare(layout); err != nil {
		t.Fatal(err)
	}
	expectPhase(t, layout, Starting)
	if err := Remove(layout); err == nil {
		t.Error("the files of a supervised cluster were removed")
	}
	held.Release()
	expectPhase(t, layout, Dead)
	if err := RemoveDead(); err != nil {
		t.Fatal(err)
	}
	expectPhase(t, layout, Absent)
	if _, err := os.Stat(layout.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there", layout.Dir)
	}
}

func expectPhase(t *testing.T, layout Layout, want Phase) {
	t.Helper()
	state, err := ReadState(layout)
	if err != nil || state.Phase != want {
		t.Errorf("phase %s, %v; want %s", state.Phase, err, want)
	}
}

func TestStagesAreOfKwoksForm(t *testing.T) {
	stages, err := renderStages()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(stages, []byte("[[")) {
		t.Error("a placeholder was left")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(stages))
	names := map[string]bool{}
	for {
		var stage struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				ResourceRef struct{ Kind string } `yaml:"resourceRef"`
				Steps       []map[string]any
			}
		}
		err := decoder.Decode(&stage)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if stage.Kind == "" { // the comments before the first document
			continue
		}
		if stage.Kind != "Stage" || stage.Spec.ResourceRef.Kind == "" || len(stage.Spec.Steps) != 1 || names[stage.Metadata.Name] {
			t.Errorf("an odd stage: %+v", stage)
		}
		names[stage.Metadata.Name] = true
	}
	if len(names) != 8 {
		t.Errorf("stages: %v", names)
	}
}

func TestAuditPolicyIsYAML(t *testing.T) {
	var policy struct {
		Kind  string
		Rules []struct{ Level string }
	}
	if err := yaml.Unmarshal(auditPolicy, &policy); err != nil {
		t.Fatal(err)
	}
	if policy.Kind != "Policy" || policy.Rules[len(policy.Rules)-1].Level != "Metadata" {
		t.Errorf("what no rule names is to be logged: %+v", policy)
	}
}

func TestNodesStandInTwoZones(t *testing.T) {
	zones := map[string]int{}
	for number := 1; number <= 6; number++ {
		labels := newNode(number, "v1")["metadata"].(map[string]any)["labels"].(map[string]string)
		zones[labels[zoneLabel]]++
	}
	if zones["zone-a"] != 3 || zones["zone-b"] != 3 {
		t.Errorf("got %v", zones)
	}
}
