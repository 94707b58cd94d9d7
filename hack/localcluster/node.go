package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/cluster"
)

func newNodeCommand() *cobra.Command {
	command := &cobra.Command{Use: "node", Short: "List nodes, lose one and get it back"}
	command.AddCommand(
		newNodeListCommand(),
		newLossCommand("lose", "Silence a node: no lease, no status, its pods stay as they are; after 4 to 5 s it is Unknown", true),
		newLossCommand("return", "Let a lost node answer again", false),
	)
	return command
}

func newNodeListCommand() *cobra.Command {
	var name string
	command := &cobra.Command{
		Use:   "list",
		Short: "List the nodes",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			layout, state, err := runningCluster(name)
			if err != nil {
				return err
			}
			nodes, err := cluster.Nodes(command.Context(), layout, state)
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(command.OutOrStdout(), 0, 0, 3, ' ', 0)
			fmt.Fprintln(table, "NAME\tZONE\tREADY\tLOST")
			for _, node := range nodes {
				fmt.Fprintf(table, "%s\t%s\t%s\t%t\n", node.Name, node.Zone, node.Ready, node.Lost)
			}
			return table.Flush()
		},
	}
	addName(command, &name)
	return command
}

func newLossCommand(verb, short string, lost bool) *cobra.Command {
	var name string
	command := &cobra.Command{
		Use:   verb + " NODE...",
		Short: short,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			layout, state, err := runningCluster(name)
			if err != nil {
				return err
			}
			for _, node := range args {
				if err := cluster.SetLost(command.Context(), layout, state, node, lost); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addName(command, &name)
	return command
}
