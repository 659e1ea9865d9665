package views

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

// key goes to the tab first, then to what all tabs have in common.
func (r *runScreen) key(msg tea.KeyMsg) tea.Cmd {
	k, g := r.keys.Detail, r.keys.Global
	if cmd, done := r.tab().key(msg); done {
		return cmd
	}
	switch {
	case key.Matches(msg, g.Back):
		if r.tab().back() {
			return nil
		}
		return r.leave()
	case key.Matches(msg, g.Refresh):
		return tea.Batch(r.readDetail(), r.tab().read(true))
	case key.Matches(msg, g.Copy):
		return copyText(r.shared, r.ref.Run)
	case key.Matches(msg, k.Tabs.Prev):
		return r.choose(r.at - 1)
	case key.Matches(msg, k.Tabs.Next):
		return r.choose(r.at + 1)
	case key.Matches(msg, k.Before):
		return r.moveStep(-1)
	case key.Matches(msg, k.After):
		return r.moveStep(1)
	case key.Matches(msg, k.Latest):
		return r.setStep(latest)
	case key.Matches(msg, k.Verify):
		return tea.Batch(r.verifies.start(), r.show(r.verifies))
	}
	for i, b := range k.Pick {
		if i < len(r.tabs) && key.Matches(msg, b) {
			return r.choose(i)
		}
	}
	return r.actionKey(msg)
}

// actionKey opens the sheets, the same as in the list of runs.
func (r *runScreen) actionKey(msg tea.KeyMsg) tea.Cmd {
	if !r.detail.loaded {
		return nil
	}
	on := anything
	if t, ok := r.tab().(aimer); ok {
		on = t.aim
	}
	cmd, _ := openAction(r.shared, r.keys.Detail.Actions, msg, r.row(), r.off(), on, r.reveal)
	return cmd
}

// row is the run as a row of the list.
func (r *runScreen) row() viewer.Row { return r.detail.value.Row }

// off is why nothing can be done to the run now, "" when it can.
func (r *runScreen) off() string {
	if p := r.detail.problem; p != nil {
		return "the run cannot be read: " + p.Message
	}
	return ""
}

// setReveal shows or hides secrets. Hiding takes effect at once, whether the
// store answers or not.
func (r *runScreen) setReveal(on bool) tea.Cmd {
	r.reveal = on
	if on {
		r.calls.drop()
		r.state.drop()
		r.talk.drop()
	} else {
		r.calls.forget()
		r.open = false
		r.called.changed()
		r.state.forget()
		r.talk.forget()
	}
	text := "secrets are hidden"
	if on {
		text = "secrets are shown until you hide them or leave the run"
	}
	return tea.Batch(r.tab().read(true), notice(text, theme.Attention))
}

func (r *runScreen) revealHint(masked int) keymap.Hint {
	h := keymap.Hint{Binding: r.keys.Detail.Reveal}
	switch {
	case r.reveal:
		h.Binding = keymap.Titled(h.Binding, "hide secrets")
	case masked == 0:
		h.Off = "nothing here is masked"
	}
	return h
}

// Help implements Screen.
func (r *runScreen) Help() []keymap.Hint {
	k, g := r.keys.Detail, r.keys.Global
	if r.Typing() {
		return r.tab().hints()
	}
	hints := actionHints(r.shared, k.Actions, r.row(), r.off())
	back := keymap.Hint{Binding: keymap.Titled(g.Back, "back")}
	none := ""
	if len(r.history()) < 2 {
		none = "there are no other steps"
	}
	newest := none
	if r.step == latest {
		newest = "this is the latest step"
	}
	hints = append(append(r.tab().hints(), hints...), keymap.Hint{Binding: k.Latest, Off: newest}, back,
		keymap.Hint{Binding: k.Tabs.All}, keymap.Hint{Binding: g.Refresh},
		keymap.Hint{Binding: k.Verify, More: !r.shows(r.verifies)},
		keymap.Hint{Binding: k.Before, Off: none, More: true}, keymap.Hint{Binding: k.After, Off: newest, More: true},
		keymap.Hint{Binding: k.Tabs.Prev, More: true}, keymap.Hint{Binding: k.Tabs.Next, More: true},
		keymap.Hint{Binding: keymap.Titled(g.Copy, "copy the run id"), More: true})
	return append(hints, moveHints(k.Nav)...)
}
