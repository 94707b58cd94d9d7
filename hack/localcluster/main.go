// Command localcluster runs Kubernetes on this machine without containers, registry or root: etcd and the control plane
// as ordinary processes on loopback, with simulated nodes. See the README beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/cluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		if !errors.Is(err, errQuiet) {
			fmt.Fprintf(os.Stderr, "localcluster: %v\n", err)
		}
		os.Exit(1)
	}
}

// errQuiet ends the program with exit code 1 where everything has been said.
var errQuiet = errors.New("not running")

func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "localcluster",
		Short:         "Kubernetes on this machine, without containers: a real control plane and simulated nodes",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(
		newBuildCommand(), newUpCommand(), newSuperviseCommand(), newDownCommand(),
		newStatusCommand(), newKubeconfigCommand(), newExecCommand(), newNodeCommand(),
	)
	return root
}

// addName gives a command the flag that says which cluster it is about.
func addName(command *cobra.Command, name *string) {
	command.Flags().StringVar(name, "name", cluster.DefaultName, "name of the cluster")
}

// runningCluster returns a cluster that can be used, or an error that says how to get one.
func runningCluster(name string) (cluster.Layout, cluster.State, error) {
	layout, err := cluster.NewLayout(name)
	if err != nil {
		return cluster.Layout{}, cluster.State{}, err
	}
	state, err := cluster.ReadState(layout)
	if err != nil {
		return cluster.Layout{}, cluster.State{}, err
	}
	if state.Phase != cluster.Running {
		return cluster.Layout{}, cluster.State{}, fmt.Errorf("cluster %s is not running; start it with `localcluster up --name %s`", name, name)
	}
	return layout, state, nil
}
