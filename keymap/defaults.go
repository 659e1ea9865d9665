package keymap

import "github.com/charmbracelet/bubbles/key"

// Default is the key map that the program ships with.
func Default() Map {
	return Map{
		Global: global(),
		List: List{Nav: nav(), Tabs: tabs(), Actions: actions(),
			Open:   bind("open", "enter", "enter"),
			Filter: bind("filter", "/", "/"),
			Owner:  bind("owner", "o", "o"),
		},
		Detail: Detail{Nav: nav(), Tabs: tabs(), Actions: actions(),
			Open:      bind("open", "enter", "enter"),
			Left:      bind("earlier; on State fold, or out of it", "←/h", "left", "h"),
			Right:     bind("later; on State unfold, or into it", "→/l", "right", "l"),
			Before:    bind("step before", "{", "{"),
			After:     bind("step after", "}", "}"),
			Latest:    bind("latest step", "L", "L"),
			Search:    bind("search", "/", "/"),
			NextMatch: bind("next match", "n", "n"),
			PrevMatch: bind("match before", "N", "N"),
			Reveal:    bind("show secrets", "s", "s"),
			Diff:      bind("only what changed, on State", "D", "D"),
			Fold:      bind("fold or unfold, on State", "space", " "),
		},
		Sheet: sheet(),
		Text: Text{
			Done:    bind("done", "enter", "enter", "tab"),
			NewLine: bind("new line", "alt+enter", "alt+enter", "ctrl+j"),
			Leave:   bind("leave the field", "esc", "esc"),
		},
		Filter: Filter{
			Keep:  bind("keep the filter", "enter", "enter"),
			Clear: bind("clear the filter", "esc", "esc"),
		},
	}
}

func global() Global {
	return Global{
		Help:    bind("help", "?", "?"),
		Refresh: bind("read again", "r", "r"),
		Copy:    bind("copy", "y", "y"),
		Back:    bind("back", "esc", "esc"),
		Quit:    bind("quit", "q", "q"),
		Suspend: bind("to the shell, fg comes back", "ctrl+z", "ctrl+z"),
		Kill:    bind("quit, also while typing", "ctrl+c", "ctrl+c"),
	}
}

func nav() Nav {
	return Nav{
		Up:       bind("up", "↑/k", "up", "k"),
		Down:     bind("down", "↓/j", "down", "j"),
		PageUp:   bind("page up", "pgup", "pgup"),
		PageDown: bind("page down", "pgdn", "pgdown"),
		HalfUp:   bind("half a page up", "ctrl+u", "ctrl+u"),
		HalfDown: bind("half a page down", "ctrl+d", "ctrl+d"),
		Top:      bind("first", "g", "g", "home"),
		Bottom:   bind("last", "G", "G", "end"),
	}
}

func tabs() Tabs {
	t := Tabs{
		Prev: bind("tab before", "[", "["),
		Next: bind("tab after", "]", "]"),
	}
	digits := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}
	for i, d := range digits {
		t.Pick[i] = bind("tab "+d, d, d)
	}
	t.All = bind("tab by number", "1-9", digits...)
	return t
}

func actions() Actions {
	return Actions{
		Approve: bind("approve or deny", "a", "a"),
		Resolve: bind("resolve", "e", "e"),
		Answer:  bind("answer", "i", "i"),
		Recover: bind("recover", "R", "R"),
		Verify:  bind("verify", "V", "V"),
	}
}

func sheet() Sheet {
	return Sheet{
		Up:        bind("up", "↑/k", "up", "k"),
		Down:      bind("down", "↓/j", "down", "j"),
		PageUp:    bind("page up", "pgup", "pgup"),
		PageDown:  bind("page down", "pgdn", "pgdown", " "),
		Top:       bind("start", "g", "g", "home"),
		Bottom:    bind("end", "G", "G", "end"),
		Confirm:   bind("confirm", "enter", "enter"),
		Deny:      bind("deny", "ctrl+d", "ctrl+d"),
		Note:      bind("type", "tab", "tab"),
		Quote:     bind("take it as text", `"`, `"`),
		Remark:    bind("note", "n", "n"),
		Unchecked: bind("send it unchecked", "u", "u"),
		Reveal:    bind("show secrets", "s", "s"),
		Reload:    bind("read again", "r", "r"),
		Copy:      bind("copy the command", "y", "y"),
		Help:      bind("help", "?", "?"),
		Leave:     bind("leave it", "esc", "esc"),
	}
}

func bind(help, shown string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help))
}

// Titled is the binding with another description, for a place where it means
// something more exact.
func Titled(b key.Binding, help string) key.Binding {
	b.SetHelp(b.Help().Key, help)
	return b
}
