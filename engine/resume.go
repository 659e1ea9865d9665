package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// Decide is what a person decided about one thing that a paused run waits for.
type Decide struct {
	Type     string          // DecideApprove, DecideDeny or DecideAnswer
	ID       string          // of the approval or interrupt, or the interrupt's key; "" when only one fits
	Value    json.RawMessage // of an answer, exactly as it is to land in the state
	By       string
	Note     string
	Version  string          // Plan.Version that was seen; "" for none
	Identity stores.Identity // of the run, if it is given; who decides is By
	// Strict refuses an answer that the question says would not pass, see [Want].
	// Where there are choices, each of them is taken.
	Strict bool
	// Unchecked takes an answer that is none of the question's choices: the flow
	// judges it. Without it such an answer is refused, whoever asks.
	Unchecked bool
}

// Resume stores a decision with the run's next checkpoint, so that one resume
// wins that step, and then works on until the run is done, failed or paused.
func (r *Runner) Resume(ctx context.Context, f *Flow, k stores.Key, d Decide) (Result, error) {
	return r.resume(ctx, f, k, []Decide{d})
}

func (r *Runner) resume(ctx context.Context, f *Flow, k stores.Key, ds []Decide) (Result, error) {
	g, err := f.compile()
	if err != nil {
		return Result{}, err
	}
	if _, _, _, err := r.decidable(ctx, k, ds, g); err != nil {
		return Result{}, err // before anything is written
	}
	held, err := r.hold(ctx, k, false, actingHint)
	if err != nil {
		return Result{}, err
	}
	defer held.release()
	s, _, err := r.decide(held.ctx, k, ds, g)
	if err != nil {
		return Result{}, takenOver(held.ctx, k, err)
	}
	return s.drive(held.ctx)
}

// Record stores a decision and runs nothing: a worker or a recovery spends it.
// While the run waits for something else too, it stays paused.
func (r *Runner) Record(ctx context.Context, k stores.Key, d Decide) (Result, error) {
	s, q, err := r.decide(ctx, k, []Decide{d}, nil)
	if err != nil {
		return Result{}, err
	}
	res := s.result(q.status, q)
	res.Recorded = true
	return res, nil
}

func invalid(k stores.Key, format string, args ...any) error {
	return &Error{Class: ErrInvalid, Key: k, Reason: fmt.Sprintf(format, args...)}
}

// check refuses a decision that could not mean anything.
func (d Decide) check(k stores.Key) error {
	switch d.Type {
	case DecideApprove, DecideDeny, DecideAnswer:
	default:
		return invalid(k, "there is no decision %q", d.Type)
	}
	if d.By == "" {
		return invalid(k, "nobody is named who decides")
	}
	return nil
}

// decide checks that the questions are those that were seen and still open, and
// saves all decisions or none. With a graph the run goes on at once.
func (r *Runner) decide(ctx context.Context, k stores.Key, ds []Decide, g *graph) (*session, saveRequest, error) {
	var none saveRequest
	l, b, about, err := r.decidable(ctx, k, ds, g)
	if err != nil {
		return nil, none, err
	}
	flow := g
	if g == nil {
		g = &graph{Flow: &Flow{name: l.last.Flow, kind: l.last.Kind}, digest: l.last.Digest}
	}
	s, err := r.session(g, l, b)
	if err != nil {
		return nil, none, err
	}
	q := saveRequest{status: stores.StatusRunning, base: s.base}
	rest := slices.Clone(b.Waiting)
	s.decisions = slices.Clone(s.decisions)
	for i, d := range ds {
		w := about[i]
		if d.Value, err = decided(k, d); err != nil {
			return nil, none, err
		}
		s.decisions = slices.DeleteFunc(s.decisions, func(o Decision) bool { // the newest word is the only one
			return o.ID == w.ID && (o.Type == DecideAnswer) == (d.Type == DecideAnswer) // a question may be named like a call
		})
		s.decisions = append(s.decisions, Decision{
			Type: d.Type, ID: w.ID, Key: w.Key, Tool: w.Tool, Asked: l.last.Step, Base: l.last.Base, Digest: w.Digest, Value: d.Value, By: d.By, Note: d.Note, Time: r.clock.now(),
		})
		q.events = append(q.events, newEvent{EventDecision, operatorEvent{
			Action: d.Type, Target: w.ID, By: d.By, Note: d.Note, Plan: d.Version, Unchecked: flow.overridden(k, w, d),
		}})
		rest = slices.DeleteFunc(rest, func(o Waiting) bool { return o.ID == w.ID && o.Type == w.Type })
	}
	if len(rest) > 0 && g.byID == nil {
		q.status, q.waiting = stores.StatusPaused, rest
	}
	return s, q, s.save(ctx, q)
}

