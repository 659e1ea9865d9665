package views

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

// conversationTab shows the messages at the step cursor, and what the run waits
// for. It is there only for runs that have a conversation.
type conversationTab struct {
	r     *runScreen
	now   source[viewer.Conversation]
	asked stateKey // of the request in flight, or of what is shown
	shown stateKey // what is shown
	open  bool     // what is shown was read with secrets

	text   talkText
	opened bool // the block under the cursor is shown in full
	pane   widget.TextPane
	beside drawnBlock
}

func (t *conversationTab) title() widget.Tab { return widget.Tab{Title: "Conversation"} }
func (t *conversationTab) typing() bool      { return false }
func (t *conversationTab) ready() bool       { return t.now.loaded }

func (t *conversationTab) failed() *failure {
	if f := t.now.failed(); f != nil || !t.opened {
		return f
	}
	return t.r.calls.failed()
}

func (t *conversationTab) back() bool {
	was := t.opened
	t.opened = false
	return was
}

// drop makes what is on its way stale.
func (t *conversationTab) drop() { t.now.drop() }

// forget throws away all that was read.
func (t *conversationTab) forget() {
	t.now.forget()
	t.open, t.opened = false, false
	t.text.set(t.r.styles, viewer.Conversation{})
}

// wanted is what should be shown: the overview is of the newest step always.
func (t *conversationTab) wanted() stateKey {
	k := stateKey{step: t.r.step, reveal: t.r.reveal}
	if !t.r.shows(t) {
		k.step = latest
	}
	if k.step == latest {
		k.version = t.r.row().Version
	}
	return k
}

// read reads the conversation that is wanted, at most one at a time, and the
// calls where they are shown.
func (t *conversationTab) read(again bool) tea.Cmd {
	var calls tea.Cmd
	if t.r.shows(t) {
		calls = t.r.readCalls()
	}
	want := t.wanted()
	if t.now.busy || !again && t.now.loaded && t.now.problem == nil && t.shown == want {
		return calls
	}
	t.asked = want
	return tea.Batch(calls, loadConversation(t.r.env, t.now.ask(t.r.env), t.r.ref, want.step, want.reveal))
}

func (t *conversationTab) got(msg reply[viewer.Conversation]) tea.Cmd {
	switch {
	case msg.n == t.now.n && !t.asked.sameStep(t.wanted()):
		t.now.drop() // the step cursor went on
		return t.read(true)
	case !t.now.got(msg, t.r.now()) || msg.Problem != nil:
		return nil
	}
	t.shown, t.open = t.asked, t.asked.reveal
	t.text.set(t.r.styles, t.now.value)
	t.callsChanged()
	if t.shown != t.wanted() {
		return t.read(false)
	}
	return nil
}

// newest is the conversation where the run stands, if that is what was read.
func (t *conversationTab) newest() (viewer.Conversation, bool) {
	return t.now.value, t.now.loaded && t.shown.step == latest
}

// callsChanged draws anew what is shown of the call log.
func (t *conversationTab) callsChanged() { t.beside = drawnBlock{} }

func (t *conversationTab) key(msg tea.KeyMsg) (tea.Cmd, bool) {
	k := t.r.keys.Detail
	switch {
	case key.Matches(msg, k.Reveal):
		if !t.r.reveal && t.now.value.Masked == 0 {
			return nil, true
		}
		return t.r.setReveal(!t.r.reveal), true
	case key.Matches(msg, k.Left):
		return t.r.moveStep(-1), true
	case key.Matches(msg, k.Right):
		return t.r.moveStep(1), true
	case t.opened:
		return nil, paneKey(msg, k.Nav, &t.pane)
	case key.Matches(msg, k.Open):
		if t.opened = len(t.text.blocks) > 0; t.opened {
			t.pane.Reset()
		}
		return nil, true
	}
	t.text.fit(leftOf(t.r.width), t.text.height) // keys may come before a frame
	return nil, navigate(msg, k.Nav, t.text.height, t.text.move, t.text.start, t.text.end)
}

// aim is the call under the cursor.
func (t *conversationTab) aim(a viewer.Action) target {
	c, ok := t.text.call()
	if !ok || !t.now.value.Latest {
		return target{}
	}
	return aimAt(a, c.Status, c.Call, c.Digest)
}

func (t *conversationTab) hints() []keymap.Hint {
	k := t.r.keys.Detail
	open := keymap.Hint{Binding: keymap.Titled(k.Open, "open the message")}
	if _, ok := t.text.call(); ok {
		open.Binding = keymap.Titled(k.Open, "open the call")
	}
	switch {
	case len(t.text.blocks) == 0:
		open.Off = "there are no messages"
	case t.opened:
		open.Off = "it is open"
	}
	return []keymap.Hint{open, t.r.revealHint(t.now.value.Masked), {Binding: keymap.Titled(k.Left, "earlier"), More: true}, {Binding: keymap.Titled(k.Right, "later"), More: true}}
}
