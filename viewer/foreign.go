package viewer

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/stores"
)

// Foreign runs are those of other programs. Their rows are unsigned, and mean
// what the other program says; here they become what the rest of this package
// knows: a head's and a checkpoint's body.

// decodeHead reads a head's payload. row is set for a run of teff's.
func decodeHead(h stores.Head) (body engine.HeadBody, row *teff.Row, err error) {
	if h.Kind != teff.Kind {
		body, err = engine.DecodeHead(h)
		return body, nil, err
	}
	if h.Bad != "" {
		return body, &teff.Row{}, fmt.Errorf("row is unreadable: %s", h.Bad)
	}
	r, err := teff.ReadRow(h.Payload)
	return engine.HeadBody{At: atOf(r), Waiting: waitingIn(r)}, &r, err
}

// decodeCheckpoint reads a checkpoint's payload.
func decodeCheckpoint(c stores.Checkpoint) (engine.Checkpoint, error) {
	if c.Kind != teff.Kind {
		return engine.DecodeCheckpoint(c)
	}
	if c.Bad != "" {
		return engine.Checkpoint{}, fmt.Errorf("row is unreadable: %s", c.Bad)
	}
	r, err := teff.ReadRow(c.Payload)
	if err != nil {
		return engine.Checkpoint{}, err
	}
	state, err := teff.State(c.Payload)
	return engine.Checkpoint{State: state, Frontier: atOf(r), Waiting: waitingIn(r)}, err
}

func atOf(r teff.Row) []string {
	if r.Next == nil {
		return nil
	}
	return []string{*r.Next}
}

// waitingIn is what a paused row asks. Its id names the node and the iteration,
// so that an answer to one round is not taken for the next.
func waitingIn(r teff.Row) []engine.Waiting {
	if r.Status != teff.Paused {
		return nil
	}
	return []engine.Waiting{{
		Type: engine.WaitInterrupt, ID: fmt.Sprintf("%s.%d", r.Node, r.Iteration), Node: r.Node, Key: r.Key, Prompt: r.Prompt,
	}}
}

// whyForeign is why and next of a run of teff's.
func whyForeign(f facts) (string, string) {
	switch {
	case f.status == unreadable:
		return "its row cannot be read: " + f.reason, "look at the row itself: teff cannot read it either, and nothing is changed from here"
	case f.paused():
		return whyAsked(f)
	case f.running():
		return whyUnfinished(f)
	}
	return "it is completed", ""
}

func whyAsked(f facts) (string, string) {
	r := f.foreign
	text := fmt.Sprintf("%s asks %q", nameOr(r.Node, "a node"), clip(masked(nameOr(r.Prompt, r.Key)), 120))
	if r.Nested != "" {
		text = fmt.Sprintf("%s asks %q inside the nested run %s", nameOr(r.Node, "a node"), clip(masked(nameOr(r.Prompt, r.Key)), 120), r.Nested)
	}
	if r.Parent != "" {
		return text, "answer its parent, " + r.Parent + ": the answer is handed down"
	}
	return text, "answer it"
}

// whyUnfinished says that a row does not tell a run at work from one that died.
func whyUnfinished(f facts) (string, string) {
	text := fmt.Sprintf("unfinished at %s: this store does not tell whether a process works on it or it crashed", nameOr(strings.Join(f.at, ", "), "nothing"))
	switch silent := f.now.Sub(f.updated); {
	case f.updated.IsZero():
		text += "; when it was saved is not known"
	case silent < -quiet:
		text += fmt.Sprintf("; it was saved %s in the future, so clocks differ", age(f.updated, f.now))
	default:
		text += fmt.Sprintf("; saved %s ago, at %s", age(f.now, f.updated), timeOf(f.now, f.updated))
	}
	next := "find out whether its process lives; if not, running it again starts with " + nameOr(strings.Join(f.at, ", "), "nothing") + ", which then may run a second time"
	if f.foreign.Parent != "" {
		next = "look at its parent, " + f.foreign.Parent + ", which goes on with it"
	}
	return text, next
}

// inspectForeign is all that can be checked of an unsigned run: whether its
// row can be read.
func (s *Service) inspectForeign(ctx context.Context, a *attachment, k stores.Key) (checked, error) {
	c := checked{verdict: Unsigned, at: s.now()}
	row, err := a.store.Latest(ctx, k)
	switch {
	case damaged(err):
		c.all = unreadableRows(k, 0, err).all
	case err != nil:
		return c, err
	case row.Bad != "":
		c.all = []Finding{{k.Owner, k.Run, engine.RecordCheckpoint, row.Step, 0, Unreadable, "its row cannot be read: " + row.Bad}}
	}
	return c, nil
}

// nested are the rows of the runs below one, for showing them under it.
func (s *Service) nested(ctx context.Context, a *attachment, k stores.Key, children []string) ([]Row, error) {
	var rows []Row
	for _, id := range children {
		g, err := s.glimpse(ctx, a, stores.Key{Owner: k.Owner, Run: id})
		if damaged(err) || err != nil && s.absent(ctx, a, k, err) == nil {
			continue // gone meanwhile
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, s.row(g))
	}
	return rows, nil
}