// decidable is every check that needs no write. It returns what each decision
// is about.
func (r *Runner) decidable(ctx context.Context, k stores.Key, ds []Decide, g *graph) (*loaded, Checkpoint, []Waiting, error) {
	for _, d := range ds {
		if err := d.check(k); err != nil {
			return nil, Checkpoint{}, nil, err
		}
	}
	l, b, err := r.open(ctx, k)
	if err != nil {
		return nil, b, nil, err
	}
	if g != nil {
		if err := errors.Join(fits(g, l.last), g.fitsState(k, b.State)); err != nil {
			return nil, b, nil, err
		}
	}
	var about []Waiting
	for _, d := range ds {
		w, err := r.decidableOne(ctx, l, b, d, g)
		if err != nil {
			return nil, b, nil, err
		}
		if slices.ContainsFunc(about, func(o Waiting) bool { return o.ID == w.ID }) {
			return nil, b, nil, invalid(k, "%s is decided twice", w.ID)
		}
		about = append(about, w)
	}
	return l, b, about, nil
}

func (r *Runner) decidableOne(ctx context.Context, l *loaded, b Checkpoint, d Decide, g *graph) (Waiting, error) {
	if g != nil || d.Identity != (stores.Identity{}) { // who only records need not be the run's user
		if err := allowed(d.Identity, l.last); err != nil {
			return Waiting{}, err
		}
	}
	w, err := r.question(ctx, l, b, d)
	if err == nil && d.Type == DecideAnswer {
		err = g.answerable(l.key, w, d)
	}
	if err == nil && g != nil {
		err = g.fitsAnswer(l.key, b.State, w, d)
	}
	return w, err
}

// decided is the value that a decision brings, in the form in which it is kept.
func decided(k stores.Key, d Decide) (json.RawMessage, error) {
	if d.Type != DecideAnswer {
		return nil, nil
	}
	v, err := Seal(d.Value)
	if err != nil {
		return nil, &Error{Class: ErrInvalid, Key: k, Reason: "the answer cannot be kept", Err: err}
	}
	return v, nil
}

// question finds what the decision is about, or says who was faster.
func (r *Runner) question(ctx context.Context, l *loaded, b Checkpoint, d Decide) (Waiting, error) {
	if l.last.Status != stores.StatusPaused {
		return Waiting{}, r.lost(ctx, l, d, "it waits for nothing: it is %s at step %d", l.last.Status, l.last.Step)
	}
	if d.Version != "" && d.Version != l.version() {
		return Waiting{}, r.lost(ctx, l, d, "changed since you looked: it is %s at step %d", l.last.Status, l.last.Step)
	}
	typ, name := WaitApproval, "name the one that you mean, with --approval ID"
	if d.Type == DecideAnswer {
		typ, name = WaitInterrupt, "name the one that you mean, with --interrupt KEY or its id"
	}
	var open []Waiting
	var names []string
	for _, w := range b.Waiting {
		if w.Type == typ {
			names = append(names, w.name())
			if d.ID == "" || d.ID == w.ID || typ == WaitInterrupt && d.ID == w.Key {
				open = append(open, w)
			}
		}
	}
	switch {
	case len(open) == 1:
		return open[0], nil
	case len(open) > 1:
		return Waiting{}, &Error{Class: ErrInvalid, Key: l.key, Reason: "it waits for several: " + strings.Join(names, ", "), Hint: name}
	case len(names) == 0:
		return Waiting{}, r.lost(ctx, l, d, "it waits for no %s", typ)
	}
	return Waiting{}, r.lost(ctx, l, d, "it does not wait for %q, only for %s", d.ID, strings.Join(names, ", "))
}

