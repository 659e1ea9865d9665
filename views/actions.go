package views

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

// actionKey is a key and the action whose sheet it opens.
type actionKey struct {
	binding key.Binding
	action  viewer.Action
	none    string // why it does nothing for a run that does not offer it
}

func actionKeys(a keymap.Actions) []actionKey {
	return []actionKey{
		{a.Approve, viewer.Approve, "the run waits for no approval"},
		{a.Resolve, viewer.Resolve, "the run has no call in doubt"},
		{a.Answer, viewer.Answer, "the run asks nothing"},
		{a.Recover, viewer.Recover, "the run needs no recovery"},
	}
}

// alive reports that somebody works on the run now.
func alive(s *shared, row viewer.Row) bool {
	return row.Lease != nil && row.Lease.Expires.After(s.now())
}

// refusal is why the action is not possible for the row, "" when it is. off is
// a reason that concerns all actions.
func (k actionKey) refusal(row viewer.Row, off string) string {
	why := k.none
	for _, o := range row.Actions {
		switch {
		case o.Action != k.action:
		case o.Disabled == "":
			return off
		default:
			why = o.Disabled
		}
	}
	return why
}

// takesOver reports that the sheet opens although the run cannot be recovered
// as it is: somebody works on it, and the sheet offers to take it over.
func (k actionKey) takesOver(s *shared, row viewer.Row, off string) bool {
	return k.action == viewer.Recover && off == "" && alive(s, row)
}

// actionHints is the help for the action keys, for a row.
func actionHints(s *shared, a keymap.Actions, row viewer.Row, off string) []keymap.Hint {
	var hints []keymap.Hint
	for _, k := range actionKeys(a) {
		h := keymap.Hint{Binding: k.binding, Off: k.refusal(row, off)}
		if k.takesOver(s, row, off) {
			h = keymap.Hint{Binding: keymap.Titled(k.binding, "take over, it is alive"), More: true}
		}
		hints = append(hints, h)
	}
	return hints
}

// target is the call that a sheet is opened for: one of the same id that has
// other arguments is another one. The zero target is any.
type target struct{ id, digest string }

// aimer is a tab that knows which call is under its cursor.
type aimer interface {
	aim(viewer.Action) target
}

func anything(viewer.Action) target { return target{} }

// aimAt is the call as a target, if the action is for one that stands like this.
func aimAt(a viewer.Action, state viewer.CallState, id, digest string) target {
	if a == viewer.Approve && state == viewer.CallWaiting || a == viewer.Resolve && state == viewer.CallInDoubt {
		return target{id, digest}
	}
	return target{}
}

func (t target) is(e viewer.ReviewEntry) bool {
	return t.id != "" && e.ID == t.id && e.Digest == t.digest
}

// openAction opens the sheet of the action that the key stands for, or says
// why it is not possible. It reports false for any other key.
func openAction(s *shared, a keymap.Actions, msg tea.KeyMsg, row viewer.Row, off string, on func(viewer.Action) target, reveal bool) (tea.Cmd, bool) {
	for _, k := range actionKeys(a) {
		if !key.Matches(msg, k.binding) {
			continue
		}
		if why := k.refusal(row, off); why != "" && !k.takesOver(s, row, off) {
			return notice(row.Run+": "+why, theme.Attention), true
		}
		return s.sheet(func(e *env) Screen { return newSheet(e, row, k.action, on(k.action), reveal) }), true
	}
	return nil, false
}
