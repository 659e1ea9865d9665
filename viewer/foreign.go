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

// What only stores of our own formats can do, and what to do with runs of teff's instead.
const (
	deleting      = "deleting runs"
	recoveringAll = "recovering all runs"
	working       = "a worker"
)

var insteadForeign = map[string]string{
	deleting:      "teff deletes its runs itself, with delete and cleanup of its checkpointer",
	recoveringAll: "a row does not tell whether a process of teff's works on its run: find out, then bring runs on one at a time with flowtui recover STORE RUN --flow FILE",
	working:       "teff has no leases, so two workers would run a node twice: bring runs on one at a time with flowtui recover STORE RUN --flow FILE",
}

// ours refuses what only stores of our own formats can do.
func (a *attachment) ours(what string) error {
	if !a.format.Unsigned {
		return nil
	}
	return Problem{Code: codeRefused, Message: what + " is for stores of flowtui: this is one of teff", Hint: insteadForeign[what]}
}

// Deletes is why no run of the first store can be deleted, whichever it is.
func (s *Service) Deletes() error { return s.oursOnly(deleting) }

// Works is why the first store takes no worker, whatever its flows.
func (s *Service) Works() error { return s.oursOnly(working) }

func (s *Service) oursOnly(what string) error {
	a, err := s.attached("")
	if err != nil {
		return err
	}
	return a.ours(what)
}

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
		return "its row cannot be read: " + f.reason, "look at the row itself: nothing is changed from here"
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
		return text, "answer the run that it is nested in, " + r.Outermost + ": the answer is handed down"
	}
	next := "answer it"
	if f.noWorkflow {
		next = "give its workflow with --flow FILE, then answer it"
	}
	return text, next
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
	if f.noWorkflow {
		next += "; that takes its workflow, given with --flow FILE"
	}
	if f.foreign.Parent != "" {
		next = "look at the run that it is nested in, " + f.foreign.Outermost + ", which goes on with it"
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
		return c, s.absent(ctx, a, k, err)
	case row.Bad != "":
		c.all = []Finding{{k.Owner, k.Run, engine.RecordCheckpoint, row.Step, 0, Unreadable, "its row cannot be read: " + row.Bad}}
	}
	return c, nil
}

