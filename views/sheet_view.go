package views

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// maxSheet is the widest that a sheet gets: longer lines are hard to read.
const maxSheet = 100

func (s *sheet) boxWidth() int { return min(s.width, maxSheet) }

func (s *sheet) inner() int { return max(1, s.boxWidth()-4) }

// SetVisible implements visible.
func (s *sheet) SetVisible(v bool) {
	s.hidden = !v
	s.arrange()
}

// watch notes what of the text is on the screen, and what was until now.
func (s *sheet) watch() {
	if s.hidden {
		s.pane.Hide(s.now())
		return
	}
	s.pane.Look(s.now())
}

// arrange gives the text the room that the other parts leave, and makes it
// anew when it is another text or another width.
func (s *sheet) arrange() {
	s.watch()
	text := paneText{s.form.subject(), s.plan.Version, forecast(s.plan), s.revealed, s.replied()}
	drawn := fmt.Sprint(text, s.plans, s.inner(), s.hides())
	if text.subject != s.shown.subject { // no confirmation is for another thing
		s.armed, s.naming = 0, false
		s.name.Set("")
	}
	if text != s.shown {
		s.shown = text
		s.pane.Reset()
	}
	if drawn != s.drawn {
		s.drawn = drawn
		s.pane.SetLines(nil)
		if s.plan.Run != "" && !s.hides() {
			s.pane.SetLines(s.textLines())
		}
	}
	if cramped := s.cramps(); cramped != s.cramped { // what comes on the screen then was not there before
		s.cramped = cramped
		s.guard()
	}
	for range 2 { // what was read takes a line less
		fixed := 2 + len(s.head()) + len(s.below()) + 1 // borders, head, below, command
		s.pane.SetHeight(min(s.pane.Len(), max(0, s.height-fixed)))
		s.watch()
	}
	if asks := s.form.title(s.row) + "\n" + s.form.verb(); asks != s.asks {
		s.asks = asks
		if s.form.enter() == confirms {
			s.guard()
		}
	}
}

// View implements Screen.
func (s *sheet) View() string {
	lines := s.head()
	lines = append(lines, s.pane.View()...)
	lines = append(lines, s.below()...)
	lines = append(lines, s.command())
	if len(lines) > max(0, s.height-2) { // a very low window: the end matters more
		lines = append(lines[:1:1], lines[len(lines)-max(0, s.height-3):]...)
	}
	return strings.Join(widget.Box(s.styles, s.title(), lines, s.boxWidth()), "\n")
}

// head is everything above the text.
func (s *sheet) head() []string {
	lines := []string{s.headLine(), s.storeLine()}
	if s.chain.before == "" || s.stage == ended {
		return lines
	}
	before := widget.Cut(widget.Plain(s.styles.Check+" before: "+s.chain.before), s.inner(), s.styles.Ellipsis) // the text below needs the room
	return append(lines, s.styles.Tone(theme.OK).Render(before))
}

// headLine names the run for which the sheet was opened, whatever the list
// shows meanwhile.
func (s *sheet) headLine() string {
	r := s.row
	rest := ", " + widget.Plain(strings.Join(nonEmpty(r.Flow, ownerOf(s.shared, r), prefixed("user ", r.User), "step "+fmt.Sprint(r.Step)), ", "))
	v := s.styles.Verdict(r.Verdict)
	verdict := v.Word + " " + v.Symbol
	room := s.inner() - widget.Width(verdict) - 1
	run := widget.CutMiddle(widget.Plain(r.Run), max(2*room/3, room-widget.Width(rest)), s.styles.Ellipsis)
	return widget.Ends(s.styles.Strong.Render(run)+rest, s.styles.Tone(v.Tone).Render(verdict), s.inner(), s.styles.Ellipsis)
}

// storeLine says in which store the run is. The end of a path tells more than
// its start.
func (s *sheet) storeLine() string {
	info := storeInfo(s.shared, s.row)
	left, right := "in "+widget.Plain(storeName(s.shared, s.row.Ref.Store, s.row.Store)), ""
	if info.Production {
		right = s.styles.Tone(theme.Danger).Render("PRODUCTION")
	}
	if at := widget.Plain(info.Location); at != "" && at != s.row.Store {
		room := s.inner() - widget.Width(left) - widget.Width(right) - 4
		left += ", " + widget.CutLeft(at, room, s.styles.Ellipsis)
	}
	return widget.Ends(s.styles.Muted.Render(left), right, s.inner(), s.styles.Ellipsis)
}

