package views

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

func (s *sheet) key(msg tea.KeyMsg) tea.Cmd {
	defer s.arrange()
	k := s.keys.Sheet
	switch {
	case s.Typing():
		return s.text(msg)
	case key.Matches(msg, k.Leave):
		return s.esc()
	case s.now().Sub(s.opened) < openGrace:
		return nil
	case key.Matches(msg, k.Copy):
		return copyText(s.shared, commandLine(s.shared, s.request()), "the command")
	case s.scroll(msg):
		return nil
	case s.stage == ended && key.Matches(msg, k.Confirm):
		return s.leave()
	case s.stage == asking:
		return s.decide(msg)
	}
	return nil
}

// decide handles the keys that lead to a decision.
func (s *sheet) decide(msg tea.KeyMsg) tea.Cmd {
	k := s.keys.Sheet
	switch {
	case key.Matches(msg, k.Reload):
		return s.readPlan()
	case key.Matches(msg, k.Reveal):
		if !s.form.masked() && !s.reveal {
			return nil
		}
		s.reveal = !s.reveal
		return s.readPlan()
	case key.Matches(msg, k.Confirm):
		return s.enter()
	}
	s.form.key(msg)
	return nil
}

func (s *sheet) enter() tea.Cmd {
	switch s.form.enter() {
	case handled:
		s.form.handle()
		return nil
	case leaves:
		return s.leave()
	case resolvesFirst:
		return s.resolveInstead()
	}
	return s.confirm()
}

// resolveInstead replaces the sheet by the one that settles calls in doubt.
func (s *sheet) resolveInstead() tea.Cmd {
	row := s.row
	s.leave()
	return s.sheet(func(e *env) Screen { return newSheet(e, row, viewer.Resolve) })
}

// esc goes back one level; an action under way goes on.
func (s *sheet) esc() tea.Cmd {
	switch {
	case s.stage == running:
		s.leave()
		return notice("the action on "+s.row.Run+" goes on; its end is told here", theme.Attention)
	case s.stage == asking && s.form.deeper():
		s.form.back()
		return nil
	}
	return s.leave()
}

// text hands keys to the text field that has the focus.
func (s *sheet) text(msg tea.KeyMsg) tea.Cmd {
	k := s.keys.Text
	if !msg.Paste && key.Matches(msg, k.Done, k.Leave) {
		s.form.blur()
		return nil
	}
	if refused := s.form.field().Key(msg); refused != "" {
		return notice(refused, theme.Attention)
	}
	return nil
}

// scroll moves the text. Up and down do, unless the form has choices.
func (s *sheet) scroll(msg tea.KeyMsg) bool {
	k := s.keys.Sheet
	switch {
	case key.Matches(msg, k.Up) && !s.choosing():
		s.pane.Scroll(-1)
	case key.Matches(msg, k.Down) && !s.choosing():
		s.pane.Scroll(1)
	case key.Matches(msg, k.PageUp):
		s.pane.Page(-1)
	case key.Matches(msg, k.PageDown):
		s.pane.Page(1)
	case key.Matches(msg, k.Top):
		s.pane.Top()
	case key.Matches(msg, k.Bottom):
		s.pane.Bottom()
	default:
		return false
	}
	return true
}

func (s *sheet) choosing() bool { return s.stage == asking && s.form.choices() }

// confirmHint is what enter does now, or why it does nothing.
func (s *sheet) confirmHint() keymap.Hint {
	h := keymap.Hint{Binding: keymap.Titled(s.keys.Sheet.Confirm, s.form.verb())}
	if s.form.enter() == confirms {
		h.Off = s.refusal()
	}
	return h
}

// Help implements Screen.
func (s *sheet) Help() []keymap.Hint {
	k := s.keys.Sheet
	leave := keymap.Hint{Binding: k.Leave}
	help := keymap.Hint{Binding: k.Help}
	if s.Typing() {
		t := s.keys.Text
		return []keymap.Hint{{Binding: t.Done}, {Binding: t.NewLine}, {Binding: t.Leave}}
	}
	switch s.stage {
	case asking:
		if s.form.deeper() {
			leave.Binding = keymap.Titled(k.Leave, "back")
		}
	case loading:
		return []keymap.Hint{leave}
	case running:
		return []keymap.Hint{{Binding: keymap.Titled(k.Leave, "leave, it goes on")}, help}
	case ended:
		return []keymap.Hint{{Binding: keymap.Titled(k.Confirm, "close")}, help}
	}
	hints := []keymap.Hint{s.confirmHint()}
	hints = append(append(hints, s.form.hints()...), leave)
	if s.form.masked() || s.reveal {
		title := "show secrets"
		if s.reveal {
			title = "hide secrets"
		}
		hints = append(hints, keymap.Hint{Binding: keymap.Titled(k.Reveal, title)})
	}
	reload := keymap.Hint{Binding: k.Reload, More: s.stale == "" && s.problem == nil}
	return append(hints, reload,
		keymap.Hint{Binding: k.Up, More: true}, keymap.Hint{Binding: k.Down, More: true},
		keymap.Hint{Binding: k.PageUp, More: true}, keymap.Hint{Binding: k.PageDown, More: true},
		keymap.Hint{Binding: k.Top, More: true}, keymap.Hint{Binding: k.Bottom, More: true},
		keymap.Hint{Binding: k.Copy, More: true}, help)
}