// showForeign adds what only foreign runs have.
func (s *Service) showForeign(ctx context.Context, g glimpse, d *Detail) (err error) {
	if g.foreign == nil {
		return nil
	}
	nodesBetween(d.History)
	s.sayWanted(ctx, g.at, g, d.Waiting)
	d.Nested, err = s.nested(ctx, g.at, g.head.Key, g.foreign.Children)
	g.at.mu.Lock()
	format := g.at.info.Format
	g.at.mu.Unlock()
	d.Notes = notesOn(d.Row, d.Nested, d.History, format)
	return err
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

// nodesBetween tells which node ran to reach each step: a row names the node
// that is run next, and every iteration is one node.
func nodesBetween(history []HistoryStep) {
	for i := 1; i < len(history); i++ {
		if before := history[i-1]; before.Step == history[i].Step-1 && len(before.At) == 1 {
			history[i].Nodes = []NodeRun{{Node: before.At[0]}}
		}
	}
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
	runs := true
	switch {
	case f.status == unreadable:
	case f.paused():
		v.Action = engine.PlanResume
		if v.Review, runs, err = s.reviewForeign(ctx, a, k, f); err != nil {
			return Plan{}, err
		}
	case f.running():
		v.Action = engine.PlanRecover
		if runs, err = s.recovers(ctx, a, k, f); err != nil {
			return Plan{}, err
		}
		v.Claims = "nothing is claimed: this format has no leases, and two processes that run it both execute it"
		v.Then = "runs " + f.at[0] + " again, which may happen twice: this format has no log of calls; then goes on as " + s.workflowOf(f).called() + " says"
	}
	v.Blocked, v.Hint = s.blockedForeign(f, runs)
	return v, nil
}

func foreignVersion(h stores.Head) string { return hex.EncodeToString(h.Prev) }

// blockedForeign is why the plan's action would be refused. runs says that the run
// need not come to what the engine lacks.
func (s *Service) blockedForeign(f facts, runs bool) (*string, string) {
	action := Recover
	if f.paused() {
		action = Answer
	}
	why, hint := "", ""
	if why, _ = f.foreignRefusal(action); why == "" {
		w := s.workflowOf(f)
		var p Problem
		switch {
		case w.err != nil:
			p = explain(w.err)
		case w.unsupported != nil && !runs:
			p = explain(w.unsupported)
			p.Hint = "let teff itself run it on"
			if action == Answer && !s.o.NoCommand {
				p.Hint += storeOnly
			}
		default:
			return nil, ""
		}
		why, hint = p.Message, p.Hint
	}
	return &why, hint
}

// reviewForeign is the question of a paused run, and what each answer does. runs
// says that one of them can be run on here.
func (s *Service) reviewForeign(ctx context.Context, a *attachment, k stores.Key, f facts) (list []ReviewEntry, runs bool, err error) {
	e := ReviewEntry{Waiting: f.waiting[0], Text: f.waiting[0].Prompt, Since: f.updated.UTC()}
	e.IfYes = fmt.Sprintf("the answer is put into the state as %q without a check, and the run goes on behind %s", e.Key, nameOr(e.Node, "the node that asks"))
	if f.foreign.Nested != "" {
		e.IfYes = fmt.Sprintf("%s runs again and hands the answer down to the nested run %s", nameOr(e.Node, "the node that asks"), f.foreign.Nested)
	}
	w := s.workflowOf(f)
	if w.err != nil || f.foreign.Parent != "" {
		return []ReviewEntry{e}, false, nil
	}
	runner := &teff.Runner{Workflow: w.Workflow, Store: rowsOf(a, k.Owner), Now: s.o.Clock}
	choices, err := runner.Choices(ctx, originalID(Ref{Run: k.Run}, k, f))
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if err != nil { // what stands against answering is told when that is tried
		e.IfYes += "; what follows cannot be foretold: " + err.Error()
		return []ReviewEntry{e}, false, nil
	}
	runs = slices.ContainsFunc(choices, func(c teff.Choice) bool { return c.Preview.Outcome != nil })
	e.IfYes = foretold(choices) + "; as " + w.called() + " says"
	return []ReviewEntry{e}, runs, nil
}

// foreignRefusal is why the run's own row stands against an action, with the
// code of the problem, "" for nothing.
func (f facts) foreignRefusal(a Action) (why, code string) {
	switch {
	case a == Approve || a == Deny:
		return "this format has no approvals", codeRefused
	case a == Resolve:
		return "this format has no call log", codeRefused
	case f.status == unreadable:
		return "its row cannot be read: " + f.reason, codeCorrupt
	case f.final() && a == Recover:
		return "it has ended, it is completed: running it again runs nothing", codeConflict
	case f.paused() && a == Recover:
		return "it is paused: an answer brings it on", codeConflict
	case !f.paused() && a == Answer:
		return "it asks nothing: teff would ignore an answer", codeConflict
	case f.refusals.write != "":
		return f.refusals.write, codeRefused
	case f.foreign.Parent != "":
		return "it is a nested run: act on the run that it is nested in, " + f.foreign.Outermost, codeRefused
	}
	return "", ""
}

// offersForeign lists what can be done to a run of teff's, and why not.
func offersForeign(f facts) []Offer {
	title, target := "answer", ""
	if len(f.waiting) > 0 {
		title, target = "answer "+nameOr(f.waiting[0].Key, f.waiting[0].ID), f.waiting[0].ID
	}
	list := []Offer{
		{Action: Answer, Target: target, Title: title, StoreOnly: f.unsupported != ""},
		{Action: Recover, Title: "recover"}, {Action: Approve, Title: "approve"}, {Action: Deny, Title: "deny"}, {Action: Resolve, Title: "resolve"},
	}
	for i := range list {
		o := &list[i]
		if o.Disabled, _ = f.foreignRefusal(o.Action); o.Disabled == "" {
			o.Disabled = f.refusals.flow
		}
		if o.Disabled == "" && o.Action == Recover {
			o.Disabled = f.unsupported
		}
	}
	return list
}
