package views

import (
	"encoding/json"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
)

// answerForm takes the answer to a question: one of its choices, or a text.
type answerForm struct{ picker }

func (f *answerForm) title(row viewer.Row) string {
	switch {
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
func (f *answerForm) types() bool {
	n := len(f.offered())
	return n == 0 || len(f.entry().Choices) == 0 && f.option >= n
}

// last is the last choice, -1 for none.
func (f *answerForm) last() int {
	n := len(f.offered())
	if n == 0 || len(f.entry().Choices) > 0 {
		return n - 1
	}
	return n // another answer
}

func (f *answerForm) choices() bool { return !f.picked || len(f.offered()) > 0 && !f.focus }

func (f *answerForm) content(width int) []string {
	if !f.picked {
		return nil
	}
	return f.details(width, f.what(), "")
}

func (f *answerForm) inputs(width int) []string {
	if !f.picked {
		return f.list(width)
	}
	const most = 8 // around the cursor when there are many
	offered := f.offered()
	from := max(0, min(f.option-most/2, f.last()+1-most))
	var lines []string
	for i := from; i < min(f.last()+1, from+most); i++ {
		text := "another answer"
		if i < len(offered) {
			text = offered[i]
		}
		lines = append(lines, f.choice(text, i == f.option, width))
	}
	if f.types() {
		lines = append(lines, f.labelledField(f.what(), "tab types it", width, 5)...)
	}
	return lines
}

func (f *answerForm) key(msg tea.KeyMsg) {
	k := f.keys.Sheet
	switch last := f.last(); {
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
	if f.types() && f.text.Value() == "" {
		return handled
	}
	return confirms
}

func (f *answerForm) request() viewer.Request {
	r := viewer.Request{Action: viewer.Answer, Target: f.entry().ID}
	text := f.text.Value()
	if offered := f.offered(); !f.types() {
		text = offered[min(f.option, len(offered)-1)]
	} else {
		r.Unchecked = len(offered) > 0 // another one than those that pass was chosen
	}
	r.Value, _ = json.Marshal(text) // a string always has a JSON form
	return r
}

func (f *answerForm) refusal(read bool) string {
	if why := f.picker.refusal(read); why != "" {
		return why
	}
	if f.types() && f.text.Value() == "" {
		return "type the " + f.what() + " first"
	}
	if r := f.request(); !r.Unchecked {
		return f.entry().Refused(r.Value)
	}
	return ""
}

func (f *answerForm) hints() []keymap.Hint {
	if !f.picked || !f.types() {
		return nil
	}
	return []keymap.Hint{{Binding: keymap.Titled(f.keys.Sheet.Note, "type"), More: f.text.Value() == ""}}
}
