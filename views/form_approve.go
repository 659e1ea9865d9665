package views

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

// approveForm shows everything that is to be approved. Denying takes two keys:
// the first only turns the sheet, because the same key scrolls elsewhere.
type approveForm struct{ picker }

func (f *approveForm) title(viewer.Row) string {
	switch {
	case f.denying:
		return "Deny " + f.entry().Tool
	case f.picked:
		return f.entry().Tool + " wants your approval"
	}
	return "Approvals"
}

func (f *approveForm) verb() string {
	if f.denying {
		return "deny"
	}
	return f.chooses("approve")
}

func (f *approveForm) content(width int) []string {
	if !f.picked {
		return nil
	}
	return f.details(width, "approve", "deny")
}

func (f *approveForm) inputs(width int, low bool) []string {
	if !f.picked {
		return f.list(width, low)
	}
	lines := f.labelledField("note", "tab types one", width, atMost(3, low))
	if f.denying {
		if !low {
			lines = append(lines, sentence(f.shared, "deny", f.entry().IfNo, width)...) // its place above may be off the screen
		}
		lines = append(lines, f.styles.Tone(theme.Danger).Render("deny it? enter denies, esc goes back"))
	}
	return lines
}

func (f *approveForm) request() viewer.Request {
	r := viewer.Request{Action: viewer.Approve, Target: f.entry().ID, Note: f.value()}
	if f.denying {
		r.Action = viewer.Deny
	}
	return r
}

func (f *approveForm) key(msg tea.KeyMsg) {
	if f.picked && key.Matches(msg, f.keys.Sheet.Deny) {
		f.denying = true
		return
	}
	f.picker.key(msg)
}

func (f *approveForm) deeper() bool { return f.denying || f.picker.deeper() }

func (f *approveForm) back() {
	if f.denying {
		f.denying = false
		return
	}
	f.picker.back()
}

func (f *approveForm) hints() []keymap.Hint {
	if !f.picked {
		return nil
	}
	k := f.keys.Sheet
	note := keymap.Hint{Binding: keymap.Titled(k.Note, "note")}
	if f.denying {
		return []keymap.Hint{note}
	}
	return []keymap.Hint{{Binding: k.Deny}, note}
}
