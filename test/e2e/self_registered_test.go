package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

// commands are the shell's blocks of a page.
var commands = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// The page for people whose processes have nothing but kubectl and a shell is run from its first command to its last.
func TestThePageOnSelfRegisteredProcesses(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.runPage("self-registered.md", 8)

	var states []v1alpha1.MemberState
	moved := 0
	owners := map[string]string{}
	for _, v := range s.history() {
		member, ok := v.object.(*v1alpha1.GroupMember)
		if !ok {
			continue
		}
		if member.Spec.MemberName == "carl" && (len(states) == 0 || states[len(states)-1] != member.Status.State) {
			states = append(states, member.Status.State)
		}
		for _, c := range held(member) {
			if before := owners[c.String()]; before != "" && before != member.Spec.MemberName {
				moved++
			}
			owners[c.String()] = member.Spec.MemberName
		}
	}
	// Three to berta at carl's death, three back at its return, three to berta at its leave.
	if moved != 9 {
		t.Errorf("%d partitions moved, want 9: a restart moves none", moved)
	}
	for _, state := range []v1alpha1.MemberState{v1alpha1.MemberUnavailable, v1alpha1.MemberDead, v1alpha1.MemberLeaving} {
		if !slices.Contains(states, state) {
			t.Errorf("carl has never been %s, but %v", state, states)
		}
	}
}

// runPage runs all commands of a page of the documentation, of which there are at least so many blocks.
func (s *sandbox) runPage(name string, least int) {
	s.t.Helper()
	page, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		s.t.Fatal(err)
	}
	// Heartbeats end with the script, however it ends.
	script := "set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n"
	blocks := commands.FindAllSubmatch(page, -1)
	if len(blocks) < least {
		s.t.Fatalf("%s has %d blocks of commands", name, len(blocks))
	}
	for number, block := range blocks {
		script += fmt.Sprintf("echo '--- block %d' >&2\n%s", number+1, block[1])
	}
	s.shell(script)
}

// shell runs a script with a kubectl that works in the sandbox, in a folder of its own.
func (s *sandbox) shell(script string) {
	s.t.Helper()
	folder := s.t.TempDir()
	kubectl := fmt.Sprintf("#!/bin/sh\nexec %q --kubeconfig %q --namespace %s \"$@\"\n",
		suite.cluster.KubectlPath(), suite.cluster.Kubeconfig(), s.namespace)
	if err := os.WriteFile(filepath.Join(folder, "kubectl"), []byte(kubectl), 0o755); err != nil {
		s.t.Fatal(err)
	}
	command := exec.CommandContext(s.t.Context(), "bash", "-c", script)
	command.Dir = folder
	command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"))
	command.WaitDelay = 10 * time.Second // for what runs in the background
	if said, err := command.CombinedOutput(); err != nil {
		s.t.Fatalf("the script failed: %v\n%s", err, said)
	}
}
