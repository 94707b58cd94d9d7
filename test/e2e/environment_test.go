package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/rollcall-dev/rollcall/controllers"
	"github.com/rollcall-dev/rollcall/test/cluster"
)

const (
	// nodes of the cluster; the last lonelyNodes are kept for the test that loses one.
	nodes       = 6
	lonelyNodes = 2
)

// environment is the cluster, what is installed in it, and the manager that runs at present.
type environment struct {
	cluster   *cluster.Cluster
	client    client.WithWatch
	installed installation
	dir       string // of the manager's program, kubeconfig and logs

	mu      sync.Mutex
	manager *manager
	starts  int
}

func newEnvironment(ctx context.Context) (_ *environment, err error) {
	e := &environment{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.end(true))
		}
	}()
	// Nodes are lost and pods misbehave on demand: a cluster of somebody else's cannot do that.
	if err := os.Unsetenv(cluster.KubeconfigVariable); err != nil {
		return nil, err
	}
	if e.dir, err = os.MkdirTemp("", "rollcall-e2e-"); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	if err := e.buildManager(ctx); err != nil {
		return nil, err
	}
	if e.cluster, err = cluster.Start(ctx, cluster.Options{Nodes: nodes}); err != nil {
		return nil, fmt.Errorf("start a cluster: %w", err)
	}
	if e.client, err = client.NewWithWatch(e.cluster.Config(), client.Options{Scheme: controllers.Scheme()}); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	if err := e.reserveLonelyNodes(ctx); err != nil {
		return nil, err
	}
	if e.installed, err = install(ctx, e); err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	return e, e.startManager(ctx)
}

// end stops what runs. The manager's logs stay where something failed.
func (e *environment) end(failed bool) error {
	var errs []error
	if e.manager != nil {
		errs = append(errs, e.manager.stop())
	}
	if e.cluster != nil {
		errs = append(errs, e.cluster.Stop())
	}
	if err := errors.Join(errs...); failed || err != nil {
		fmt.Fprintf(os.Stderr, "the manager's logs are in %s\n", e.dir)
		return err
	}
	return os.RemoveAll(e.dir)
}

func (e *environment) program() string { return filepath.Join(e.dir, "manager") }

func (e *environment) buildManager(ctx context.Context) error {
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", e.program(), "./cmd/manager")
	build.Dir = filepath.Join("..", "..")
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the manager: %w\n%s", err, text)
	}
	return nil
}

// reserveLonelyNodes keeps pods off the last nodes, unless they tolerate it: a node is lost only to those who ask for it.
func (e *environment) reserveLonelyNodes(ctx context.Context) error {
	for number := nodes - lonelyNodes + 1; number <= nodes; number++ {
		name := fmt.Sprintf("node-%d", number)
		if _, err := e.cluster.Kubectl(ctx, "taint", "node", name, lonelyKey+"=true:NoSchedule"); err != nil {
			return err
		}
		if _, err := e.cluster.Kubectl(ctx, "label", "node", name, lonelyKey+"=true"); err != nil {
			return err
		}
	}
	return nil
}

// running is the manager that runs at present.
func (e *environment) running() *manager {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.manager
}
