package views

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// stateTab shows the state at the step cursor as a tree, and what changed
// against the step before.
type stateTab struct {
	r      *runScreen
	now    source[viewer.StateView]
	before source[viewer.StateView]
	asked  stateKey // of the request in flight, or of what is shown
	shown  stateKey // what is shown
	prior  int64    // step that before was asked for
	bare   bool     // and whether with secrets
	open   bool     // what is shown was read with secrets
	only   bool     // show only what changed, when that is known
	tree   stateTree

	search  *widget.Field
	writing bool // the search line has the focus
	reading bool // the line under the cursor is shown in full
	pane    widget.TextPane
}

// stateKey is what a state was asked for. The version tells two states of the
// latest step apart.
type stateKey struct {
	step    int64
	version string
	reveal  bool
}

func newStateTab(r *runScreen) *stateTab {
	return &stateTab{r: r, search: widget.NewField(r.styles, 200, false)}
}

func (s *stateTab) title() widget.Tab { return widget.Tab{Title: "State"} }
func (s *stateTab) typing() bool      { return s.writing }
func (s *stateTab) ready() bool       { return s.now.loaded }
func (s *stateTab) failed() *failure  { return s.now.failed() }

func (s *stateTab) back() bool {
	switch {
	case s.reading:
		s.reading = false
	case s.search.Value() != "":
		s.search.Set("")
	default:
		return false
	}
	return true
}

// drop makes what is on its way stale.
func (s *stateTab) drop() {
	s.now.drop()
	s.before.drop()
}

// forget throws away all that was read.
func (s *stateTab) forget() {
	s.now.forget()
	s.before.forget()
	s.open, s.reading = false, false
	s.tree.set(nil)
}

// wanted is the state that should be shown. A saved step never changes, the
// latest one does with the run.
func (s *stateTab) wanted() stateKey {
	k := stateKey{step: s.r.step, reveal: s.r.reveal}
	if k.step == latest {
		k.version = s.r.row().Version
	}
	return k
}

// sameStep reports that the keys differ at most in the version.
func (k stateKey) sameStep(other stateKey) bool {
	return k.step == other.step && k.reveal == other.reveal
}

// read reads the state that is wanted. While one is on its way nothing is
// asked: its reply looks whether it is still the right one.
func (s *stateTab) read(again bool) tea.Cmd {
	want := s.wanted()
	if s.now.busy || !again && s.now.loaded && s.now.problem == nil && s.shown == want {
		return nil
	}
	s.asked = want
	return loadState(s.r.env, s.now.ask(s.r.env), s.r.ref, want.step, want.reveal)
}

// got takes a state, and asks for the one of the step before.
func (s *stateTab) got(msg reply[viewer.StateView]) tea.Cmd {
	switch {
	case msg.n == s.now.n && !s.asked.sameStep(s.wanted()):
		s.now.drop() // the step cursor went on
		return s.read(true)
	case s.now.got(msg, s.r.now()):
		if msg.Problem != nil {
			return nil
		}
		s.shown, s.open = s.asked, s.asked.reveal
		s.compare()
		return tea.Batch(s.readBefore(), s.read(false))
	case s.before.got(msg, s.r.now()):
		s.compare()
		if step, ok := s.r.before(s.now.value.Step); ok && step != s.prior {
			return s.readBefore()
		}
	}
	return nil
}

// readBefore reads the step before the one that is shown.
func (s *stateTab) readBefore() tea.Cmd {
	step, ok := s.r.before(s.now.value.Step)
	known := s.before.loaded && s.before.problem == nil && s.prior == step && s.bare == s.r.reveal
	if !ok || s.before.busy || known {
		return nil
	}
	s.prior, s.bare = step, s.r.reveal
	return loadState(s.r.env, s.before.ask(s.r.env), s.r.ref, step, s.r.reveal)
}

// compared reports that the step before is there to compare with.
func (s *stateTab) compared() bool {
	step, ok := s.r.before(s.now.value.Step)
	return ok && s.before.loaded && !s.before.busy && s.before.problem == nil && s.prior == step
}

func (s *stateTab) compare() {
	if s.tree.changes = s.only && s.compared(); s.compared() {
		s.tree.set(diffStates(s.before.value, s.now.value))
		return
	}
	s.tree.set(unchanged(s.now.value.Lines))
}

func (s *stateTab) key(msg tea.KeyMsg) (tea.Cmd, bool) {
	k := s.r.keys.Detail
	switch {
	case s.writing:
		return s.searchKey(msg), true
	case key.Matches(msg, k.Reveal):
		if !s.r.reveal && s.now.value.Masked == 0 {
			return nil, true
		}
		return s.r.setReveal(!s.r.reveal), true
	case s.reading:
		return nil, paneKey(msg, k.Nav, &s.pane)
	}
	return s.treeKey(msg)
}

func (s *stateTab) treeKey(msg tea.KeyMsg) (tea.Cmd, bool) {
	k := s.r.keys.Detail
	switch {
	case key.Matches(msg, k.Open):
		s.enter()
	case key.Matches(msg, k.Fold):
		s.tree.toggle()
	case key.Matches(msg, k.Left):
		s.tree.out()
	case key.Matches(msg, k.Right):
		s.tree.in()
	case key.Matches(msg, k.Search):
		s.writing = true
	case key.Matches(msg, k.NextMatch):
		return s.find(1), true
	case key.Matches(msg, k.PrevMatch):
		return s.find(-1), true
	case key.Matches(msg, k.Diff):
		s.only = !s.only && s.compared()
		s.compare()
	default:
		return nil, s.tree.key(msg, k.Nav)
	}
	return nil, true
}

