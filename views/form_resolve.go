package views

import (
	"encoding/json"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// The options of resolving a call in doubt.
const (
	itRan = iota
	itDidNotRun
	leaveIt
)

// resolveForm takes what a person found out about a call in doubt.
type resolveForm struct{ picker }

func (f *resolveForm) title(viewer.Row) string {
	if f.picked {
		q := f.entry().Doubt()
		return strings.ToUpper(q[:1]) + q[1:]
	}
	return "Calls in doubt"
}

func (f *resolveForm) verb() string {
	if f.picked && f.option == itRan && f.enter() == handled {
		return "type the result"
	}
	return f.chooses([...]string{itRan: "it ran", itDidNotRun: "it did not run", leaveIt: "leave it"}[f.option])
}

func (f *resolveForm) choices() bool { return true }

func (f *resolveForm) content(width int) []string {
	if !f.picked {
		return nil
	}
	return f.details(width, "it ran", "not run")
}

func (f *resolveForm) inputs(width int, low bool) []string {
	if !f.picked {
		return f.list(width, low)
	}
	lines := []string{f.choice("it ran: here is the result", f.option == itRan, width)}
	if f.option == itRan {
		lines = append(lines, f.labelledField("  result", "tab types it, as JSON; null when there is none", width, atMost(5, low))...)
		if f.notJSON() {
			lines = append(lines, f.styles.Tone(theme.Attention).Render(`  not JSON: " takes it as text`))
		}
	}
	lines = append(lines,
		f.choice(f.notRun(), f.option == itDidNotRun, width),
		f.choice("leave it", f.option == leaveIt, width))
	if f.option == leaveIt {
		return lines
	}
	if f.against {
		for _, l := range widget.Wrap("the record says that it ran: say that it did not? A recovery runs it a second time. enter says it, esc goes back", width) {
			lines = append(lines, f.styles.Tone(theme.Danger).Render(l))
		}
	}
	return append(lines, fieldLines(f.styles, f.remark, f.noting, "note ", "n types one: where you looked, for the log", width, atMost(3, low))...)
}

// notRun is the choice that it did not run. The record may say that it did.
func (f *resolveForm) notRun() string {
	if f.entry().Ran {
		return "it did not run, against the record: it runs again"
	}
	return "it did not run: it may run now"
}

func (f *resolveForm) typing() bool { return f.noting || f.picker.typing() }

func (f *resolveForm) field() *widget.Field {
	if f.noting {
		return f.remark
	}
	return f.text
}

func (f *resolveForm) blur() { f.noting, f.focus = false, false }

func (f *resolveForm) notJSON() bool {
	return !f.focus && f.value() != "" && !json.Valid([]byte(f.value()))
}

func (f *resolveForm) key(msg tea.KeyMsg) {
	k := f.keys.Sheet
	switch {
	case !f.picked:
		f.picker.key(msg)
	case key.Matches(msg, k.Up):
		f.option, f.against = max(itRan, f.option-1), false
	case key.Matches(msg, k.Down):
		f.option, f.against = min(f.option+1, leaveIt), false
	case f.option != leaveIt && key.Matches(msg, k.Remark):
		f.noting = true
	case f.option == itRan && key.Matches(msg, k.Note):
		f.focus = true
	case f.option == itRan && f.notJSON() && key.Matches(msg, k.Quote):
		quoted, _ := json.Marshal(f.text.Value()) // a string always has a JSON form
		f.text.Set(string(quoted))
	}
}

func (f *resolveForm) enter() reaction {
	if r := f.picker.enter(); r != confirms {
		return r
	}
	switch {
	case f.option == leaveIt:
		return leaves
	case f.option == itRan && f.value() == "", f.disputes() && !f.against:
		return handled
	}
	return confirms
}

// disputes reports the choice that a call did not run of which the record says
// that it ran: it is asked about once more.
func (f *resolveForm) disputes() bool { return f.picked && f.option == itDidNotRun && f.entry().Ran }

func (f *resolveForm) handle() {
	if f.disputes() {
		f.against = true
		return
	}
	f.picker.handle()
}

func (f *resolveForm) deeper() bool { return f.against || f.picker.deeper() }

func (f *resolveForm) back() {
	if f.against {
		f.against = false
		return
	}
	f.picker.back()
}

func (f *resolveForm) request() viewer.Request {
	r := viewer.Request{Action: viewer.Resolve, Target: f.entry().ID, NotRun: f.option == itDidNotRun, Note: strings.TrimSpace(f.remark.Value())}
	if f.option == itRan && json.Valid([]byte(f.value())) {
		r.Value = json.RawMessage(f.value())
	}
	return r
}

func (f *resolveForm) refusal() string {
	if why := f.picker.refusal(); why != "" {
		return why
	}
	switch {
	case f.option != itRan:
		return ""
	case f.value() == "":
		return "type the result first"
	case f.notJSON():
		return "the result is not JSON"
	}
	return ""
}

func (f *resolveForm) hints() []keymap.Hint {
	k := f.keys.Sheet
	if !f.picked || f.option == leaveIt {
		return nil
	}
	if f.option == itDidNotRun {
		return []keymap.Hint{{Binding: k.Remark}}
	}
	hints := []keymap.Hint{{Binding: keymap.Titled(k.Note, "type the result"), More: f.value() == ""}, {Binding: k.Remark}}
	if f.notJSON() {
		hints = append(hints, keymap.Hint{Binding: k.Quote})
	}
	return hints
}
