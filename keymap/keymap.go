package keymap

import "github.com/charmbracelet/bubbles/key"

// Map is every binding of the program. Take it from [Default]; it is a value,
// so a caller may change a copy.
type Map struct {
	Global Global
	List   List
	Detail Detail
	Sheet  Sheet
	Text   Text
	Filter Filter
}

// Global works on every screen, unless a text field or a sheet is in front.
type Global struct {
	Help    key.Binding
	Refresh key.Binding
	Copy    key.Binding
	Back    key.Binding
	Quit    key.Binding
	Suspend key.Binding // to the shell, fg comes back
	Kill    key.Binding // works always, even while text is typed
}

// Nav moves within rows or text.
type Nav struct {
	Up, Down         key.Binding
	PageUp, PageDown key.Binding
	HalfUp, HalfDown key.Binding
	Top, Bottom      key.Binding
}

// Tabs chooses one of the tabs of a screen.
type Tabs struct {
	Pick [9]key.Binding // the tab with this number, from 1
	All  key.Binding    // all of Pick, only for help
	Prev key.Binding
	Next key.Binding
}

// Actions opens the sheets. None of them does anything before the sheet is
// confirmed.
type Actions struct {
	Approve key.Binding
	Resolve key.Binding
	Answer  key.Binding
	Recover key.Binding
	Verify  key.Binding
}

// List is the list of runs.
type List struct {
	Nav
	Tabs
	Actions
	Open   key.Binding
	Filter key.Binding
	Owner  key.Binding
}

// Detail is one run.
type Detail struct {
	Nav
	Tabs
	Actions
	Open        key.Binding // the thing under the cursor
	Left, Right key.Binding // through time; in a tree, into it and out of it
	Before      key.Binding // the step before, on every tab
	After       key.Binding
	Latest      key.Binding
	Search      key.Binding
	NextMatch   key.Binding
	PrevMatch   key.Binding
	Reveal      key.Binding
	Diff        key.Binding
	Fold        key.Binding
}

// Sheet is an overlay that asks for a decision.
type Sheet struct {
	Up, Down         key.Binding
	PageUp, PageDown key.Binding
	Top, Bottom      key.Binding
	Confirm          key.Binding
	Deny             key.Binding
	Note             key.Binding
	Quote            key.Binding
	Remark           key.Binding
	Unchecked        key.Binding
	Reveal           key.Binding
	Reload           key.Binding
	Copy             key.Binding
	Help             key.Binding
	Leave            key.Binding
}

// Text is a text field of a sheet that has the focus: all other keys are text.
type Text struct {
	Done    key.Binding
	NewLine key.Binding
	Leave   key.Binding
}

// Filter is the filter line of the list: all other keys are text.
type Filter struct {
	Keep  key.Binding
	Clear key.Binding
}

// Moves lists the keys that only move. Typed fast, several of them may arrive
// in one piece.
func (m Map) Moves() []key.Binding {
	d := m.Detail
	own := []key.Binding{d.Left, d.Right, d.Before, d.After, d.Tabs.Prev, d.Tabs.Next}
	return join(m.List.Nav.Bindings(), d.Nav.Bindings(), own)
}

// Hint is a binding as shown to the user right now.
type Hint struct {
	key.Binding
	Off  string // why it does nothing now; "" when it works
	More bool   // only in the help overlay, not in the footer
}

// Group is the bindings of one context.
type Group struct {
	Name     string
	Title    string
	Bindings []key.Binding
}

// Groups lists all bindings by context, for the tables of the manual.
func (m Map) Groups() []Group {
	return []Group{
		{"global", "Everywhere", m.Global.Bindings()},
		{"list", "List of runs", m.List.Bindings()},
		{"detail", "One run", m.Detail.Bindings()},
		{"sheet", "Sheet of an action", m.Sheet.Bindings()},
		{"text", "Text field", m.Text.Bindings()},
		{"filter", "Filter line", m.Filter.Bindings()},
	}
}

// Bindings lists the group in the order of the help overlay.
func (g Global) Bindings() []key.Binding {
	return []key.Binding{g.Help, g.Refresh, g.Copy, g.Back, g.Quit, g.Suspend, g.Kill}
}

// Bindings lists the group in the order of the help overlay.
func (n Nav) Bindings() []key.Binding {
	return []key.Binding{n.Up, n.Down, n.PageUp, n.PageDown, n.HalfUp, n.HalfDown, n.Top, n.Bottom}
}

// Bindings lists the group in the order of the help overlay.
func (t Tabs) Bindings() []key.Binding {
	return []key.Binding{t.All, t.Prev, t.Next}
}

// Bindings lists the group in the order of the help overlay.
func (a Actions) Bindings() []key.Binding {
	return []key.Binding{a.Approve, a.Resolve, a.Answer, a.Recover, a.Verify}
}

// Bindings lists the group in the order of the help overlay.
func (l List) Bindings() []key.Binding {
	return join([]key.Binding{l.Open, l.Filter, l.Owner}, l.Actions.Bindings(), l.Nav.Bindings(), l.Tabs.Bindings())
}

// Bindings lists the group in the order of the help overlay.
func (d Detail) Bindings() []key.Binding {
	own := []key.Binding{d.Open, d.Left, d.Right, d.Before, d.After, d.Latest, d.Search, d.NextMatch, d.PrevMatch,
		d.Reveal, d.Diff, d.Fold}
	return join(own, d.Actions.Bindings(), d.Nav.Bindings(), d.Tabs.Bindings())
}

// Bindings lists the group in the order of the help overlay.
func (s Sheet) Bindings() []key.Binding {
	return []key.Binding{s.Confirm, s.Deny, s.Note, s.Quote, s.Remark, s.Unchecked, s.Reveal, s.Reload, s.Copy, s.Up, s.Down,
		s.PageUp, s.PageDown, s.Top, s.Bottom, s.Help, s.Leave}
}

// Bindings lists the group in the order of the help overlay.
func (t Text) Bindings() []key.Binding { return []key.Binding{t.Done, t.NewLine, t.Leave} }

// Bindings lists the group in the order of the help overlay.
func (f Filter) Bindings() []key.Binding { return []key.Binding{f.Keep, f.Clear} }

func join(lists ...[]key.Binding) []key.Binding {
	var all []key.Binding
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
