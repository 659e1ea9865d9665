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
	if f.picked {
		return row.Run + " asks"
	}
	return "Questions"
}

func (f *answerForm) verb() string {
	if f.picked && f.enter() == handled {
		return "type the answer"
	}
	return f.chooses("answer")
}

func (f *answerForm) choices() bool { return !f.picked || len(f.entry().Choices) > 0 }

func (f *answerForm) content(width int) []string {
	if !f.picked {
		return nil
	}
	return f.details(width, "answer", "")
}

func (f *answerForm) inputs(width int) []string {
	e := f.entry()
	if !f.picked {
		return f.list(width)
	}
	if len(e.Choices) == 0 {
		return f.labelledField("answer", "tab types it", width, 5)
	}
	// Around the cursor when there are many.
	const most = 8
	from := max(0, min(f.option-most/2, len(e.Choices)-most))
	var lines []string
	for i := from; i < min(len(e.Choices), from+most); i++ {
		lines = append(lines, f.choice(e.Choices[i], i == f.option, width))
	}
	return lines
}

func (f *answerForm) key(msg tea.KeyMsg) {
	k := f.keys.Sheet
	last := len(f.entry().Choices) - 1
	switch {
	case !f.picked || last < 0:
		f.picker.key(msg)
	case key.Matches(msg, k.Up):
		f.option = max(0, f.option-1)
	case key.Matches(msg, k.Down):
		f.option = min(f.option+1, last)
	}
}

func (f *answerForm) enter() reaction {
	if r := f.picker.enter(); r != confirms {
		return r
	}
	if len(f.entry().Choices) == 0 && f.text.Value() == "" {
		return handled
	}
	return confirms
}

func (f *answerForm) request() viewer.Request {
	r := viewer.Request{Action: viewer.Answer, Target: f.entry().ID}
	text := f.text.Value()
	if c := f.entry().Choices; len(c) > 0 {
		text = c[min(f.option, len(c)-1)]
	}
	r.Value, _ = json.Marshal(text) // a string always has a JSON form
	return r
}

func (f *answerForm) refusal(read bool) string {
	if why := f.picker.refusal(read); why != "" {
		return why
	}
	if len(f.entry().Choices) == 0 && f.text.Value() == "" {
		return "type an answer first"
	}
	return ""
}

func (f *answerForm) hints() []keymap.Hint {
	if !f.picked || len(f.entry().Choices) > 0 {
		return nil
	}
	return []keymap.Hint{{Binding: keymap.Titled(f.keys.Sheet.Note, "type"), More: f.text.Value() == ""}}
}