// nameLines ask for the run id.
func (s *sheet) nameLines() []string {
	if s.stage != asking || s.form.enter() != confirms || !storeInfo(s.shared, s.row).Production {
		return nil
	}
	width := s.inner()
	lines := fieldLines(s.styles, s.name, s.naming, "run id ", "PRODUCTION: it is typed before anything is done", width, 2)
	if !s.naming && s.name.Value() != "" && s.unnamed() {
		lines = append(lines, s.styles.Tone(theme.Attention).Render(widget.Cut("  that is not "+widget.Plain(s.row.Run), width, s.styles.Ellipsis)))
	}
	return lines
}

// below is everything between the text and the command line.
func (s *sheet) below() []string {
	lines := []string{s.position()}
	switch {
	case s.cramped:
		lines = append(lines, s.styles.Muted.Render(widget.Cut("what is asked comes when all of it was read", s.inner(), s.styles.Ellipsis)))
	case s.stage == asking || s.stage == loading:
		lines = append(lines, s.inputs()...)
	}
	lines = append(lines, s.status()...)
	lines = append(lines, s.notYet()...)
	return append(lines, keyLine(s.styles, s.Help(), s.inner()))
}

// hides reports that secrets are not to be shown any more, and nothing without them
// was read yet.
func (s *sheet) hides() bool { return s.revealed && !s.reveal }

// inputs are what is asked.
func (s *sheet) inputs() []string {
	if s.hides() {
		return nil
	}
	asked := func(low bool) []string { return append(s.form.inputs(s.inner(), low), s.nameLines()...) }
	if lines := asked(false); s.fits(lines) {
		return lines
	}
	return asked(true)
}

// fits reports that the window shows all that is asked and told, and of the rest
// at least the run, the keys and the command: what is cut cannot be confirmed.
func (s *sheet) fits(asked []string) bool {
	const rest = 2 + 1 + 1 + 1 + 1 // borders, run, not yet, keys, command
	return rest+len(asked)+len(s.status()) <= s.height
}

// leastText is how many lines of what has to be read are shown at least: in a low
// window that comes first, and then what is asked.
const leastText = 3

// cramps reports that what is asked leaves less room than that.
func (s *sheet) cramps() bool {
	if s.stage != asking || !s.form.decides() || s.pane.Read() || s.Typing() {
		return false
	}
	fixed := 2 + len(s.head()) + 1 + len(s.inputs()) + len(s.status()) + 3 // borders, position; not yet, keys, command
	return s.height-fixed < min(leastText, s.pane.Len())
}

// position says how much of the text is out of sight, and where in it the screen is.
func (s *sheet) position() string {
	hidden := ""
	switch n := s.pane.Below(); {
	case n > 0:
		hidden = s.styles.More + " " + plural(n, "more line")
		if !s.Typing() {
			hidden += ", " + s.keys.Sheet.PageDown.Help().Key + " reads on"
		}
	case s.stage == asking && s.form.decides() && s.pane.Unseen() > 0:
		hidden = plural(s.pane.Unseen(), "line") + " above were not on the screen yet"
	}
	at := ""
	if from, to := s.pane.Window(); from < to && to-from < s.pane.Len() {
		at = fmt.Sprintf("%d-%d of %d", from+1, to, s.pane.Len())
	}
	return widget.Ends(s.styles.Tone(theme.Attention).Render(hidden), s.styles.Muted.Render(at), s.inner(), s.styles.Ellipsis)
}

// status tells what happens, what went wrong and what changed.
func (s *sheet) status() []string {
	lines := s.happens()
	say := s.sayer(&lines)
	switch {
	case conflicts(s.problem): // the message says what was faster, and the line below what is now
		why := strings.TrimPrefix(s.problem.Message, fmt.Sprintf("run %q: ", s.row.Run))
		say(theme.Danger, "not done: "+strings.TrimPrefix(why, "changed since you looked: "))
	case s.problem != nil:
		say(theme.Danger, s.problem.Message)
		if s.problem.Overridable { // its hint is for the command line
			say(theme.Normal, "nothing was sent; "+s.keys.Sheet.Unchecked.Help().Key+" sends it all the same, after asking once more")
		} else {
			say(theme.Normal, s.problem.Hint)
		}
	}
	if s.stage != asking {
		return lines
	}
	if s.unseen != nil {
		say(theme.Danger, s.unseen.Message)
		say(theme.Normal, s.unseen.Hint)
	}
	if s.stale != "" {
		say(theme.Attention, "changed since you looked: "+s.stale+". r reads it again.")
	}
	switch only := s.offer(s.form.request()).StoreOnly; {
	case only:
		say(theme.Attention, "the flow cannot run here: the decision is stored, and whoever has the flow goes on with it")
	case s.plan.Blocked != nil:
		say(theme.Attention, *s.plan.Blocked)
		say(theme.Normal, s.plan.Hint)
	}
	return lines
}

