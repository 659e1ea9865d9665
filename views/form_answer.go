package views

import (
	"encoding/json"
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// answerForm takes the answer to a question: one of its choices, or a text.
type answerForm struct{ picker }

func (f *answerForm) title(row viewer.Row) string {
	switch {
	case f.overriding():
		return "Send " + row.Run + " what would not pass"
	case f.picked && f.entry().Turn:
		return "Next message to " + row.Run
	case f.picked:
		return row.Run + " asks"
	}
	return "Questions"
}

func (f *answerForm) verb() string {
	if f.picked && f.enter() == handled {
		return "type the " + f.what()
	}
	if f.overriding() {
		return "send unchecked"
	}
	if f.picked && f.entry().Turn {
		return "send"
	}
	return f.chooses("answer")
}

// what is the word for what is typed.
func (f *answerForm) what() string {
	if f.entry().Turn {
		return "message"
	}
	return "answer"
}

// offered are the answers to choose from.
func (f *answerForm) offered() []string {
	e := f.entry()
	if len(e.Choices) > 0 {
		return e.Choices
	}
	return e.Options
}

// types reports whether the answer is typed: there is none to choose, or none
// of those that are offered is meant, which is the last choice.
func (f *answerForm) types() bool { return f.option >= len(f.offered()) }

// last is the last choice, that of another answer; -1 when there is nothing to
// choose from.
func (f *answerForm) last() int {
	if n := len(f.offered()); n > 0 {
		return n
	}
	return -1
}

func (f *answerForm) choices() bool { return !f.picked || len(f.offered()) > 0 && !f.focus }

func (f *answerForm) content(width int) []string {
	if !f.picked {
		return nil
	}
	lines := f.details(width, f.what(), "")
	for i, o := range f.offered() {
		if f.tooWide(o, width) {
			lines = append(lines, sentence(f.shared, fmt.Sprint("choice ", i+1), o, width)...)
		}
	}
	return lines
}

func (f *answerForm) inputs(width int, low bool) []string {
	if !f.picked {
		return f.list(width, low)
	}
	lines := f.window(f.option, f.last()+1, low, func(i int) string { return f.choice(f.shown(i, width), i == f.option, width) })
	if f.types() {
		lines = append(lines, f.labelledField(f.what(), "tab types it", width, atMost(5, low))...)
	}
	if f.overriding() {
		for _, l := range widget.Wrap(f.wrong()+". Send it all the same? The flow judges it then. enter sends it, esc goes back", width) {
			lines = append(lines, f.styles.Tone(theme.Danger).Render(l))
		}
	}
	return lines
}

// shown is an answer to choose from. One that is cut is called as above, where
// all of it is, and shows both of its ends: no other one looks like it.
func (f *answerForm) shown(i, width int) string {
	offered := f.offered()
	switch {
	case i >= len(offered):
		return "another answer"
	case f.tooWide(offered[i], width):
		head := fmt.Sprintf("choice %d  ", i+1)
		return head + bothEnds(offered[i], width-2-widget.Width(head), f.styles.Ellipsis)
	}
	return offered[i]
}

// tooWide reports that an answer is cut where it is chosen.
func (f *answerForm) tooWide(text string, width int) bool {
	return widget.Width(widget.Plain(text))+2 > width
}

func (f *answerForm) key(msg tea.KeyMsg) {
	k := f.keys.Sheet
	switch last := f.last(); {
	case f.overriding(): // esc goes back first
	case f.picked && key.Matches(msg, k.Unchecked):
		if f.hasAnswer() && f.wrong() != "" {
			f.unchecked = f.answer()
		}
	case !f.picked || last < 0:
		f.picker.key(msg)
	case key.Matches(msg, k.Up):
		f.option = max(0, f.option-1)
	case key.Matches(msg, k.Down):
		f.option = min(f.option+1, last)
	case f.types():
		f.picker.key(msg)
	}
}

func (f *answerForm) enter() reaction {
	if r := f.picker.enter(); r != confirms {
		return r
	}
	if !f.hasAnswer() {
		return handled
	}
	return confirms
}

// hasAnswer reports that one was chosen or typed.
func (f *answerForm) hasAnswer() bool { return !f.types() || f.text.Value() != "" }

func (f *answerForm) request() viewer.Request {
	return viewer.Request{Action: viewer.Answer, Target: f.entry().ID, Value: json.RawMessage(f.answer()), Unchecked: f.overriding()}
}

// answer is the answer as JSON.
func (f *answerForm) answer() string {
	text := f.text.Value()
	if !f.types() {
		text = f.offered()[f.option]
	}
	v, _ := json.Marshal(text) // a string always has a JSON form
	return string(v)
}

// wrong is why the answer would not pass, "" when it would or when that cannot
// be told before.
func (f *answerForm) wrong() string {
	value := f.answer()
	if f.refusedWhy != "" && f.refusedValue == value {
		return f.refusedWhy
	}
	return f.entry().Refused(json.RawMessage(value))
}

// overriding reports that exactly this answer is to be sent though it would not
// pass: that was asked for with a key of its own, and enter asks once more.
func (f *answerForm) overriding() bool {
	return f.unchecked != "" && f.unchecked == f.answer() && f.wrong() != ""
}

// refused keeps what was found wrong with the answer when it was sent.
func (f *answerForm) refused(p viewer.Problem) {
	if p.Overridable {
		f.refusedValue, f.refusedWhy, f.unchecked = f.answer(), p.Message, ""
	}
}

func (f *answerForm) deeper() bool { return f.overriding() || f.picker.deeper() }

func (f *answerForm) back() {
	if f.overriding() {
		f.unchecked = ""
		return
	}
	f.picker.back()
}

func (f *answerForm) refusal() string {
	if why := f.picker.refusal(); why != "" {
		return why
	}
	if !f.hasAnswer() {
		return "type the " + f.what() + " first"
	}
	if !f.overriding() {
		return f.wrong()
	}
	return ""
}

func (f *answerForm) hints() []keymap.Hint {
	if !f.picked || !f.types() || f.overriding() {
		return nil
	}
	k := f.keys.Sheet
	hints := []keymap.Hint{{Binding: keymap.Titled(k.Note, "type"), More: f.text.Value() == ""}}
	if f.hasAnswer() && f.wrong() != "" {
		hints = append(hints, keymap.Hint{Binding: k.Unchecked})
	}
	return hints
}
