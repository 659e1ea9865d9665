package theme

import "github.com/flowtui/flowtui/viewer"

// Badge is how a badge looks.
type Badge struct {
	Symbol string
	Word   string
	Tone   Tone
}

// Badge is the symbol, the word and the tone of b. An unknown badge keeps its
// own word.
func (s *Styles) Badge(b viewer.Badge) Badge {
	look, ok := badges[b]
	if !ok {
		return Badge{Symbol: s.Dot, Word: string(b), Tone: Muted}
	}
	if s.ASCII {
		look.Symbol = asciiSymbols[b]
	}
	return look
}

var badges = map[viewer.Badge]Badge{
	viewer.Tampered:  {"✗", "tampered", Danger},
	viewer.InDoubt:   {"?", "in doubt", Danger},
	viewer.Paused:    {"‖", "paused", Attention},
	viewer.Failed:    {"!", "failed", Danger},
	viewer.Stuck:     {"◌", "stuck", Attention},
	viewer.Spoiled:   {"✗", "unreadable", Danger},
	viewer.Running:   {"▶", "running", Accent},
	viewer.Recovered: {"↻", "recovered", Accent},
	viewer.NoKey:     {"–", "no key", Muted},
	viewer.Done:      {"✓", "done", OK},
}

var asciiSymbols = map[viewer.Badge]string{
	viewer.Tampered: "X", viewer.InDoubt: "?", viewer.Paused: "=", viewer.Failed: "!", viewer.Stuck: "~",
	viewer.Spoiled: "X", viewer.Running: ">", viewer.Recovered: "R", viewer.NoKey: "-", viewer.Done: ".",
}

// Verdict is how the outcome of checking signatures looks.
func (s *Styles) Verdict(v viewer.Verdict) Badge {
	switch v {
	case viewer.Unchecked:
		return Badge{s.Ellipsis, "checking", Muted}
	case viewer.Verified:
		return Badge{s.Check, "verified", OK}
	case viewer.NoKeyGiven:
		return Badge{s.Badge(viewer.NoKey).Symbol, "not checked, no key", Muted}
	case viewer.UnknownKey:
		return Badge{s.Badge(viewer.NoKey).Symbol, "signed with an unknown key", Attention}
	case viewer.Unsigned:
		return Badge{s.Badge(viewer.NoKey).Symbol, "unsigned", Muted}
	}
	return Badge{s.Badge(viewer.Tampered).Symbol, string(v), Danger}
}
