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
		Long: `Bring on a run whose worker is gone: calls that finished replay, and it goes on where it
stands, until it is done, failed or paused. With a call in doubt it stops (exit code 5)
until flowtui resolve says what happened. While another worker holds the run it is a
conflict (4). flowtui plan says before what would run again.`,
		Args: arguments("STORE", "RUN"),
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