// enter opens a branch, and shows the whole of a value.
func (s *stateTab) enter() {
	i := s.tree.at()
	if i < 0 {
		return
	}
	if s.tree.branch(i) {
		s.tree.toggle()
		return
	}
	s.reading = true
	s.pane.Reset()
}

// searchKey handles keys while the search line has the focus.
func (s *stateTab) searchKey(msg tea.KeyMsg) tea.Cmd {
	k := s.r.keys.Filter
	switch {
	case key.Matches(msg, k.Keep) && !msg.Paste:
		s.writing = false
		if at := s.tree.at(); at >= 0 && s.search.Value() != "" && !s.tree.search(s.search.Value(), at, 1) {
			return s.nothing()
		}
		return nil
	case key.Matches(msg, k.Clear) && !msg.Paste:
		s.writing = false
		s.search.Set("")
		return nil
	}
	if refused := s.search.Key(msg); refused != "" {
		return notice(refused, theme.Attention)
	}
	return nil
}

// find goes to the next match, or to the one before.
func (s *stateTab) find(by int) tea.Cmd {
	at := s.tree.at()
	if at < 0 || s.search.Value() == "" || s.tree.search(s.search.Value(), at+by, by) {
		return nil
	}
	return s.nothing()
}

func (s *stateTab) nothing() tea.Cmd {
	text := fmt.Sprintf("nothing here contains %q", s.search.Value())
	if s.now.value.Cut > 0 {
		text += "; " + plural(s.now.value.Cut, "line") + " left out"
	}
	return notice(text, theme.Attention)
}

func (s *stateTab) hints() []keymap.Hint {
	k := s.r.keys.Detail
	if s.writing {
		f := s.r.keys.Filter
		return []keymap.Hint{{Binding: keymap.Titled(f.Keep, "search")}, {Binding: keymap.Titled(f.Clear, "leave it")}}
	}
	none, plain := "", ""
	if s.search.Value() == "" {
		none = "nothing is searched for"
	}
	if !s.compared() {
		plain = "the step before is not there to compare with"
	}
	diff := keymap.Hint{Binding: keymap.Titled(k.Diff, "only what changed"), Off: plain}
	if s.tree.changes {
		diff.Binding = keymap.Titled(k.Diff, "all of it")
	}
	return []keymap.Hint{{Binding: keymap.Titled(k.Open, "open")}, {Binding: k.Search},
		{Binding: k.NextMatch, Off: none}, {Binding: k.PrevMatch, Off: none, More: true},
		s.r.revealHint(s.now.value.Masked), diff, {Binding: keymap.Titled(k.Fold, "fold or unfold"), More: true},
		{Binding: keymap.Titled(k.Left, "fold, or out of it; { } go through time"), More: true}, {Binding: keymap.Titled(k.Right, "unfold, or into it"), More: true}}
}

func (s *stateTab) view(width, height int) []string {
	if s.reading {
		return s.whole(width, height)
	}
	lines := s.summary(width)
	if bad := badVerdict(s.r.styles, s.r.stepVerdict(s.now.value.Step)); bad != "" {
		lines = append(lines, widget.Fit(" "+bad+": what is shown of this step may be made up", width, s.r.styles.Ellipsis))
	}
	if s.writing || s.search.Value() != "" {
		lines = append(lines, " / "+s.search.View(max(1, width-3), 1, s.writing)[0])
	}
	s.tree.fit(len(s.tree.shown), height-len(lines))
	if s.tree.changes && !s.tree.changed() {
		return append(lines, "  Nothing changed in this step.")
	}
	from, to := s.tree.window()
	for n := from; n < to; n++ {
		lines = append(lines, s.tree.line(s.r.styles, n, width))
	}
	return lines
}

// summary says which state this is, how much of it is shown, and against what
// it is compared. It takes two lines where it does not fit on one.
func (s *stateTab) summary(width int) []string {
	v := s.now.value
	parts := []string{fmt.Sprintf("step %d", v.Step), size(v.Size)}
	if !s.shown.sameStep(s.wanted()) {
		parts[0] += ", reading another" + s.r.styles.Ellipsis
	}
	if v.Masked > 0 && !s.open {
		masked := fmt.Sprintf("secrets masked: %d", v.Masked)
		if s.compared() {
			masked += " (not compared)"
		}
		parts = append(parts, masked)
	}
	if v.Cut > 0 {
		parts = append(parts, plural(v.Cut, "line")+" left out")
	}
	against := ""
	switch {
	case s.compared():
		what := "against"
		if s.tree.changes {
			what = "changes against"
		}
		against = fmt.Sprintf("%s step %d: +%d ~%d -%d", what, s.prior, s.tree.plus, s.tree.tilde, s.tree.minus)
		if v.Cut > 0 || s.before.value.Cut > 0 {
			against += ", as far as read"
		}
	case s.before.busy:
		against = fmt.Sprintf("reading step %d", s.prior)
	case s.before.problem != nil:
		against = "not compared: " + widget.Plain(s.before.problem.Message)
	}
	left := s.r.styles.Muted.Render(" " + strings.Join(parts, ", "))
	right := s.r.styles.Muted.Render(against)
	if against == "" || widget.Width(left)+widget.Width(right)+2 <= width {
		return []string{widget.Ends(left, right+" ", width, s.r.styles.Ellipsis)}
	}
	return []string{left, " " + right}
}

// whole shows the value under the cursor, all of it that was read.
func (s *stateTab) whole(width, height int) []string {
	i := s.tree.at()
	if i < 0 {
		return nil
	}
	inner := max(1, width-2)
	l := s.tree.lines[i]
	text := append(widget.Break(l.Path, inner), "")
	return paneLines(s.r.styles, &s.pane, append(text, widget.Break(l.Text, inner)...), height)
}

// size is a number of bytes in a few characters.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return plural(int(n), "byte")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
