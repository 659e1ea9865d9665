package main

import (
	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newRecoverCommand(a *app) *cobra.Command {
	req := viewer.Request{Action: viewer.Recover}
	cmd := &cobra.Command{
		Use:   "recover STORE RUN",
		Short: "Bring on a run whose worker is gone",
		Args:  arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd.Context(), args, req)
		},
	}
	cmd.Flags().BoolVar(&req.RerunInDoubt, "rerun-in-doubt", false, "run calls in doubt again, though they may have run")
	cmd.Flags().BoolVar(&req.Takeover, "takeover", false, "also when another worker's lease is live; that worker is cut off")
	addVersion(cmd, &req)
	addMaxIterations(cmd, &req.MaxIterations)
	return cmd
}
