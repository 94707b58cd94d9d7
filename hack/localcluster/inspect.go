package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/cluster"
)

func newDownCommand() *cobra.Command {
	var name string
	var all bool
	command := &cobra.Command{
		Use:   "down",
		Short: "End a cluster; nothing of it stays",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			layouts, err := chosen(name, all)
			if err != nil {
				return err
			}
			for _, layout := range layouts {
				if err := down(layout); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addName(command, &name)
	command.Flags().BoolVar(&all, "all", false, "end all clusters of this user")
	return command
}

// chosen returns one cluster, or all.
func chosen(name string, all bool) ([]cluster.Layout, error) {
	if all {
		return cluster.Layouts()
	}
	layout, err := cluster.NewLayout(name)
	return []cluster.Layout{layout}, err
}

func newStatusCommand() *cobra.Command {
	var name string
	var asJSON bool
	command := &cobra.Command{
		Use:   "status",
		Short: "Show all clusters, or with --name one; exit code 1 if that one is not running",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			layouts, err := chosen(name, name == "")
			if err != nil {
				return err
			}
			states := make([]cluster.State, 0, len(layouts))
			for _, layout := range layouts {
				state, err := cluster.ReadState(layout)
				if err != nil {
					return err
				}
				states = append(states, state)
			}
			if err := show(command, states, asJSON); err != nil {
				return err
			}
			if name != "" && states[0].Phase != cluster.Running {
				return errQuiet
			}
			return nil
		},
	}
	command.Flags().StringVar(&name, "name", "", "name of the cluster")
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON, one cluster a line")
	return command
}

func show(command *cobra.Command, states []cluster.State, asJSON bool) error {
	if asJSON {
		encoder := json.NewEncoder(command.OutOrStdout())
		for _, state := range states {
			if err := encoder.Encode(state); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAME\tPHASE\tNODES\tSUPERVISOR\tAGE\tSERVER\tDIR")
	for _, state := range states {
		age := "-"
		if !state.Started.IsZero() {
			age = time.Since(state.Started).Truncate(time.Second).String()
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\t%s\n", state.Name, state.Phase, state.Nodes, state.PID, age, state.Server, state.Dir)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, state := range states {
		if state.Failure != "" {
			fmt.Fprintf(command.OutOrStdout(), "\n%s: %s\n", state.Name, state.Failure)
		}
	}
	return nil
}

func newKubeconfigCommand() *cobra.Command {
	var name, user string
	var groups []string
	command := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of the kubeconfig, the administrator's or another user's",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			layout, state, err := runningCluster(name)
			if err != nil {
				return err
			}
			path := state.Kubeconfig
			if user != "" {
				if path, err = cluster.UserKubeconfig(layout, state, user, groups); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintln(command.OutOrStdout(), path)
			return err
		},
	}
	addName(command, &name)
	command.Flags().StringVar(&user, "user", "", "make one for this user, for example system:serviceaccount:NAMESPACE:NAME")
	command.Flags().StringSliceVar(&groups, "group", nil, "a group the user is in; may be repeated")
	return command
}

func newExecCommand() *cobra.Command {
	var name string
	command := &cobra.Command{
		Use:     "exec COMMAND [ARGUMENT...]",
		Short:   "Run a command with KUBECONFIG set and kubectl on its PATH",
		Example: "  localcluster exec kubectl get pods -A",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			_, state, err := runningCluster(name)
			if err != nil {
				return err
			}
			kubectl, err := cluster.Kubectl(state, exec.LookPath)
			if err != nil {
				return err
			}
			path := filepath.Dir(kubectl) + string(os.PathListSeparator) + os.Getenv("PATH")
			if err := os.Setenv("PATH", path); err != nil {
				return fmt.Errorf("set PATH: %w", err)
			}
			program, err := exec.LookPath(args[0])
			if err != nil {
				return err
			}
			return syscall.Exec(program, args, append(os.Environ(), "KUBECONFIG="+state.Kubeconfig))
		},
	}
	addName(command, &name)
	command.Flags().SetInterspersed(false) // flags after the command are the command's
	return command
}
