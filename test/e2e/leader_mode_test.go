package e2e_test

import (
	"testing"
)

// The page on Leader mode is run from its first command to its last: nothing but kubectl and a shell.
func TestThePageOnLeaderMode(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.runPage("leader-mode.md", 5)
	s.judge("indexers")
}
