package views

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// form is what differs between the sheets: what is shown of a plan, what the
// user has to give, and the request that comes of it.
type form interface {
	fill(viewer.Plan)
	title(viewer.Row) string
	verb() string // what confirming does now
	// subject names what content shows, to tell one text from another.
	subject() string
	content(width int) []string // scrolls
	// inputs stay on the screen. In a low window they are as few lines as can be.
	inputs(width int, low bool) []string
	request() viewer.Request
	refusal() string // why it cannot be confirmed
	// decides reports that confirming decides something: then all of content
	// has to have been on the screen.
	decides() bool
	overrides() bool // confirm although the plan is blocked
	// enter is what enter means now; handle does it when it is "handled".
	enter() reaction
	handle()
	chosen() opening // what is decided on, the zero value for none of several
	alone()          // esc does not go back to the others
	deeper() bool    // esc goes one level back, not out
	back()
	refused(viewer.Problem) // what was confirmed
	key(tea.KeyMsg)
	hints() []keymap.Hint
	choices() bool // up and down choose
	masked() bool
	typing() bool
	field() *widget.Field
	blur()
}

// reaction is what enter means in a form.
type reaction int

const (
	confirms reaction = iota
	handled           // it did something in the form
	leaves
	resolvesFirst
)

func newForm(e *env, a viewer.Action, on target) form {
	base := picker{env: e, on: on}
	base.clear()
	switch a {
	case viewer.Answer:
		base.kind = viewer.WaitInterrupt
		return &answerForm{picker: base}
	case viewer.Resolve:
		base.kind = viewer.WaitInDoubt
		return &resolveForm{picker: base}
	case viewer.Recover:
		return &recoverForm{picker: base}
	}
	base.kind = viewer.WaitApproval
	return &approveForm{picker: base}
}

// maxText is how many bytes a text field takes.
const maxText = 64 << 10

// picker is the part that all forms share: of several open things one has to
// be chosen first, and there is one text field.
type picker struct {
	*env
	given
	kind   string
	on     target // that the sheet was opened for, until it was found
	open   []viewer.ReviewEntry
	at     int
	picked bool
	single bool   // it is not chosen among others
	about  string // what given is for, see identity
	stands string // who decided last, and how the run stands
}

// given is what was typed and chosen for one open thing. It is never taken
// over to another one.
type given struct {
	text    *widget.Field
	focus   bool
	option  int           // of the choices of the form
	denying bool          // of approveForm
	remark  *widget.Field // of resolveForm, for the log
	noting  bool          // and it has the focus
	against bool          // of resolveForm: once more, against the record that it ran
	// of answerForm: the answer that is sent though it would not pass, and one
	// that was refused when it was sent, with the reason.
	unchecked, refusedValue, refusedWhy string
}

func (p *picker) clear() {
	p.given = given{text: widget.NewField(p.styles, maxText, true), remark: widget.NewField(p.styles, maxText, true)}
}

// follow forgets what was given when the thing under the cursor is not the one
// that it was given for.
func (p *picker) follow() {
	if now := identity(p.entry()); now != p.about {
		p.about = now
		p.clear()
	}
}

