package views

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
)

// chain is what is open side by side with what a sheet decides: the other calls
// in doubt of the run, or the other approvals and questions of its superstep.
// The sheet goes from one to the next.
type chain struct {
	decided []opening // in this sheet
	open    []opening // when the last one was decided
	reading bool      // whether these still are
	before  string    // what became of the one before
}

// opening is one open thing: one of the same id that asks something else is
// another one.
type opening struct{ kind, id, digest string }

func openingOf(e viewer.ReviewEntry) opening { return opening{e.Type, e.ID, e.Digest} }

func (o opening) action() viewer.Action {
	switch o.kind {
	case viewer.WaitInterrupt:
		return viewer.Answer
	case viewer.WaitInDoubt:
		return viewer.Resolve
	}
	return viewer.Approve
}

// beside is what is open in the plan together with one of the kind.
func (c *chain) beside(plan viewer.Plan, kind string) []opening {
	var open []opening
	for _, e := range plan.Review {
		o := openingOf(e)
		together := (o.kind == viewer.WaitInDoubt) == (kind == viewer.WaitInDoubt)
		if together && !slices.Contains(c.decided, o) {
			open = append(open, o)
		}
	}
	return open
}

// next is the first of those that were open that still is in the plan.
func (c *chain) next(plan viewer.Plan) (opening, bool) {
	for _, o := range c.open {
		if slices.Contains(c.beside(plan, o.kind), o) {
			return o, true
		}
	}
	return opening{}, false
}

// title names what the sheet asks, and which of how many that is.
func (s *sheet) title() string {
	title := s.form.title(s.row)
	on := s.form.chosen()
	if on == (opening{}) || s.stage == ended {
		return title
	}
	if all := len(s.chain.decided) + len(s.chain.beside(s.plan, on.kind)); all > 1 {
		title = fmt.Sprintf("%d of %d: %s", len(s.chain.decided)+1, all, title)
	}
	return title
}

// goOn reads what is still open after a decision, to ask for the next.
func (s *sheet) goOn() tea.Cmd {
	c := &s.chain
	if s.decision == (opening{}) {
		return nil
	}
	c.decided = append(c.decided, s.decision)
	if c.open = c.beside(s.plan, s.decision.kind); len(c.open) == 0 || s.outcome.Unused {
		return nil
	}
	c.reading = true
	return loadPlan(s.env, s.load.ask(s.env), s.row.Ref, s.reveal)
}

// openNext makes this the sheet of the next open thing, as if it was opened now:
// no key that was pressed before counts in it. Without one, or when the run
// cannot be read, what became of the last one stays on the screen.
func (s *sheet) openNext(msg reply[viewer.Plan]) {
	s.chain.reading = false
	next, ok := s.chain.next(msg.Value)
	if msg.Problem != nil || !ok {
		return
	}
	s.form = newForm(s.env, next.action(), target{next.id, next.digest})
	s.form.alone()
	s.opened, s.action, s.chain.before = s.now(), ticket{}, s.outcome.Outcome
	if id := s.decision.id; !strings.Contains(s.chain.before, id) {
		s.chain.before = id + ": " + s.chain.before
	}
	s.progress, s.outcome = nil, viewer.Outcome{}
	s.show(msg)
}
