package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/cluster"
	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

// kubeconfigVariable names the environment variable that gives an existing cluster, like the flag --use-kubeconfig.
const kubeconfigVariable = "ROLLCALL_KUBECONFIG"

// upOptions are the flags of up, and of the supervisor that it starts.
type upOptions struct {
	name          string
	nodes         int
	foreground    bool
	parent        int
	useKubeconfig string
	json          bool
}

func (o *upOptions) addFlags(command *cobra.Command) {
	addName(command, &o.name)
	command.Flags().IntVar(&o.nodes, "nodes", 4, "simulated nodes, in two zones in turn")
	command.Flags().IntVar(&o.parent, "parent-pid", 0, "end the cluster when the process with this id ends, however it ends")
}

func newUpCommand() *cobra.Command {
	var options upOptions
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster, unless it runs, and leave it in the background until down",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return up(command, options)
		},
	}
	options.addFlags(command)
	command.Flags().BoolVar(&options.foreground, "foreground", false, "keep the cluster only as long as this command runs")
	command.Flags().StringVar(&options.useKubeconfig, "use-kubeconfig", os.Getenv(kubeconfigVariable),
		"start nothing: use the cluster of this kubeconfig (environment: "+kubeconfigVariable+")")
	command.Flags().BoolVar(&options.json, "json", false, "print the cluster's state as one line of JSON when it is up")
	return command
}

func up(command *cobra.Command, options upOptions) error {
	layout, err := cluster.NewLayout(options.name)
	if err != nil {
		return err
	}
	if err := cluster.RemoveDead(); err != nil {
		return err
	}
	if options.useKubeconfig != "" {
		state, err := cluster.Adopt(command.Context(), layout, options.useKubeconfig, exec.LookPath)
		if err != nil {
			return err
		}
		return announce(command, options, state)
	}
	if options.nodes < 1 {
		return fmt.Errorf("--nodes must be at least 1, not %d", options.nodes)
	}
	progress := programs.NewProgress(command.ErrOrStderr())
	set, err := programs.Ensure(command.Context(), progress)
	if err != nil {
		return err
	}
	report := func(what string) { progress.Step("%s", what) }
	if options.foreground {
		return cluster.Supervise(command.Context(), cluster.Options{Layout: layout, Programs: set, Nodes: options.nodes},
			options.parent, report, func(state cluster.State) {
				if err := announce(command, options, state); err != nil {
					report(err.Error())
				}
			})
	}
	state, err := inBackground(command.Context(), layout, set, options, report)
	if err != nil {
		return err
	}
	return announce(command, options, state)
}

// announce tells a person, or a program, how to reach the cluster.
func announce(command *cobra.Command, options upOptions, state cluster.State) error {
	out := command.OutOrStdout()
	if options.json {
		return json.NewEncoder(out).Encode(state)
	}
	program, flag := os.Args[0], ""
	if state.Name != cluster.DefaultName {
		flag = " --name " + state.Name
	}
	where := state.Server
	if state.External {
		where = "the cluster of " + state.Kubeconfig
	}
	_, err := fmt.Fprintf(out, strings.TrimPrefix(`
cluster %[1]s is up: %[2]s
  use it:      export KUBECONFIG=$(%[3]s kubeconfig%[4]s)
  or:          %[3]s exec%[4]s kubectl get nodes
  end it:      %[3]s down%[4]s
`, "\n"), state.Name, where, program, flag)
	return err
}

// newSuperviseCommand is what up runs in the background.
func newSuperviseCommand() *cobra.Command {
	var options upOptions
	var directory string
	command := &cobra.Command{
		Use:    "supervise",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			layout, err := cluster.NewLayout(options.name)
			if err != nil {
				return err
			}
			set, err := programs.In(directory)
			if err != nil {
				return err
			}
			return supervise(command.Context(), layout, set, options)
		},
	}
	options.addFlags(command)
	command.Flags().StringVar(&directory, "programs", "", "folder of the programs")
	return command
}

func supervise(ctx context.Context, layout cluster.Layout, set programs.Set, options upOptions) error {
	return cluster.Supervise(ctx, cluster.Options{Layout: layout, Programs: set, Nodes: options.nodes}, options.parent,
		func(string) {}, func(cluster.State) {})
}
