package main

import (
	"encoding/json"
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

// What a call returned comes first, and remarks after it.
func TestCallResultBeforeRemarks(t *testing.T) {
	for want, c := range map[string]viewer.Call{
		`"ok"`: {Result: json.RawMessage(`"ok"`)},
		`"ok"; before that it was begun at 03:15:09 UTC without a result, run again by ana`: {Result: json.RawMessage(`"ok"`),
			Before: []viewer.Attempt{{Why: "was begun at 03:15:09 UTC without a result, run again by ana"}}},
		`"ch_81"; an operator said what it returned: seen in the log`: {Result: json.RawMessage(`"ch_81"`), Why: "an operator said what it returned: seen in the log"},
		"error: 503":                 {Error: "503", Why: "503"},
		"it may or may not have run": {Why: "it may or may not have run"},
		"-":                          {},
	} {
		if got := callResult(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
