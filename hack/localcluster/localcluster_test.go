package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/cluster"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: default}
spec:
  replicas: 3
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: "example.com/web:1"}]
`

// Two clusters side by side work for themselves, and neither leaves a process behind, whoever is killed.
func TestTwoClustersAndSuddenDeath(t *testing.T) {
	needPrograms(t)
	t.Setenv("TMPDIR", t.TempDir())
	first := exec.Command(launcher, "up", "--foreground", "--json", "--name", "first", "--nodes", "2")
	// The second one watches the shell that started it.
	script := fmt.Sprintf(`"%s" up --foreground --json --name second --nodes 2 --parent-pid $$ & wait`, launcher)
	second := exec.Command("sh", "-c", script)
	var states [2]cluster.State
	var starting sync.WaitGroup
	for i, command := range []*exec.Cmd{first, second} {
		starting.Go(func() {
			var err error
			if states[i], err = startForeground(t, command); err != nil {
				t.Error(err)
			}
		})
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	rollOnBoth(t)

	firstProcesses := watch(t, states[0].Processes)
	secondProcesses := watch(t, states[1].Processes)
	if err := first.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	expectGone(t, firstProcesses)
	kubectl(t, "second", "get", "--raw", "/readyz")
	if out := mustRun(t, "status"); !strings.Contains(out, "Dead") {
		t.Errorf("the first cluster is dead, but:\n%s", out)
	}

	supervisor := watch(t, map[string]int{"supervisor": states[1].PID})
	if err := second.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	expectGone(t, secondProcesses)
	expectGone(t, supervisor)

	mustRun(t, "down", "--all")
	if _, err := os.Stat(states[0].Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the files of a dead cluster stay: %v", err)
	}
}

// rollOnBoth runs a set of 3 on both clusters, rolled once on the first.
func rollOnBoth(t *testing.T) {
	t.Helper()
	for _, name := range []string{"first", "second"} {
		apply(t, name, statefulSet)
		kubectl(t, name, "rollout", "status", "statefulset/web", "--timeout="+patience.String())
	}
	before := kubectl(t, "second", "get", "pods", "-o", "jsonpath={.items[*].metadata.uid}")
	kubectl(t, "first", "rollout", "restart", "statefulset/web")
	kubectl(t, "first", "rollout", "status", "statefulset/web", "--timeout="+patience.String())
	kubectl(t, "first", "wait", "--for=condition=Ready", "pod", "-l", "app=web", "--timeout="+patience.String())
	if after := kubectl(t, "second", "get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"); after != before {
		t.Errorf("a roll on the first cluster changed the second: %q, %q", before, after)
	}
}

// A cluster in the background is found by its name until it is taken down.
func TestBackground(t *testing.T) {
	needPrograms(t)
	t.Setenv("TMPDIR", t.TempDir())
	t.Cleanup(func() { mustRun(t, "down", "--all") })
	if _, err := run(t, "exec", "--name", "mine", "true"); err == nil || !strings.Contains(err.Error(), "localcluster up --name mine") {
		t.Errorf("without a cluster it is said how to get one: %v", err)
	}
	var up cluster.State
	if err := json.Unmarshal([]byte(mustRun(t, "up", "--json", "--name", "mine", "--nodes", "2")), &up); err != nil {
		t.Fatal(err)
	}
	if again := mustRun(t, "up", "--json", "--name", "mine"); !strings.Contains(again, fmt.Sprintf(`"pid":%d`, up.PID)) {
		t.Errorf("a second up must find the first one's cluster: %s", again)
	}
	if path := strings.TrimSpace(mustRun(t, "kubeconfig", "--name", "mine")); path != up.Kubeconfig {
		t.Errorf("kubeconfig says %s instead of %s", path, up.Kubeconfig)
	}
	if list := mustRun(t, "node", "list", "--name", "mine"); strings.Count(list, "zone-") != 2 {
		t.Errorf("two nodes in two zones, but:\n%s", list)
	}
	t.Run("pods behave as their annotations say", func(t *testing.T) { podsBehave(t, "mine") })
	t.Run("a kubeconfig can be used as another cluster", func(t *testing.T) { adopt(t, up.Kubeconfig) })

	processes := watch(t, up.Processes)
	mustRun(t, "down", "--name", "mine")
	expectGone(t, processes)
	if _, err := run(t, "status", "--name", "mine"); err == nil {
		t.Error("the status of a cluster that is down must be told by the exit code")
	}
	if _, err := os.Stat(up.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there (%v)", up.Dir, err)
	}
}

func adopt(t *testing.T, kubeconfig string) {
	mustRun(t, "up", "--name", "adopted", "--use-kubeconfig", kubeconfig)
	if path := strings.TrimSpace(mustRun(t, "kubeconfig", "--name", "adopted")); path != kubeconfig {
		t.Errorf("kubeconfig says %s instead of %s", path, kubeconfig)
	}
	if _, err := run(t, "node", "lose", "--name", "adopted", "node-1"); err == nil {
		t.Error("nodes of a cluster that runs elsewhere cannot be lost")
	}
	mustRun(t, "down", "--name", "adopted")
	kubectl(t, "mine", "get", "--raw", "/readyz")

	elsewhere := filepath.Join(t.TempDir(), "kubeconfig")
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	gone := strings.ReplaceAll(string(content), "https://127.0.0.1:", "https://127.0.0.1:1")[:len(content)]
	if err := os.WriteFile(elsewhere, []byte(gone), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, "up", "--name", "adopted", "--use-kubeconfig", elsewhere); err == nil {
		t.Error("a cluster that does not answer was accepted")
	}
}

// A start that fails names the program, the last lines of its log, and where the log is.
func TestFailedStart(t *testing.T) {
	needPrograms(t)
	built, err := programs.Find()
	if err != nil {
		t.Fatal(err)
	}
	assets := t.TempDir()
	for _, name := range programs.All {
		if err := os.Symlink(built.Path(name), filepath.Join(assets, name)); err != nil {
			t.Fatal(err)
		}
	}
	broken := filepath.Join(assets, programs.APIServer)
	if err := errors.Join(os.Remove(broken), os.WriteFile(broken, []byte("#!/bin/sh\necho no luck today >&2\nexit 7\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Setenv(programs.AssetsVariable, assets)
	t.Setenv("TMPDIR", t.TempDir())
	t.Cleanup(func() { mustRun(t, "down", "--all") })
	_, err = run(t, "up", "--name", "broken")
	if err == nil {
		t.Fatal("a cluster without an API server is up")
	}
	for _, part := range []string{"kube-apiserver ended: exit status 7", "no luck today", "kube-apiserver.log"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in: %v", part, err)
		}
	}
	if out := mustRun(t, "status"); !strings.Contains(out, "Failed") || !strings.Contains(out, "no luck today") {
		t.Errorf("status does not tell of the failure:\n%s", out)
	}
}
