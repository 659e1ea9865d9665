package main

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/viewer"
)

func newAnswerCommand(a *app) *cobra.Command {
	req := viewer.Request{Action: viewer.Answer}
	var text, exact string
	cmd := &cobra.Command{
		Use:   "answer STORE RUN (--value TEXT | --json-value JSON)",
		Short: "Answer what a run asks, and run on",
		Long: `Answer what a run asks, and run on until it is done, failed or paused. --value is a text,
also one that looks like a number; --json-value is any JSON. An answer that the question
says would not pass is refused, and nothing is saved; --unchecked sends it all the same,
and the flow judges it. With --no-run the answer is stored only.`,
		Args: arguments("STORE", "RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed
			if given("value") == given("json-value") {
				return usagef("give one of --value and --json-value")
			}
			var err error
			if req.Value, err = answerValue(text, exact, given("value")); err != nil {
				return err
			}
			return a.act(cmd.Context(), args, req)
		},
	}
	f := cmd.Flags()
	f.StringVar(&req.Target, "interrupt", "", "`KEY` of the question, when there are several")
	f.StringVar(&text, "value", "", "the answer as `TEXT`")
	f.StringVar(&exact, "json-value", "", "the answer as `JSON`, exactly as it is to land in the state")
	f.BoolVar(&req.Unchecked, "unchecked", false, "send it also when the question says that it would not pass")
	addNoRun(cmd, &req)
	addVersion(cmd, &req)
	addMaxIterations(cmd, &req.MaxIterations)
	return cmd
}

func answerValue(text, exact string, isText bool) (json.RawMessage, error) {
	if !isText {
		return jsonValue("--json-value", exact)
	}
	value, err := engine.Seal(text)
	if err != nil {
		return nil, usagef("--value: %v", err)
	}
	return value, nil
}

// jsonValue checks that a flag holds exactly one JSON value, and keeps its text.
func jsonValue(flag, text string) (json.RawMessage, error) {
	if _, err := engine.DecodeValue([]byte(text)); err != nil {
		return nil, usagef("%s is not one JSON value: %v", flag, err)
	}
	if err := noKeyTwice([]byte(text)); err != nil {
		return nil, usagef("%s: %v", flag, err)
	}
	return bytes.TrimSpace([]byte(text)), nil
}
