package views

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

func (s *sheet) key(msg tea.KeyMsg) tea.Cmd {
	s.watch()
	defer s.arrange()
	k := s.keys.Sheet
	if s.early = s.now().Before(s.calm); s.early {
		s.guard()
	}
	s.early = s.early || s.pace.burst() || s.pane.Fresh()
	switch {
	case s.Typing():
		return s.text(msg)
	case key.Matches(msg, k.Leave):
		return s.esc()
	case s.now().Sub(s.opened) < openGrace:
		return nil
	case key.Matches(msg, k.Copy):
		if line := commandLine(s.shared, s.request()); line != "" {
			return copyText(s.shared, line)
		}
		return notice("no command line does the same", theme.Attention)
	case s.scroll(msg):
		return nil
	case s.stage == ended && key.Matches(msg, k.Confirm):
		if s.early {
			return nil // it is of the key that confirmed
		}
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
	if !s.cramped && !s.hides() { // else it would be for what is not on the screen
		s.form.key(msg)
	}
	return nil
}

// guard lets enter do nothing until no key came for a while. Every key before
// that begins the wait anew, so neither a key that bounces or is held down nor
// pasted text confirms what a person has not looked at.
func (s *sheet) guard() { s.calm = s.now().Add(grace) }

func (s *sheet) enter() tea.Cmd {
	if s.early {
		return notice("look, then press enter again", theme.Attention)
	}
	if s.cramped || s.hides() || !s.fits(s.inputs()) {
		return notice(s.refusal(), theme.Attention)
	}
	switch s.form.enter() {
	case handled:
		s.form.handle()
		s.guard()
		return nil
	case leaves:
		return s.leave()
	case resolvesFirst:
		return s.resolveInstead()
	}
	switch why := s.refusal(); {
	case why != "":
		return notice(why, theme.Attention)
	case s.unnamed():
		s.naming = true
		s.guard()
		return nil
	}
	s.armed = s.pace.n
	return rest(s.env)
}

// rested confirms what enter asked for, unless a key came at once after it:
// then it was the start of pasted text.
func (s *sheet) rested() tea.Cmd {
	if s.armed != s.pace.n {
		return nil
	}
	s.armed = 0
	return s.confirm()
}

// resolveInstead replaces the sheet by the one that settles calls in doubt.
func (s *sheet) resolveInstead() tea.Cmd {
	row, reveal := s.row, s.reveal
	s.leave()
	return s.sheet(func(e *env) Screen { return newSheet(e, row, viewer.Resolve, target{}, reveal) })
}

// esc goes back one level; an action under way goes on.
func (s *sheet) esc() tea.Cmd {
	switch {
	case s.stage == running:
		s.leave()
		return notice("the action on "+s.row.Run+" goes on; its end is told here", theme.Attention)
	case s.stage == asking && s.form.deeper():
		s.form.back()
		s.guard()
		return nil
	}
	return s.leave()
}

// text hands keys to the text field that has the focus.
func (s *sheet) text(msg tea.KeyMsg) tea.Cmd {
	k := s.keys.Text
	pasting := !msg.Paste && s.pace.pasting(s.now())
	switch {
	case pasting && key.Matches(msg, s.keys.Sheet.Confirm):
		s.breaks++
		return notice("that enter came with other text: press it again to leave the field", theme.Attention)
	case !msg.Paste && key.Matches(msg, k.Done, k.Leave):
		s.breaks, s.naming = 0, false
		s.form.blur()
		s.guard()
		return nil
	}
	if refused := s.insertBreaks(msg) + s.field().Key(msg); refused != "" {
		return notice(refused, theme.Attention)
	}
	return nil
}

// insertBreaks puts the new lines before the text that they came before. Those
// at the end of pasted text are left out. A line may end in two characters.
func (s *sheet) insertBreaks(msg tea.KeyMsg) string {
	n := s.breaks
	s.breaks = 0
	if n > 0 && key.Matches(msg, s.keys.Text.NewLine) {
		n--
	}
	if n == 0 || s.pace.gap >= fieldTail {
		return ""
	}
	return s.field().Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("\n", n)), Paste: true})
}

// field is the text field that has the focus.
func (s *sheet) field() *widget.Field {
	if s.naming {
		return s.name
	}
	return s.form.field()
}

// unnamed reports that the run id has still to be typed: nothing is done to a
// production store by a habit of the fingers.
func (s *sheet) unnamed() bool {
	typed := strings.TrimSpace(s.name.Value())
	return storeInfo(s.shared, s.row).Production && typed != s.row.Run && typed != s.row.Ref.Run
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

func (s *sheet) choosing() bool { return s.stage == asking && s.form.choices() && !s.cramped }

// confirmHint is what enter does now, or why it does nothing.
func (s *sheet) confirmHint() keymap.Hint {
	h := keymap.Hint{Binding: keymap.Titled(s.keys.Sheet.Confirm, s.form.verb())}
	if s.form.enter() != confirms && !s.cramped {
		return h
	}
	if h.Off = s.refuses(s.pane.Unseen() == 0 && s.pane.Len() > 0); h.Off == "" && s.unnamed() {
		h.Binding = keymap.Titled(h.Binding, "type the run id")
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
	if !s.cramped {
		hints = append(hints, s.form.hints()...)
	}
	hints = append(hints, leave)
	if s.form.masked() || s.reveal {
		title := "show secrets"
		if s.reveal {
			title = "hide secrets"
		}
		hints = append(hints, keymap.Hint{Binding: keymap.Titled(k.Reveal, title)})
	}
	reload := keymap.Hint{Binding: k.Reload, More: s.stale == "" && s.problem == nil && s.unseen == nil}
	return append(hints, reload,
		keymap.Hint{Binding: k.Up, More: true}, keymap.Hint{Binding: k.Down, More: true},
		keymap.Hint{Binding: k.PageUp, More: true}, keymap.Hint{Binding: k.PageDown, More: true},
		keymap.Hint{Binding: k.Top, More: true}, keymap.Hint{Binding: k.Bottom, More: true},
		keymap.Hint{Binding: k.Copy, More: true}, help)
}