// name is how a person is told what is asked: the id, and the key of an interrupt.
func (w Waiting) name() string {
	if w.Key == "" {
		return w.ID
	}
	return fmt.Sprintf("%s (%s)", w.ID, w.Key)
}

// answerable refuses an answer that would not pass; g is nil where the flow is not.
func (g *graph) answerable(k stores.Key, w Waiting, d Decide) error {
	raw, err := decided(k, d)
	if err != nil {
		return err
	}
	v, err := DecodeValue(raw)
	if err != nil {
		return err
	}
	if d.Strict && len(w.Choices) == 0 {
		if err := g.refuses(k, w, raw, v); err != nil {
			return err
		}
	}
	if text, ok := v.(string); !d.Unchecked && len(w.Choices) > 0 && (!ok || !slices.Contains(w.Choices, text)) {
		return &Error{Class: ErrUnwanted, Key: k, Reason: fmt.Sprintf("%s is not one of the choices: %s", d.Value, strings.Join(w.Choices, ", ")),
			Hint: "answer with one of them, or with --unchecked; nothing was saved"}
	}
	return nil
}

// overridden reports whether an answer was sent although it would not pass.
func (g *graph) overridden(k stores.Key, w Waiting, d Decide) bool {
	strict := d
	strict.Strict, strict.Unchecked = true, false
	return d.Type == DecideAnswer && d.Unchecked && g.answerable(k, w, strict) != nil
}

// refuses judges an answer as the flow will, by the question where the flow is
// not. What neither can tell is refused.
func (g *graph) refuses(k stores.Key, w Waiting, raw json.RawMessage, answer any) error {
	unwanted := func(reason, hint string, err error) error {
		return &Error{Class: ErrUnwanted, Key: k, Reason: reason, Err: err, Hint: hint + "; nothing was saved"}
	}
	var byFlow func(any) error
	if g != nil {
		_, n := g.at(w.Node)
		if i, ok := n.(Interrupt); ok {
			byFlow = i.Refuses
		}
	}
	err := w.Want.Refuses(raw)
	switch {
	case byFlow != nil:
		err = byFlow(answer)
	case w.Want == nil || !w.Want.ByFlow:
	case g == nil:
		return unwanted("only the flow can tell whether the answer passes, wanted is "+w.Want.String(), "answer where the flow is and let it run on, or with --unchecked", nil)
	default:
		return unwanted("the flow no longer tells whether the answer passes, wanted is "+w.Want.String(), "answer with the flow that asked, or with --unchecked", nil)
	}
	if err != nil {
		return unwanted("the answer would not pass", "answer as wanted, or with --unchecked", err)
	}
	return nil
}

// lost says what is there instead, and who decided when.
func (r *Runner) lost(ctx context.Context, l *loaded, d Decide, format string, args ...any) error {
	reason := fmt.Sprintf(format, args...) + lastDecision(ctx, r.store, r.keys, l.key, l.events.N, d.ID)
	return conflict(l.key, "look at it again before you act", "%s", reason)
}

// Resolution is what an operator found out about a call in doubt.
type Resolution struct {
	Call    string          // id, as in Plan
	Result  json.RawMessage // it ran, and this was the result
	NotRun  bool            // it did not run
	By      string          // required
	Note    string
	Version string // Plan.Version that was seen; "" for none
	// Takeover resolves also while a lease is live: the call may still be running.
	Takeover bool
}

