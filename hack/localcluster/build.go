package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rollcall-dev/rollcall/hack/localcluster/internal/programs"
)

func newBuildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Build the control plane, unless it is in the cache",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			set, err := programs.Ensure(command.Context(), programs.NewProgress(command.ErrOrStderr()))
			if err != nil {
				return err
			}
			fmt.Fprintln(command.OutOrStdout(), set.Dir)
			return nil
		},
	}
}
