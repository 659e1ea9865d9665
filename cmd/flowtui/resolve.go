package main

import (
	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newResolveCommand(a *app) *cobra.Command {
	req := viewer.Request{Action: viewer.Resolve}
	var result string
	cmd := &cobra.Command{
		Use:   "resolve STORE RUN CALL (--result JSON | --not-run)",
		Short: "Say what happened to a call in doubt; nothing is run",
		Long: `Say what happened to a call in doubt: one that was started, and whose result nobody knows.
Look where its tool should have had its effect, then say that it did not run, or with
which result it ran. Nothing is run: a recovery then runs the call, or replays the result.
CALL is its id, as flowtui calls and flowtui show print it.`,
		Args: arguments("STORE", "RUN", "CALL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed("result")
			if given == req.NotRun {
				return usagef("give one of --result and --not-run")
			}
			if given {
				var err error
				if req.Value, err = jsonValue("--result", result); err != nil {
					return err
				}
			}
			req.Target = args[2]
			return a.act(cmd.Context(), args[:2], req)
		},
	}
	f := cmd.Flags()
	f.StringVar(&result, "result", "", "it ran, and this was the result, as `JSON`")
	f.BoolVar(&req.NotRun, "not-run", false, "it did not run")
	f.BoolVar(&req.Takeover, "takeover", false, "also while another worker's lease is live: its call may still be running")
	f.StringVar(&req.Note, "note", "", "how you know, as `TEXT` for the log")
	addVersion(cmd, &req)
	return cmd
}
