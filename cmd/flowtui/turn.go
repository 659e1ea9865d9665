package main

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/flowtui/flowtui/viewer"
)

// sayTurns says of runs that wait for the next message, and show no reply that it
// would answer, how the turn before ended: it failed, or gave no reply. A list
// entry does not tell, the state does.
func (s *session) sayTurns(ctx context.Context, rows ...*viewer.Row) {
	for _, r := range rows {
		if len(r.Waiting) == 0 || !unanswered(r.Waiting[0]) || r.Verdict.Bad() {
			continue
		}
		v, err := s.State(ctx, viewer.Ref{Store: r.Store, Owner: r.Owner, Run: r.Run}, -1, false)
		if err != nil || v.Step != r.Step { // it goes on already
			continue
		}
		r.Waiting = slices.Clone(r.Waiting)
		r.Waiting[0].Why = turnEnd(v.JSON)
	}
}

// unanswered reports the question for the next message that shows no reply.
func unanswered(w viewer.Waiting) bool { return w.Turn && w.Prompt == "" }

// turnEnd is how a turn without a reply ended, by the state that it left.
func turnEnd(state json.RawMessage) string {
	var s struct{ Error json.RawMessage }
	var failed struct {
		Node, Message string
		Ended         bool `json:"ended_turn"`
	}
	if json.Unmarshal(state, &s) != nil || json.Unmarshal(s.Error, &failed) != nil || !failed.Ended {
		return "the turn gave no reply"
	}
	if failed.Node == "" {
		return "the turn failed: " + failed.Message
	}
	return "the turn failed at " + failed.Node + ": " + failed.Message
}
