// Package e2e_test runs the real manager, as a process of its own with the rights of its service account, on a real control
// plane with simulated nodes, and looks at what a user would see: objects, pods, the audit log, kubectl.
//
// One cluster and one manager serve the whole package; each test has a namespace of its own. Tests that kill or restart
// the manager come first, one after another; all others then run side by side.
package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// patience bounds every wait for a condition; it is far above what anything takes on an idle machine.
	patience = 90 * time.Second
	// sideBySide is how many tests run at once: they wait most of the time.
	sideBySide = "8"
)

// profiles is where the benchmarks keep profiles of the manager.
var profiles = flag.String("profiles", "", "folder for profiles of the manager while it is measured; empty keeps none")

// suite is what all tests of the package share.
var suite *environment

func TestMain(m *testing.M) {
	flag.Parse()
	logf.SetLogger(logr.Discard()) // The client library would complain that there is none.
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if testing.Short() {
		return m.Run() // Every test says for itself why it is skipped.
	}
	if err := runSideBySide(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	environment, err := newEnvironment(context.Background())
	if err != nil {
		fmt.Fprintf(os.Stderr, "prepare the end-to-end tests: %v\n", err)
		return 1
	}
	suite = environment
	code := m.Run()
	if err := environment.end(code != 0); err != nil {
		fmt.Fprintf(os.Stderr, "end the end-to-end tests: %v\n", err)
		return 1
	}
	return code
}

// runSideBySide sets -parallel, unless the caller did.
func runSideBySide() error {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", sideBySide)
}

// needsCluster skips a test where no cluster is wanted.
func needsCluster(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster and the manager")
	}
}