// identity tells an open thing from every other one, also from one of the same
// id that asks something else or asks again. Masked and revealed arguments
// are the same thing: their digest is of what is stored.
func identity(e viewer.ReviewEntry) string {
	args := []byte(e.Digest)
	if e.Digest == "" {
		args = e.Args
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q %q %q %q %q %q %d %d ", e.Type, e.ID, e.Key, e.Tool, e.Node, e.Prompt, e.Choices, e.Options, e.Want, e.Bytes, e.Since.UnixNano())
	h.Write(args)
	return hex.EncodeToString(h.Sum(nil))
}

// fill takes the open things of the plan. The chosen one stays chosen by its
// id; when it is gone, one has to choose again.
func (p *picker) fill(plan viewer.Plan) {
	defer p.follow()
	id := p.entry().ID
	p.stands = strings.Join(nonEmpty(plan.Lately, cmp.Or(plan.Row.Why, "the run is "+plan.Row.Status)), "; ")
	p.open = slices.DeleteFunc(slices.Clone(plan.Review), func(e viewer.ReviewEntry) bool { return e.Type != p.kind })
	at := slices.IndexFunc(p.open, func(e viewer.ReviewEntry) bool { return e.ID == id })
	if aimed := slices.IndexFunc(p.open, p.on.is); aimed >= 0 {
		p.at, p.picked, p.on = aimed, true, target{}
		return
	}
	if at < 0 {
		p.at, p.picked = 0, len(p.open) == 1 && p.on == target{}
		return
	}
	p.at = at
}

func (p *picker) entry() viewer.ReviewEntry {
	if p.at < len(p.open) {
		return p.open[p.at]
	}
	return viewer.ReviewEntry{}
}

func (p *picker) subject() string {
	if !p.picked {
		return ""
	}
	return p.kind + " " + p.about
}

func (p *picker) refusal() string {
	switch {
	case len(p.open) == 0:
		return "nothing is open here any more"
	case !p.picked:
		return "choose one first"
	}
	return ""
}

func (p *picker) enter() reaction {
	if !p.picked && len(p.open) > 0 {
		return handled
	}
	return confirms
}

// handle picks the thing under the cursor, or goes to the text field.
func (p *picker) handle() {
	if p.picked {
		p.focus = true
		return
	}
	p.picked, p.option = true, 0
}

// chooses is the verb while one has to be picked first.
func (p *picker) chooses(verb string) string {
	if !p.picked && len(p.open) > 0 {
		return "choose"
	}
	return verb
}

func (p *picker) deeper() bool { return p.picked && !p.single && len(p.open) > 1 }

func (p *picker) alone() { p.single = true }

func (p *picker) chosen() opening {
	if !p.picked || len(p.open) == 0 {
		return opening{}
	}
	return openingOf(p.entry())
}

func (p *picker) back() { p.picked = false }

// key moves through the open things, and gives the text field the focus.
func (p *picker) key(msg tea.KeyMsg) {
	k := p.keys.Sheet
	switch {
	case p.picked && key.Matches(msg, k.Note):
		p.focus = true
	case !p.picked && key.Matches(msg, k.Up):
		p.at = max(0, p.at-1)
		p.follow()
	case !p.picked && key.Matches(msg, k.Down):
		p.at = max(0, min(p.at+1, len(p.open)-1))
		p.follow()
	}
}

func (p *picker) overrides() bool        { return false }
func (p *picker) decides() bool          { return p.picked }
func (p *picker) refused(viewer.Problem) {}
func (p *picker) choices() bool          { return !p.picked }
func (p *picker) masked() bool           { return p.picked && p.entry().Masked > 0 }
func (p *picker) typing() bool           { return p.focus }
func (p *picker) field() *widget.Field   { return p.text }
func (p *picker) blur()                  { p.focus = false }
func (p *picker) hints() []keymap.Hint   { return nil }
func (p *picker) value() string          { return strings.TrimSpace(p.text.Value()) }

// nothing says that there is nothing to decide, and why: somebody was faster.
func (p *picker) nothing() string {
	return "nothing is open here any more: " + p.stands
}

// choice is one choice, marked when it is under the cursor.
func (p *picker) choice(text string, on bool, width int) string {
	text = start(text, width, p.styles.Ellipsis)
	if !on {
		return widget.Fit("  "+widget.Plain(text), width, p.styles.Ellipsis)
	}
	line := widget.Fit(p.styles.Cursor+" "+widget.Plain(text), width, p.styles.Ellipsis)
	return p.styles.Selected.Render(line)
}

// labelledField is the text field behind a word.
func (p *picker) labelledField(label, hint string, width, height int) []string {
	return fieldLines(p.styles, p.text, p.focus, label+" ", hint, width, height)
}

// fieldLines draw a text field behind a word, and a hint while it is empty.
func fieldLines(st *theme.Styles, f *widget.Field, focus bool, head, hint string, width, height int) []string {
	if !focus && f.Value() == "" {
		return []string{widget.Fit(head+st.Muted.Render(hint), width, st.Ellipsis)}
	}
	lines := f.View(max(1, width-widget.Width(head)), height, focus)
	for i := range lines {
		if i > 0 {
			head = widget.Space(widget.Width(head))
		}
		lines[i] = head + lines[i]
	}
	return lines
}

// details is an open thing in full: every line of its arguments, and what
// deciding does.
func (p *picker) details(width int, yes, no string) []string {
	e := p.entry()
	var lines []string
	if e.Tool != "" {
		kind := "not idempotent"
		if e.Idempotent {
			kind = "idempotent"
		}
		lines = append(lines, whole(p.styles.Strong, e.Tool, kind, width)...)
	}
	args := p.arguments(e, width)
	place := nonEmpty(prefixed("node ", e.Node), "id "+e.ID, "waiting "+age(p.now(), e.Since))
	if len(args) > 0 {
		place = append(place, plural(e.Bytes, "byte")+" in "+plural(len(args)-endLines, "line"))
	}
	for _, l := range widget.Wrap(strings.Join(place, ", "), width) {
		lines = append(lines, p.styles.Muted.Render(l))
	}
	lines = append(lines, quoted(p.styles, e.Why, width)...)
	lines = append(lines, quoted(p.styles, e.Text, width)...)
	lines = append(lines, quoted(p.styles, prefixed("passes: ", e.Want), width)...)
	if len(args) == 0 && e.Masked > 0 {
		lines = append(lines, p.styles.Muted.Render(fmt.Sprintf("secrets masked: %d", e.Masked)))
	}
	lines = append(lines, args...)
	lines = append(lines, sentence(p.shared, yes, e.IfYes, width)...)
	return append(lines, sentence(p.shared, no, e.IfNo, width)...)
}

// quoted is a text of somebody else in its lines. Where there are several a bar
// stands before each, so that none can be taken for one of the sheet's own.
func quoted(st *theme.Styles, text string, width int) []string {
	if text == "" {
		return nil
	}
	if lines := widget.Wrap(text, width); len(lines) == 1 {
		return lines
	}
	bar := st.Muted.Render(st.Bar) + " "
	lines := widget.Wrap(text, max(1, width-widget.Width(bar)))
	for i := range lines {
		lines[i] = bar + lines[i]
	}
	return lines
}

// whole is a name and a word about it, on one line when both fit; of a name that
// is approved nothing is cut.
func whole(style lipgloss.Style, name, word string, width int) []string {
	if widget.Width(widget.Plain(name))+2+widget.Width(word) <= width {
		return []string{widget.Ends(style.Render(widget.Plain(name)), word, width, "")}
	}
	lines := widget.Break(name, width)
	for i := range lines {
		lines[i] = style.Render(lines[i])
	}
	return append(lines, word)
}

// endLines is how many lines follow the arguments: the end mark and a space.
const endLines = 2

// arguments are all of the arguments, and where they end.
func (p *picker) arguments(e viewer.ReviewEntry, width int) []string {
	lines := tree(e.Lines, width)
	if len(lines) == 0 && len(e.Args) > 0 {
		lines = indented(widget.Break(string(e.Args), max(1, width-2)))
	}
	if len(lines) == 0 {
		return nil
	}
	var notes []string
	if e.Masked > 0 {
		notes = append(notes, fmt.Sprintf("secrets masked: %d", e.Masked))
	}
	if e.Digest != "" {
		notes = append(notes, "sha256 "+widget.Cut(widget.Plain(e.Digest), 12, ""))
	}
	end := p.styles.Muted.Render(strings.Join(notes, ", "))
	mark := p.styles.Tone(theme.OK).Render("end " + p.styles.Check)
	return append(append(lines, widget.Ends(end, mark, width, p.styles.Ellipsis)), "")
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// sentence is a wrapped sentence behind a word.
func sentence(s *shared, word, text string, width int) []string {
	if text == "" {
		return nil
	}
	indent := min(11, width/3)
	lines := widget.Wrap(text, max(1, width-indent))
	for i, l := range lines {
		head := widget.Space(indent)
		if i == 0 {
			head = s.styles.Strong.Render(widget.Fit(word, indent, ""))
		}
		lines[i] = head + l
	}
	return lines
}