// happens tells how far what was asked for is, and what became of it.
func (s *sheet) happens() (lines []string) {
	say := s.sayer(&lines)
	for _, p := range s.progress {
		if s.stage == ended && p.Text == s.outcome.Outcome {
			continue // told below
		}
		say(theme.Normal, s.styles.Check+" "+p.Stage+"  "+p.Text)
	}
	switch s.stage {
	case loading:
		say(theme.Muted, "reading the plan"+s.styles.Ellipsis)
	case running:
		say(theme.Accent, "under way"+s.styles.Ellipsis)
	case ended:
		if s.sent != "" {
			lines = append(lines, s.sentLines()...)
		}
		say(outcomeTone(s.outcome), s.outcome.Outcome)
		for _, w := range s.outcome.Waiting {
			say(theme.Attention, "now it waits for: "+waitingText(w)+prefixed("  ", w.ID))
		}
		if s.chain.reading {
			say(theme.Muted, "reading what else is open"+s.styles.Ellipsis)
		}
	}
	return lines
}

// sayer adds sentences to lines, each wrapped in its tone.
func (s *sheet) sayer(lines *[]string) func(theme.Tone, string) {
	return func(tone theme.Tone, text string) {
		if text == "" {
			return
		}
		for _, l := range widget.Wrap(text, s.inner()) {
			*lines = append(*lines, s.styles.Tone(tone).Render(l))
		}
	}
}

// outcomeTone tells an end from a stop on the way: a run that waits again has
// not done what was decided.
func outcomeTone(o viewer.Outcome) theme.Tone {
	if len(o.Waiting) > 0 {
		return theme.Attention
	}
	return theme.OK
}

// notYet is the key that confirms, greyed, with the reason why it does nothing.
func (s *sheet) notYet() []string {
	h := s.confirmHint()
	if s.stage != asking || h.Off == "" {
		return nil
	}
	text := fmt.Sprintf("%s %s: not yet, %s", h.Binding.Help().Key, h.Binding.Help().Desc, h.Off)
	return []string{s.styles.Muted.Render(widget.Cut(widget.Plain(text), s.inner(), s.styles.Ellipsis))}
}

// command is the command line that does the same.
func (s *sheet) command() string {
	if s.plan.Run == "" {
		return ""
	}
	line := commandLine(s.shared, s.request())
	if line == "" {
		return ""
	}
	line = "= " + widget.Plain(line)
	copies := "y copies"
	if s.Typing() {
		copies = "" // there y is a letter
	}
	return s.styles.Muted.Render(widget.Ends(line, copies, s.inner(), s.styles.Ellipsis))
}

// lineKey is the key of a line. Spaces at its ends would not be seen, and below a
// depth that cannot be drawn it is said.
func lineKey(l viewer.Line, deep bool) string {
	key := l.Key
	if strings.TrimSpace(key) != key {
		key = strconv.Quote(key)
	}
	if deep {
		key = fmt.Sprintf("(level %d) ", l.Depth) + key
	}
	return widget.Plain(key)
}

// tree draws a value, all of it: long texts are broken, never cut. No line of a
// text stands where a key would.
func tree(lines []viewer.Line, width int) []string {
	keys := 0
	for _, l := range lines {
		if l.Depth == 1 {
			keys = max(keys, widget.Width(l.Key))
		}
	}
	keys = min(keys, width/4)
	var out []string
	head := ""
	for i, l := range lines {
		if i == 0 && l.Depth == 0 && l.Children > 0 && len(lines) > 1 {
			continue
		}
		if !l.More {
			var above []string
			above, head = treeHead(l, keys, width)
			out = append(out, above...)
		}
		text := l.Text
		if l.Masked && !l.More {
			text += "   (masked)"
		}
		for _, part := range widget.Break(text, max(1, width-widget.Width(head))) {
			out = append(out, head+part)
			head = widget.Space(widget.Width(head))
		}
	}
	return out
}

// treeHead is what stands before a value: its key, on lines above when it is long.
// Nothing begins where the sheet's own words do.
func treeHead(l viewer.Line, keys, width int) (above []string, head string) {
	indent := widget.Space(min(max(2, 2*l.Depth), width/3))
	key := lineKey(l, 2*l.Depth > width/3)
	head = indent + key
	switch {
	case widget.Width(head) > width/2: // on lines of its own
		for _, part := range widget.Break(key, max(1, width-widget.Width(indent))) {
			above = append(above, indent+part)
		}
		return above, indent + "  "
	case key != "":
		head = widget.Pad(head, widget.Width(indent)+keys) + "  "
	}
	return nil, head
}
