package views

import (
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/views/theme"
)

// key decides who gets a key: ctrl+c first, then a text field, then the keys
// of the whole program, then the layer in front. In a window that is too small
// nobody does but ctrl+c: nothing that a key would act on is shown there.
func (a *App) key(msg tea.KeyMsg) tea.Cmd {
	if key.Matches(msg, a.keys.Global.Kill) && !msg.Paste {
		a.suspending = false
		return a.quit("ctrl+c again cuts the tool off; if not idempotent, its call is then in doubt")
	}
	a.pace.n++
	if a.tooSmall() {
		a.pace.note(msg, a.now(), pasteTail) // the rest of pasted text may come after the window grew
		return nil
	}
	front := a.frontLayer().screen
	if !a.unread() {
		a.notice = noticeMsg{}
	}
	if front.Typing() {
		a.leaving, a.suspending = false, false
		a.pace.note(msg, a.now(), fieldTail)
		return front.Update(msg)
	}
	if cmd, ok := a.filterBurst(msg); ok {
		return cmd
	}
	msgs, pasted := a.pace.keys(msg, a.now(), a.keys.Moves())
	if pasted {
		a.tell(noticeMsg{"pasted text does nothing here", theme.Attention})
		return nil
	}
	cmds := make([]tea.Cmd, 0, len(msgs))
	for _, m := range msgs {
		cmds = append(cmds, a.command(m))
	}
	return tea.Batch(cmds...)
}

// filterBurst handles "/" that arrives in one piece with the text that was
// typed after it, as it does over a slow line.
func (a *App) filterBurst(msg tea.KeyMsg) (tea.Cmd, bool) {
	if msg.Paste || msg.Type != tea.KeyRunes || len(msg.Runes) < 2 || a.pace.pasting(a.now()) {
		return nil, false
	}
	first := tea.KeyMsg{Type: tea.KeyRunes, Runes: msg.Runes[:1]}
	if !key.Matches(first, a.keys.List.Filter) || a.frontLayer().sheet {
		return nil, false
	}
	open := a.command(first)
	if !a.frontLayer().screen.Typing() {
		return open, true
	}
	a.pace.note(msg, a.now(), fieldTail)
	rest := a.frontLayer().screen.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: msg.Runes[1:]})
	return tea.Batch(open, rest), true
}

// command handles one key that is not text.
func (a *App) command(msg tea.KeyMsg) tea.Cmd {
	front := a.frontLayer()
	if key.Matches(msg, a.keys.Global.Suspend) {
		return a.suspend()
	}
	a.suspending = false
	if !front.sheet {
		switch {
		case key.Matches(msg, a.keys.Global.Quit):
			return a.quit("q again cuts the running tool off; if not idempotent, its call is then in doubt")
		case key.Matches(msg, a.keys.Global.Help):
			return a.openHelp()
		}
	} else if key.Matches(msg, a.keys.Sheet.Help) && !isHelp(front.screen) {
		return a.openHelp()
	}
	a.leaving = false
	return front.screen.Update(msg)
}

// quit leaves, unless an action is under way: then it warns, and leaves when it
// is asked again.
func (a *App) quit(warning string) tea.Cmd {
	if a.acting > 0 && !a.leaving {
		a.leaving = true
		a.tell(noticeMsg{warning, theme.Attention})
		return nil
	}
	return tea.Quit
}

// suspend goes to the shell. With an action under way it warns first, and does so
// when it is asked again: what stands still renews no lease.
func (a *App) suspend() tea.Cmd {
	a.leaving = false
	if a.acting > 0 && !a.suspending {
		a.suspending = true
		a.tell(noticeMsg{"ctrl+z again suspends: the lease may then run out, and the call be in doubt", theme.Attention})
		return nil
	}
	a.suspending = false
	return tea.Suspend
}

// outcome tells the sheet that acted, or everybody when it is closed.
func (a *App) outcome(msg outcomeMsg) tea.Cmd {
	a.acting = max(0, a.acting-1)
	for _, l := range a.layers {
		if l.id == msg.screen {
			return tea.Batch(l.screen.Update(msg), a.broadcast(changedMsg{}))
		}
	}
	n := noticeMsg{msg.Run + ": " + msg.Outcome.Outcome, outcomeTone(msg.Outcome)}
	if msg.Problem != nil {
		n = noticeMsg{msg.Run + ": " + msg.Problem.Message, theme.Danger}
	}
	a.notice, a.told, a.owed = n, a.now(), true
	return a.broadcast(changedMsg{})
}

// notWatching is what the header says without change notices.
const notWatching = "not live, r reads again"

// watching notes whether change notices arrive.
func (a *App) watching(msg watchingMsg) tea.Cmd {
	a.live = msg.notices != nil && msg.problem == nil
	if !a.live {
		a.notLive = notWatching
		return rewatch()
	}
	missed := a.notLive == notWatching
	a.notLive = ""
	next := nextNotice(a.shared, msg.notices)
	if missed {
		return tea.Batch(next, a.broadcast(changedMsg{}))
	}
	return next
}

// changed tells every layer and waits for the next notice.
func (a *App) changed(msg changedMsg) tea.Cmd {
	if msg.notices == nil {
		return a.broadcast(msg)
	}
	return tea.Batch(a.broadcast(msg), nextNotice(a.shared, msg.notices))
}

// noticeFor is how long a notice stays when no key is pressed.
const noticeFor = 5 * time.Second

// owedFor is how long it stays whatever key is pressed, when it tells what became of
// an action: the key was not for it.
const owedFor = 2 * time.Second

// tell shows one sentence in the footer.
func (a *App) tell(n noticeMsg) {
	if !a.unread() {
		a.notice, a.told, a.owed = n, a.now(), false
	}
}

// unread reports that nobody can have read yet what became of an action.
func (a *App) unread() bool { return a.owed && a.now().Sub(a.told) < owedFor }

func (a *App) tick(msg tickMsg) tea.Cmd {
	if a.now().Sub(a.told) > noticeFor {
		a.notice = noticeMsg{}
	}
	return tea.Batch(a.broadcast(msg), a.beat(), tick())
}

// beat lets what can be seen look whether it is too old.
func (a *App) beat() tea.Cmd {
	var cmds []tea.Cmd
	for _, l := range a.seen() {
		cmds = append(cmds, l.screen.Update(beatMsg{}))
	}
	return tea.Batch(cmds...)
}

// front implements navigator.
func (a *App) front(id int) bool { return a.frontLayer().id == id }

// quiet implements navigator.
func (a *App) quiet(id int) bool { return a.front(id) && a.notice.Text == "" }
