package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rollcall-dev/rollcall/test/cluster"
)

const (
	// patience bounds every wait, far above what anything takes on an idle machine.
	patience = 90 * time.Second
	// keptName is the cluster's name when it is to stay.
	keptName = "demo"
)

// stage is what the story is played on: a cluster with Rollcall installed, and the manager beside it.
type stage struct {
	cluster *cluster.Cluster
	manager *manager
	seen    *recorder
	screen  *screen
	keep    bool
	dir     string // the manager's program, kubeconfig and log
}

// setUp builds, starts and installs everything. The stage it returns is to be struck also when it failed.
func setUp(ctx context.Context, screen *screen, keep bool) (*stage, error) {
	s := &stage{screen: screen, keep: keep, seen: newRecorder()}
	if _, err := os.Stat("config/default"); err != nil {
		return s, errors.New("config/default is not here: run `make demo` in the repository's root")
	}
	dir, err := os.MkdirTemp("", "rollcall-demo-")
	if err != nil {
		return s, fmt.Errorf("make a folder: %w", err)
	}
	s.dir = dir
	screen.heading("the stage")
	screen.say("A real control plane on this machine; its nodes and pods are simulated, so nothing runs in them. The " +
		"manager runs beside it as an ordinary process, with the rights of its service account.")
	screen.line("")
	for _, task := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"the manager is built", s.buildManager},
		{"etcd, API server, controllers and scheduler run", s.startCluster},
		{"Rollcall is installed (kubectl apply -k config/default)", s.install},
		{"the manager runs", s.startManager},
		{"the demo watches", func(ctx context.Context) error { return s.seen.start(ctx, s.cluster.Config()) }},
	} {
		if err := screen.task(task.what, func() error { return task.do(ctx) }); err != nil {
			return s, err
		}
	}
	return s, nil
}

// startCluster starts one that ends with the demo, or a detached one that is to stay.
func (s *stage) startCluster(ctx context.Context) error {
	options := cluster.Options{Nodes: 4, Detached: s.keep, Progress: s.screen}
	if s.keep {
		options.Name = keptName
		if running, err := cluster.Attach(ctx, keptName); err == nil {
			return fmt.Errorf("the cluster of an earlier demo still runs in %s: end it with `bin/localcluster down --name %s`",
				running.Dir(), keptName)
		}
	}
	started, err := cluster.Start(ctx, options)
	if err != nil {
		return fmt.Errorf("start a cluster: %w", err)
	}
	s.cluster = started
	return nil
}

// install applies what a user applies. Simulated pods run nothing, so the manager's own Deployment gets none.
func (s *stage) install(ctx context.Context) error {
	for _, args := range [][]string{
		{"apply", "-k", "config/default"},
		{"scale", "deployment/rollcall-manager", "-n", systemNamespace, "--replicas=0"},
	} {
		if _, err := s.cluster.Kubectl(ctx, args...); err != nil {
			return err
		}
	}
	return s.cluster.AwaitInstalled(ctx)
}

// strike ends everything that runs. Where something failed, the logs stay, and it says where.
func (s *stage) strike(failed bool) error {
	var errs []error
	s.seen.stop()
	if s.manager != nil {
		errs = append(errs, s.manager.stop())
	}
	if failed && s.cluster != nil {
		errs = append(errs, s.saveLogs())
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Stop())
	}
	err := errors.Join(errs...)
	switch {
	case s.dir == "":
		return err
	case s.manager == nil || !failed && err == nil:
		return errors.Join(err, os.RemoveAll(s.dir))
	}
	s.screen.line("\nLogs of the manager and the cluster, and the audit log, are in %s", s.dir)
	return err
}

// saveLogs copies the cluster's logs to where they outlive it.
func (s *stage) saveLogs() error {
	source, logs := s.cluster.Dir(), filepath.Join(s.dir, "cluster")
	if err := os.CopyFS(logs, os.DirFS(filepath.Join(source, "logs"))); err != nil {
		return fmt.Errorf("save the cluster's logs: %w", err)
	}
	audit, err := os.ReadFile(filepath.Join(source, "audit.log"))
	if err != nil {
		return fmt.Errorf("save the audit log: %w", err)
	}
	return os.WriteFile(filepath.Join(s.dir, "audit.log"), audit, 0o600)
}

// leave lets everything run and says how to look around and how to end it.
func (s *stage) leave() {
	s.screen.heading("the stage is yours")
	s.screen.say("The cluster and the manager go on running. To look around:")
	s.screen.line(`
  export KUBECONFIG=%s
  kubectl get cg,gm,pods                                # or: bin/localcluster exec --name %[2]s kubectl ...
  kubectl describe cg orders
  kubectl scale statefulset/worker --replicas=7
  bin/localcluster node list --name %[2]s                # node lose NODE, node return NODE
  tail -f %[3]s

To end it:

  kill %[4]d; bin/localcluster down --name %[2]s; rm -r %[5]s
`, s.cluster.Kubeconfig(), keptName, s.manager.log, s.manager.command.Process.Pid, s.dir)
}
