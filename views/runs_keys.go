package views

import (
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

func (r *runs) key(msg tea.KeyMsg) tea.Cmd {
	k, g := r.keys.List, r.keys.Global
	if r.move(msg) {
		r.away = viewer.Ref{}
		return r.readMore()
	}
	switch {
	case key.Matches(msg, g.Back):
		return r.clearFilter()
	case key.Matches(msg, g.Refresh):
		return r.refresh()
	case key.Matches(msg, k.Filter):
		r.typing = true
		r.arrange()
		return nil
	case key.Matches(msg, k.Owner):
		return r.openOwners()
	case key.Matches(msg, k.Tabs.Prev):
		return r.choose(r.tab - 1)
	case key.Matches(msg, k.Tabs.Next):
		return r.choose(r.tab + 1)
	}
	for i, b := range k.Pick {
		if i < len(viewer.Tabs) && key.Matches(msg, b) {
			return r.choose(i)
		}
	}
	return r.rowKey(msg)
}

// move handles the keys that move the cursor.
func (r *runs) move(msg tea.KeyMsg) bool {
	k := r.keys.List.Nav
	switch {
	case key.Matches(msg, k.Up):
		r.table.Move(-1)
	case key.Matches(msg, k.Down):
		r.table.Move(1)
	case key.Matches(msg, k.PageUp):
		r.table.Page(-2)
	case key.Matches(msg, k.PageDown):
		r.table.Page(2)
	case key.Matches(msg, k.HalfUp):
		r.table.Page(-1)
	case key.Matches(msg, k.HalfDown):
		r.table.Page(1)
	case key.Matches(msg, k.Top):
		r.table.Top()
	case key.Matches(msg, k.Bottom):
		r.table.Bottom()
	default:
		return false
	}
	return true
}

// rowKey handles the keys that concern the row under the cursor.
func (r *runs) rowKey(msg tea.KeyMsg) tea.Cmd {
	row, ok := r.table.Selected()
	if !ok {
		return nil
	}
	r.away = viewer.Ref{} // this row is the one that is worked on now
	k := r.keys.List
	if cmd, done := openAction(r.shared, k.Actions, msg, row, r.off(row), anything, false); done {
		return cmd
	}
	switch {
	case key.Matches(msg, k.Open):
		return r.push(func(e *env) Screen { return newRunScreen(e, row.Ref) })
	case key.Matches(msg, r.keys.Global.Copy):
		return copyText(r.shared, row.Ref.Run)
	case key.Matches(msg, k.Verify):
		return r.verifyRow(row)
	}
	return nil
}

// verifyRow checks one run again, whatever was known of it.
func (r *runs) verifyRow(row viewer.Row) tea.Cmd {
	if r.check.busy {
		return notice("still verifying, try again in a moment", theme.Attention)
	}
	r.checked[row.Ref], r.asked = row.Version, row
	return tea.Batch(verify(r.env, r.check.ask(r.env), viewer.VerifyRequest{Refs: []viewer.Ref{row.Ref}}),
		notice("verifying "+row.Run+r.styles.Ellipsis, theme.Muted))
}

// choose shows another tab.
func (r *runs) choose(tab int) tea.Cmd {
	n := len(viewer.Tabs)
	tab = (tab + n) % n
	if tab == r.tab {
		return nil
	}
	r.tab = tab
	return r.restart()
}

// openOwners asks whose runs to show.
func (r *runs) openOwners() tea.Cmd {
	if why := keptTo(r.shared); why != "" {
		return notice(why, theme.Attention)
	}
	return r.sheet(func(e *env) Screen { return newOwners(e, r.narrow) })
}

// narrow shows the runs of others. Nothing that was read of the ones before is
// shown as theirs.
func (r *runs) narrow(to scope) tea.Cmd {
	r.scope = to
	r.counts, r.doubt, r.others = nil, nil, 0
	r.tally.drop()
	r.beyond.drop()
	r.look.drop()
	r.tallied, r.looked = time.Time{}, time.Time{}
	return r.restart()
}

// restart empties the list and reads what belongs there now.
func (r *runs) restart() tea.Cmd {
	r.loaded, r.next, r.last, r.away, r.left = false, "", viewer.Ref{}, viewer.Ref{}, ""
	r.more.drop()
	r.table.SetRows(nil)
	clear(r.checked)
	return r.refresh()
}

// filterKey handles keys while the filter line has the focus. The list follows
// what is typed.
func (r *runs) filterKey(msg tea.KeyMsg) tea.Cmd {
	k := r.keys.Filter
	switch {
	case key.Matches(msg, k.Keep) && !msg.Paste:
		r.typing = false
		r.arrange()
		return nil
	case key.Matches(msg, k.Clear) && !msg.Paste:
		r.typing = false
		return r.clearFilter()
	}
	before := r.filter.Value()
	refused := r.filter.Key(msg)
	if refused != "" {
		return notice(refused, theme.Attention)
	}
	if r.filter.Value() == before {
		return nil
	}
	return r.readPage()
}

func (r *runs) clearFilter() tea.Cmd {
	defer r.arrange()
	if r.filter.Value() == "" {
		return nil
	}
	r.filter.Set("")
	return r.readPage()
}

// Help implements Screen.
func (r *runs) Help() []keymap.Hint {
	k, g := r.keys.List, r.keys.Global
	if r.typing {
		return []keymap.Hint{{Binding: r.keys.Filter.Keep}, {Binding: r.keys.Filter.Clear}}
	}
	row, ok := r.table.Selected()
	none := ""
	if !ok {
		none = "no run is selected"
	}
	hints := []keymap.Hint{{Binding: k.Open, Off: none}}
	hints = append(hints, actionHints(r.shared, k.Actions, row, r.off(row))...)
	back := keymap.Hint{Binding: keymap.Titled(g.Back, "clear the filter")}
	if r.filter.Value() == "" {
		back.Off = "there is no filter"
	}
	return append(hints,
		keymap.Hint{Binding: k.Filter}, back,
		keymap.Hint{Binding: k.Owner, Off: keptTo(r.shared)},
		keymap.Hint{Binding: keymap.Titled(g.Copy, "copy id"), Off: none},
		keymap.Hint{Binding: g.Refresh},
		keymap.Hint{Binding: k.Verify, Off: none, More: true},
		keymap.Hint{Binding: k.Tabs.All, More: true}, keymap.Hint{Binding: k.Tabs.Prev, More: true},
		keymap.Hint{Binding: k.Tabs.Next, More: true},
		keymap.Hint{Binding: k.Up, More: true}, keymap.Hint{Binding: k.Down, More: true},
		keymap.Hint{Binding: k.PageUp, More: true}, keymap.Hint{Binding: k.PageDown, More: true},
		keymap.Hint{Binding: k.HalfUp, More: true}, keymap.Hint{Binding: k.HalfDown, More: true},
		keymap.Hint{Binding: k.Top, More: true}, keymap.Hint{Binding: k.Bottom, More: true},
	)
}
