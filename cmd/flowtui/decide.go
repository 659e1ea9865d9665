package main

import (
	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newApproveCommand(a *app) *cobra.Command {
	return newDecideCommand(a, viewer.Approve, "Approve a tool call that waits for it, and run on")
}

func newDenyCommand(a *app) *cobra.Command {
	return newDecideCommand(a, viewer.Deny, "Deny a tool call that waits for approval")
}

func newDecideCommand(a *app, action viewer.Action, short string) *cobra.Command {
	req := viewer.Request{Action: action}
	cmd := &cobra.Command{
		Use:   string(action) + " STORE RUN",
		Short: short,
		Args:  arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd.Context(), args, req)
		},
	}
	cmd.Flags().StringVar(&req.Target, "approval", "", "which one, when there are several")
	cmd.Flags().StringVar(&req.Note, "note", "", "why, for the log")
	addNoRun(cmd, &req)
	addVersion(cmd, &req)
	return cmd
}
