package main

import (
	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newApproveCommand(a *app) *cobra.Command {
	return newDecideCommand(a, viewer.Approve, "Approve a tool call that waits for it, and run on",
		`Approve a tool call that waits for it, and run on until the run is done, failed or
paused: flowtui show says what waits and with which arguments. On a terminal the plan is
shown and asked for; the approval then holds for exactly that call. It needs the key, and
the run's flow to run on. With --no-run the decision is stored only.`)
}

func newDenyCommand(a *app) *cobra.Command {
	return newDecideCommand(a, viewer.Deny, "Deny a tool call that waits for approval, and run on",
		`Deny a tool call that waits for approval, and run on: the flow takes its way for errors,
or the run fails, and that it was denied is its error. A run that failed because it was
denied is exit code 0. With --no-run the decision is stored only.`)
}

func newDecideCommand(a *app, action viewer.Action, short, long string) *cobra.Command {
	req := viewer.Request{Action: action}
	cmd := &cobra.Command{
		Use:   string(action) + " STORE RUN",
		Short: short,
		Long:  long,
		Args:  arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.act(cmd.Context(), args, req)
		},
	}
	cmd.Flags().StringVar(&req.Target, "approval", "", "`ID` of the one that is meant, when there are several")
	cmd.Flags().StringVar(&req.Note, "note", "", "why, as `TEXT` for the log")
	addNoRun(cmd, &req)
	addVersion(cmd, &req)
	return cmd
}
