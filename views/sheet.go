package views

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

const (
	// openGrace is how long a sheet that was just opened ignores keys: they
	// were meant for what was there before.
	openGrace = 250 * time.Millisecond
	// grace is how long nothing may be typed before enter acts, after the sheet
	// came to ask something else than before. It is longer than the pause after
	// which a key that is held down comes again.
	grace = 700 * time.Millisecond
)

// stage is how far a sheet is.
type stage int

const (
	loading stage = iota // the plan is being read
	asking               // the plan is shown, a decision can be made
	running              // the action is under way
	ended                // the action is done
)

// sheet asks for one action on one run: it shows the plan, takes what is
// needed, and tells what became of it. It belongs to exactly the run that it
// was opened for, and confirms exactly the version that it shows.
type sheet struct {
	*env
	row    viewer.Row // as it was when the sheet was opened
	form   form
	stage  stage
	plan   viewer.Plan
	reveal bool

	load, peek slot
	action     ticket  // of the action under way
	decision   opening // that it decides
	chain      chain

	stale    string          // what changed since the plan was read
	gone     bool            // the run is not there any more
	problem  *viewer.Problem // what went wrong with what was asked for
	unseen   *viewer.Problem // why the last look beside it failed
	progress []viewer.Progress
	outcome  viewer.Outcome
	sent     string // what was decided, in words

	opened, planned time.Time
	calm            time.Time     // before this, enter does nothing
	early           bool          // the last key came before that
	name            *widget.Field // the run id, typed for a production store
	naming          bool          // and it has the focus
	armed           int           // the enter that acts when no other key follows at once
	breaks          int           // new lines of pasted text, not in the field yet
	pane            widget.TextPane
	shown           paneText
	asks            string // title and verb: enter is for what stood there for a while
	drawn           string // what the pane was drawn from
	plans           int    // how many were shown
	revealed        bool   // the plan on the screen shows secrets
	cramped         bool   // there is no room for what is asked beside what has to be read
	hidden          bool   // something is in front, or the window is too small
	width, height   int
}

// paneText tells one text from another: another one has to be read again.
type paneText struct {
	subject, version, forecast string
	revealed                   bool
	reply                      bool
}

// newSheet makes the sheet of an action. With a target it opens on that one of
// several open things. With reveal it shows secrets, as what it was opened from does.
func newSheet(e *env, row viewer.Row, a viewer.Action, on target, reveal bool) Screen {
	s := &sheet{env: e, row: row, form: newForm(e, a, on), reveal: reveal, opened: e.now(), name: widget.NewField(e.styles, maxText, false)}
	s.guard()
	return s
}

// Init reads the plan.
func (s *sheet) Init() tea.Cmd { return s.readPlan() }

// Title implements Screen.
func (s *sheet) Title() string { return s.form.verb() }

// Typing implements Screen.
func (s *sheet) Typing() bool { return s.stage == asking && (s.naming || s.form.typing()) }

// Update implements Screen.
func (s *sheet) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return s.key(msg)
	case reply[viewer.Plan]:
		return s.planRead(msg)
	case changedMsg:
		return s.look()
	case beatMsg:
		return s.beat()
	case restedMsg:
		return s.rested()
	case progressMsg:
		return s.advanced(msg)
	case outcomeMsg:
		return s.finished(msg)
	}
	return nil
}

// SetSize implements Screen. In another window all stands elsewhere, or stands
// there for the first time.
func (s *sheet) SetSize(w, h int) {
	s.width, s.height = w, h
	s.guard()
	s.arrange()
}
