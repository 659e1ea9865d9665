package main

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newStateCommand(a *app) *cobra.Command {
	var step int64
	var reveal bool
	cmd := &cobra.Command{
		Use:   "state STORE RUN",
		Short: "Print a run's state, numbers exactly as stored",
		Long: `Print the state of a run as JSON, numbers exactly as stored. Secrets are masked without
--reveal. A store that keeps the newest step only has no other --step.`,
		Args: arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("step") && step < 0 {
				return usagef("--step is 0 or more")
			}
			a.exact = true
			return a.withRun(cmd.Context(), args, func(ctx context.Context, s *session, ref viewer.Ref) error {
				v, err := s.State(ctx, ref, step, reveal)
				if err != nil {
					return err
				}
				if v.Masked > 0 {
					a.note("%s masked, --reveal shows them", plural(v.Masked, "secret"))
				}
				if a.global.json {
					return writeJSON(a.stdout, v.JSON)
				}
				_, err = a.stdout.Write(escapeJSON(indented(v.JSON)))
				return err
			})
		},
	}
	cmd.Flags().Int64Var(&step, "step", -1, "state at step `N` (default: the latest)")
	cmd.Flags().Lookup("step").DefValue = "0" // which is not shown
	addReveal(cmd, &reveal)
	return cmd
}

func addReveal(cmd *cobra.Command, reveal *bool) {
	cmd.Flags().BoolVar(reveal, "reveal", false, "show secrets, which are masked otherwise")
}

// indented is JSON for people, of the same value; what is not JSON stays as it is.
func indented(data json.RawMessage) []byte {
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		b.Reset()
		b.Write(data)
	}
	b.WriteByte('\n')
	return b.Bytes()
}