// Resolve records what happened to a call in doubt. Nothing is run; a recovery
// then replays the result, or runs the call.
func (r *Runner) Resolve(ctx context.Context, k stores.Key, res Resolution) error {
	switch {
	case res.By == "":
		return invalid(k, "nobody is named who resolves it")
	case res.NotRun == (res.Result != nil):
		return invalid(k, "say either that the call did not run, or what its result was")
	}
	for try := 1; ; try++ {
		err := r.resolve(ctx, k, res)
		// Somebody appended to the call log in between: look again what it says now.
		if !errors.Is(err, stores.ErrConflict) || errors.Is(err, ErrCheckpointConflict) || try == 5 {
			return err
		}
	}
}

func (r *Runner) resolve(ctx context.Context, k stores.Key, res Resolution) error {
	l, _, err := r.open(ctx, k)
	if err != nil {
		return err
	}
	c, err := r.doubtfulCall(ctx, l, res)
	if err != nil {
		return err
	}
	if !res.NotRun {
		if res.Result, err = Seal(res.Result); err != nil {
			return &Error{Class: ErrInvalid, Key: k, Reason: "the result cannot be kept", Err: err}
		}
	}
	tail := l.tails[c.Segment]
	p := pendingCall{base: c.Step, node: c.Node, ordinal: c.Ordinal, status: stores.CallResolved}
	p.tool.Name, p.tool.Idempotent = c.Tool, c.Idempotent
	p.body = callBody{Digest: c.Digest, Result: res.Result, NotRun: res.NotRun, By: res.By, Note: res.Note, Event: l.events.N + 1}
	now := r.clock.now()
	rows, err := chainCalls(r, l.place(), c.Segment, tail.N, tail.MAC, []pendingCall{p}, now)
	if err != nil {
		return err
	}
	events, err := chainEvents(r, l.place(), l.last.Step, l.events.N, l.events.MAC, []newEvent{{EventResolved, operatorEvent{
		Action: "resolve", Target: c.ID, By: res.By, Note: res.Note, Plan: res.Version, Segment: c.Segment, Record: rows[0].N,
	}}}, now)
	if err != nil {
		return err
	}
	if err := r.store.RecordCall(ctx, stores.CallWrite{Call: rows[0], Events: events}); err != nil {
		s := &session{r: r, place: l.place(), segment: c.Segment}
		if !s.logged(ctx, rows[0], err) {
			return err
		}
	}
	for _, e := range events {
		r.sink(e)
	}
	return nil
}

func (r *Runner) doubtfulCall(ctx context.Context, l *loaded, res Resolution) (CallInfo, error) {
	if res.Version != "" && res.Version != l.version() {
		return CallInfo{}, r.lost(ctx, l, Decide{ID: res.Call}, "changed since you looked: it is %s at step %d", l.last.Status, l.last.Step)
	}
	lease, err := liveLease(ctx, r.store, l.key)
	if err != nil {
		return CallInfo{}, err
	}
	if lease != nil && !res.Takeover {
		return CallInfo{}, conflict(l.key, "wait until it has finished, or until its lease expires", "%s is working on it, until %s unless that is renewed: the call may still be running",
			lease.Holder, r.clockTime(lease.Expires))
	}
	var names []string
	for _, c := range FoldCalls(l.current()) {
		switch {
		case c.Open() && l.last.Status == stores.StatusRunning:
			names = append(names, c.ID)
			if c.ID == res.Call {
				return c, nil
			}
		case c.ID == res.Call:
			return CallInfo{}, r.lost(ctx, l, Decide{ID: res.Call}, "call %s is not in doubt: it is %s", c.ID, c.Status)
		}
	}
	hint := "no call of this run is in doubt"
	if len(names) > 0 {
		hint = "in doubt: " + strings.Join(names, ", ")
	}
	return CallInfo{}, &Error{Class: ErrCheckpointNotFound, Key: l.key, Reason: fmt.Sprintf("there is no call %q in the current superstep", res.Call), Hint: hint}
}