// notesOn are what a reader of the run's rows has to know of the format, one
// sentence each.
func notesOn(r Row, nested []Row, history []HistoryStep, format string) []string {
	var list []string
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if teff.Nests(r.Run) && r.Parent == "" {
		add("its id is built like that of a nested run, but no run above it is in this store: it may be one that was left over, or just be named so")
	}
	for _, n := range nested {
		switch {
		case n.Parent != r.Run:
		case r.Native == teff.Completed:
			add("the nested run %s was left over when this run went on without it: if its node is entered again, it is resumed instead of started anew", n.Run)
		case n.Native == teff.Paused && r.Native == teff.Unfinished:
			add("the nested run %s is paused and this run does not know it yet: the next run of it pauses properly, only an answer after that counts", n.Run)
		}
	}
	if r.Native == teff.Completed && r.Step == 0 {
		add("completed at iteration 0: a flow without steps, or the state that a daemon of teff keeps")
	}
	if i := slices.IndexFunc(history, func(h HistoryStep) bool { return h.Step > r.Step }); i >= 0 {
		add("steps from %d on are left from an earlier, longer turn; of the steps before, which turn they are of cannot be told", history[i].Step)
	}
	if format == "teff JSON files" && strings.Contains(r.Owner+r.Run, "_") {
		add("in files, teff writes / as _ in ids, and / and . as _ in owners: ids and owners that differ only in that are this same run")
	}
	return list
}

// planForeign is the plan of a run of teff's.
func (s *Service) planForeign(ctx context.Context, a *attachment, k stores.Key) (Plan, error) {
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return Plan{}, err
	}
	f := s.facts(g)
	v := Plan{
		Run: k.Run, Action: engine.PlanNone, Version: foreignVersion(g.head), Row: s.row(g),
		Replay: []Call{}, Rerun: []Call{}, Runs: []Call{}, InDoubt: []Call{},
	}
	switch {
	case f.status == unreadable:
	case f.paused():
		v.Action, v.Review = engine.PlanResume, reviewForeign(f)
	case f.running():
		v.Action = engine.PlanRecover
		v.Claims = "nothing is claimed: this format has no leases, and two processes that run it both execute it"
		v.Then = "runs " + f.at[0] + " again, then goes on as its flow says"
	}
	v.Blocked, v.Hint = s.blockedForeign(f)
	return v, nil
}

func foreignVersion(h stores.Head) string { return hex.EncodeToString(h.Prev) }

func (s *Service) blockedForeign(f facts) (*string, string) {
	why, hint := "", ""
	switch {
	case f.status == unreadable:
		why = "its row cannot be read: " + f.reason
	case f.final():
		why = "it is completed: running it again saves the same row and runs nothing"
	case f.refusals.write != "":
		why, hint = f.refusals.write, "open it where it can be written"
	case f.foreign.Parent != "":
		why, hint = "it is a nested run", "act on its parent, "+f.foreign.Parent
	default:
		why, hint = "runs of teff are only read by this version", "answer or run it with teff"
	}
	return &why, hint
}

// reviewForeign is the question of a paused run.
func reviewForeign(f facts) []ReviewEntry {
	var list []ReviewEntry
	for _, w := range f.waiting {
		e := ReviewEntry{Waiting: w, Since: f.updated.UTC()}
		e.IfYes = fmt.Sprintf("the answer is put into the state as %s, without a check, and the run goes on behind %s", nameOr(w.Key, `""`), nameOr(w.Node, "the node that asks"))
		if f.foreign.Nested != "" {
			e.IfYes = fmt.Sprintf("%s runs again and hands the answer down to the nested run %s", nameOr(w.Node, "the node that asks"), f.foreign.Nested)
		}
		list = append(list, e)
	}
	return list
}

// offersForeign lists what can be done to a run of teff's, and why not.
func offersForeign(f facts) []Offer {
	why := func(possible bool, otherwise string) string {
		switch {
		case f.status == unreadable:
			return "it cannot be read"
		case !possible:
			return otherwise
		case f.refusals.write != "":
			return f.refusals.write
		case f.foreign.Parent != "":
			return "it is a nested run: act on its parent, " + f.foreign.Parent
		}
		return "runs of teff are only read by this version"
	}
	answer, target := "answer", ""
	if len(f.waiting) > 0 {
		answer, target = "answer "+nameOr(f.waiting[0].Key, f.waiting[0].ID), f.waiting[0].ID
	}
	recovery := "it is paused: an answer brings it on"
	if f.final() {
		recovery = "it has ended, it is completed"
	}
	return []Offer{
		{Action: Answer, Target: target, Title: answer, Disabled: why(f.paused(), "it asks nothing")},
		{Action: Recover, Title: "recover", Disabled: why(f.running(), recovery)},
		{Action: Approve, Title: "approve", Disabled: "this format has no approvals"},
		{Action: Deny, Title: "deny", Disabled: "this format has no approvals"},
		{Action: Resolve, Title: "resolve", Disabled: "this format has no call log"},
	}
}
