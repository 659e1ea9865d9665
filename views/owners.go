package views

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// owners is the sheet that chooses whose runs the list shows.
type owners struct {
	*env
	choose  func(scope) tea.Cmd
	load    slot
	list    []viewer.Owner
	loaded  bool
	problem *viewer.Problem
	at      int // 0 is all owners
	text    *widget.Field
	typing  bool
	width   int
	height  int
}

func newOwners(e *env, choose func(scope) tea.Cmd) *owners {
	return &owners{env: e, choose: choose, text: widget.NewField(e.styles, 200, false)}
}

// Init reads the owners.
func (o *owners) Init() tea.Cmd { return o.read() }

func (o *owners) read() tea.Cmd {
	if o.load.wait() {
		return nil
	}
	return loadOwners(o.env, o.load.ask(o.env))
}

// Title implements Screen.
func (o *owners) Title() string { return "owners" }

// Typing implements Screen.
func (o *owners) Typing() bool { return o.typing }

// SetSize implements Screen.
func (o *owners) SetSize(w, h int) { o.width, o.height = min(w, 60), h }

// Update implements Screen.
func (o *owners) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return o.key(msg)
	case reply[[]viewer.Owner]:
		if !o.load.take(msg.ticket) {
			return nil
		}
		o.problem = msg.Problem
		if msg.Problem == nil {
			o.fill(msg.Value)
		}
	}
	return nil
}

// fill takes the owners as they are now; the cursor stays on its owner, at first
// on the one that is shown.
func (o *owners) fill(list []viewer.Owner) {
	on := o.scope
	if o.loaded {
		on = o.under()
	}
	o.list, o.loaded, o.at = list, true, 0
	if on.owner.ID != anyOwner && (on.chosen || len(stores(o.shared)) > 0) {
		id := on.owner.ID
		if !on.chosen {
			id = stores(o.shared)[0].Owner
		}
		o.at = 1 + slices.IndexFunc(o.found(), func(w viewer.Owner) bool { return w.ID == id })
	}
}

// found are the owners whose name has the text that was typed.
func (o *owners) found() []viewer.Owner {
	text := strings.ToLower(o.text.Value())
	return slices.DeleteFunc(slices.Clone(o.list), func(w viewer.Owner) bool { return !strings.Contains(strings.ToLower(w.Name), text) })
}

// under is the scope under the cursor.
func (o *owners) under() scope {
	if found := o.found(); o.at > 0 && o.at <= len(found) {
		return scope{chosen: true, owner: found[o.at-1]}
	}
	return everybody
}

func (o *owners) key(msg tea.KeyMsg) tea.Cmd {
	k := o.keys.Sheet
	if o.typing {
		return o.narrow(msg)
	}
	switch {
	case key.Matches(msg, k.Up):
		o.move(-1)
	case key.Matches(msg, k.Down):
		o.move(1)
	case key.Matches(msg, k.PageUp):
		o.move(-o.rows())
	case key.Matches(msg, k.PageDown):
		o.move(o.rows())
	case key.Matches(msg, k.Top):
		o.move(-len(o.list))
	case key.Matches(msg, k.Bottom):
		o.move(len(o.list))
	case key.Matches(msg, k.Note):
		o.typing = true
	case key.Matches(msg, k.Reload):
		return o.read()
	case key.Matches(msg, k.Confirm) && o.loaded:
		chosen := o.under()
		o.leave()
		return o.choose(chosen)
	case key.Matches(msg, k.Leave):
		return o.leave()
	}
	return nil
}

func (o *owners) move(n int) { o.at = max(0, min(o.at+n, len(o.found()))) }

// narrow hands keys to the text that narrows the list.
func (o *owners) narrow(msg tea.KeyMsg) tea.Cmd {
	k := o.keys.Text
	if !msg.Paste && key.Matches(msg, k.Done, k.Leave) {
		o.typing = false
		return nil
	}
	refused := o.text.Key(msg)
	o.at = min(1, len(o.found())) // the best guess is the first that has the text
	if refused != "" {
		return notice(refused, theme.Attention)
	}
	return nil
}

// Help implements Screen.
func (o *owners) Help() []keymap.Hint {
	k := o.keys.Sheet
	if o.typing {
		return []keymap.Hint{{Binding: o.keys.Text.Done}, {Binding: o.keys.Text.Leave}}
	}
	show := keymap.Hint{Binding: keymap.Titled(k.Confirm, "show")}
	if !o.loaded {
		show.Off = "the owners are still being read"
	}
	return []keymap.Hint{show, {Binding: keymap.Titled(k.Note, "find")}, {Binding: k.Leave}, {Binding: k.Reload, More: o.problem == nil},
		{Binding: k.Up, More: true}, {Binding: k.Down, More: true}, {Binding: k.PageUp, More: true}, {Binding: k.PageDown, More: true},
		{Binding: k.Top, More: true}, {Binding: k.Bottom, More: true}, {Binding: k.Help}}
}

// rows is how many choices fit.
func (o *owners) rows() int { return max(1, min(len(o.found())+1, o.height-6)) }

// View implements Screen.
func (o *owners) View() string {
	inner := max(1, o.width-4)
	lines := []string{o.styles.Muted.Render(widget.Ends("", "need you", inner, o.styles.Ellipsis))}
	found := o.found()
	total := int64(0)
	for _, w := range o.list {
		total += w.Needs
	}
	from := max(0, min(o.at-o.rows()/2, len(found)+1-o.rows()))
	for i := from; i < from+o.rows() && o.loaded; i++ {
		name, needs := "all owners", total
		if i > 0 {
			name, needs = widget.CutMiddle(widget.Plain(found[i-1].Name), inner-10, o.styles.Ellipsis), found[i-1].Needs
			if found[i-1].Name == "" {
				name = "no owner"
			}
		}
		lines = append(lines, o.choice(name, count(needs), i == o.at, inner))
	}
	lines = append(lines, o.told(len(found), inner))
	lines = append(lines, fieldLines(o.styles, o.text, o.typing, "find ", "tab types a part of the name", inner, 1)...)
	lines = append(lines, keyLine(o.styles, o.Help(), inner))
	return strings.Join(widget.Box(o.styles, "Whose runs?", lines, o.width), "\n")
}

func (o *owners) choice(name, needs string, on bool, width int) string {
	if needs == "0" {
		needs = o.styles.Dot
	}
	if !on {
		return widget.Ends("  "+name, needs, width, o.styles.Ellipsis)
	}
	return o.styles.Selected.Render(widget.Ends(o.styles.Cursor+" "+name, needs, width, o.styles.Ellipsis))
}

// told is what there is to say about the list.
func (o *owners) told(found, width int) string {
	switch {
	case o.problem != nil:
		return o.styles.Tone(theme.Danger).Render(widget.Fit(widget.Plain(o.problem.Message), width, o.styles.Ellipsis))
	case !o.loaded:
		return o.styles.Muted.Render("reading" + o.styles.Ellipsis)
	case found == 0 && len(o.list) > 0:
		return o.styles.Tone(theme.Attention).Render("no owner has that in its name")
	case found+1 > o.rows():
		return o.styles.Muted.Render(plural(found, "owner"))
	}
	return ""
}
