package views

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

// readPlan reads the plan to be decided on.
func (s *sheet) readPlan() tea.Cmd {
	s.peek.drop()
	if s.stage == asking {
		s.stage = loading
	}
	return loadPlan(s.env, s.load.ask(s.env), s.row.Ref, s.reveal)
}

// look reads the plan beside the one that is shown, to see whether the run
// changed. What is shown stays as it is.
func (s *sheet) look() tea.Cmd {
	if s.stage != asking || s.gone || s.peek.wait() {
		return nil
	}
	return loadPlan(s.env, s.peek.ask(s.env), s.row.Ref, false)
}

// beat looks again when the plan got old: a worker that dies writes nothing.
func (s *sheet) beat() tea.Cmd {
	if s.cramped { // all of it may have been read meanwhile
		s.arrange()
	}
	asked := s.load.asked
	if s.peek.asked.After(asked) {
		asked = s.peek.asked
	}
	if s.stale != "" || s.peek.busy || !outdated(s.now(), asked, s.plan.Lease) {
		return nil
	}
	return s.look()
}

func (s *sheet) planRead(msg reply[viewer.Plan]) tea.Cmd {
	switch {
	case s.load.take(msg.ticket):
		if s.chain.reading {
			s.openNext(msg)
			break
		}
		s.show(msg)
	case s.peek.take(msg.ticket):
		s.compare(msg)
		if s.peek.again {
			return s.look()
		}
	}
	return nil
}

// show puts a plan on the screen. What was typed stays, as long as it asks the
// same.
func (s *sheet) show(msg reply[viewer.Plan]) {
	s.problem, s.gone, s.unseen = msg.Problem, vanished(msg.Problem), nil
	if s.stage = asking; msg.Problem != nil {
		return
	}
	s.plan, s.row, s.stale = msg.Value, msg.Value.Row, ""
	s.planned, s.revealed = s.now(), s.reveal
	s.guard()
	s.plans++
	s.form.fill(s.plan)
	s.arrange()
}

// compare notes what changed since the plan on the screen was read. What became of
// an action stays on the screen.
func (s *sheet) compare(msg reply[viewer.Plan]) {
	s.unseen = msg.Problem
	s.gone = s.gone || vanished(msg.Problem)
	if msg.Problem == nil {
		if changed := s.difference(msg.Value); changed != "" {
			s.stale = changed
		}
	}
	s.arrange()
}

func conflicts(p *viewer.Problem) bool { return p != nil && p.Code == "conflict" }

func vanished(p *viewer.Problem) bool { return p != nil && p.Code == "not-found" && p.Run != "" }

// difference says what changed since the plan on the screen was read, "" when
// that is nothing.
func (s *sheet) difference(now viewer.Plan) string {
	old := s.plan
	var parts []string
	switch d := now.Decision; {
	case now.Lately != "" && now.Lately != old.Lately:
		parts = append(parts, now.Lately)
	case d != nil && (old.Decision == nil || *d != *old.Decision):
		parts = append(parts, fmt.Sprintf("%s of %s by %s", d.Type, d.ID, d.By))
	}
	if old.Row.Status != now.Row.Status {
		parts = append(parts, "now "+now.Row.Status)
	}
	if old.Row.Step != now.Row.Step || old.Row.Segment != now.Row.Segment {
		parts = append(parts, "now at "+progressOf(now.Row))
	}
	if len(old.Review) != len(now.Review) {
		parts = append(parts, open(len(now.Review)))
	}
	if held := holder(now.Lease, s.now()); held != holder(old.Lease, s.planned) {
		if held == "" {
			held = "nobody"
		}
		parts = append(parts, held+" holds the run now")
	}
	switch {
	case len(parts) > 0:
	case old.Version != now.Version:
		parts = []string{"the run was written to"}
	case !s.revealed && forecast(old) != forecast(now): // what this look reads is masked
		parts = []string{"what it leads to is another now"}
	}
	return strings.Join(parts, ", ")
}

// forecast is all that a plan says of what follows: a flow that is read anew changes
// that of a run that nobody wrote to.
func forecast(p viewer.Plan) string {
	said := []string{p.Claims, p.Then}
	for _, e := range p.Review {
		said = append(said, e.ID, e.IfYes, e.IfNo)
	}
	return strings.Join(said, "\n")
}

func open(n int) string {
	if n == 0 {
		return "nothing is open now"
	}
	return fmt.Sprintf("%d open now", n)
}

// holder is who works on a run at a time, "" when nobody does.
func holder(l *viewer.Lease, at time.Time) string {
	if l == nil || !l.Expires.After(at) {
		return ""
	}
	return l.Holder
}

// confirm does what the sheet is about, or says why it cannot.
func (s *sheet) confirm() tea.Cmd {
	if why := s.refusal(); why != "" {
		return notice(why, theme.Attention)
	}
	if s.unnamed() {
		return nil
	}
	s.problem, s.unseen, s.progress, s.outcome = nil, nil, nil, viewer.Outcome{}
	s.stage = running
	s.peek.drop() // it is of before
	s.action, s.decision = s.load.ask(s.env), s.form.chosen()
	r := s.request()
	s.sent = s.inWords(r)
	do, stages := act(s.env, s.action, s.row.Run, r)
	return tea.Batch(do, stages)
}

// request is what would be sent now.
func (s *sheet) request() viewer.Request {
	r := s.form.request()
	r.Ref, r.Version = s.row.Ref, s.plan.Version
	r.NoRun = s.offer(r).StoreOnly
	return r
}

// offer is what the plan's run offers for the request.
func (s *sheet) offer(r viewer.Request) viewer.Offer {
	for _, o := range s.plan.Row.Actions {
		if o.Action == r.Action && o.Target == r.Target {
			return o
		}
	}
	return viewer.Offer{}
}

// refusal is why the action cannot be confirmed now, "" when it can.
func (s *sheet) refusal() string { return s.refuses(s.pane.Read()) }

// refuses is why the action could not be confirmed if the text was read or not.
func (s *sheet) refuses(read bool) string {
	switch {
	case s.stage == loading:
		return "the plan is still being read"
	case s.stage != asking:
		return "it is under way"
	case s.gone:
		return "the run is gone: nothing can be done"
	case s.plan.Version == "" && s.plan.Action == "", s.hides():
		return "there is no plan: r reads again"
	case s.stale != "":
		return "changed since you looked: r reads again"
	}
	if !s.cramped && !s.fits(s.inputs()) {
		return tooLow
	}
	offer := s.offer(s.form.request())
	switch {
	case offer.Disabled != "" && !s.form.overrides():
		return offer.Disabled
	case s.plan.Blocked != nil && !s.form.overrides() && !offer.StoreOnly && !s.form.request().RerunInDoubt:
		return *s.plan.Blocked
	}
	switch why := s.form.refusal(); {
	case why != "" || read && !s.cramped || !s.form.decides():
		return why
	case s.pane.Height() == 0:
		return tooLow
	}
	return unread
}

// unread is why nothing can be decided before all of what is decided on was on
// the screen.
const unread = "read to the end first"

// tooLow is why nothing can be decided while not all of what is asked is shown.
const tooLow = "the window is too low to show it"

func (s *sheet) advanced(msg progressMsg) tea.Cmd {
	if msg.ticket != s.action {
		return nil
	}
	s.progress = append(s.progress, msg.Progress)
	s.arrange()
	return nextStage(msg.ticket, msg.more)
}

// finished tells what became of the action. When it failed, all that was typed
// is still there.
func (s *sheet) finished(msg outcomeMsg) tea.Cmd {
	if msg.ticket != s.action {
		return nil
	}
	defer s.arrange()
	s.guard()
	s.outcome, s.problem = msg.Outcome, msg.Problem
	s.stage = ended
	if msg.Problem != nil {
		s.stage = asking
		s.progress = nil
		s.gone = vanished(msg.Problem)
		s.form.refused(*msg.Problem)
		if conflicts(msg.Problem) {
			s.stale = "see above"
		}
		return nil
	}
	return s.goOn()
}
