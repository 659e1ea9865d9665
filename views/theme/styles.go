package theme

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Tone says how urgent something is, apart from how it is painted.
type Tone int

// The tones.
const (
	Normal Tone = iota
	Muted
	OK
	Accent
	Attention
	Danger
)

// Styles is every style of the screens.
type Styles struct {
	Glyphs
	ASCII    bool
	Plain    lipgloss.Style
	Title    lipgloss.Style // names: of the program, a run, a sheet
	Strong   lipgloss.Style
	Muted    lipgloss.Style
	Selected lipgloss.Style // the row or choice under the cursor
	Key      lipgloss.Style // a key in the footer
	TabOn    lipgloss.Style
	TabOff   lipgloss.Style
	tones    [Danger + 1]lipgloss.Style
}

// Glyphs are the symbols that are not letters.
type Glyphs struct {
	Cursor, Caret, Ellipsis, Dot, Check, More  string
	Rule, Bar                                  string
	Block, Cross, Wait                         string // of a timeline: work, cut off, nothing for long
	Opened, Closed                             string // of a tree
	TopLeft, TopRight, BottomLeft, BottomRight string
}

// NewRenderer makes a renderer for w with the profile that the environment
// asks for (NO_COLOR, TERM, COLORTERM). It does not query the terminal.
func NewRenderer(w io.Writer) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(w)
	r.SetColorProfile(termenv.NewOutput(w).EnvColorProfile())
	r.SetHasDarkBackground(true) // known, so never asked for
	return r
}

// New makes the styles for a renderer.
func New(r *lipgloss.Renderer, ascii bool) *Styles {
	plain := r.NewStyle()
	color := func(c string) lipgloss.Style { return plain.Foreground(lipgloss.Color(c)) }
	s := &Styles{
		Glyphs:   glyphs(ascii),
		ASCII:    ascii,
		Plain:    plain,
		Title:    plain.Bold(true),
		Strong:   plain.Bold(true),
		Muted:    plain.Faint(true),
		Selected: plain.Reverse(true),
		Key:      plain.Bold(true),
		TabOn:    plain.Bold(true).Underline(true),
		TabOff:   plain.Faint(true),
	}
	s.tones = [...]lipgloss.Style{
		Normal:    plain,
		Muted:     s.Muted,
		OK:        color("2"),
		Accent:    color("6"),
		Attention: color("3").Bold(true),
		Danger:    color("1").Bold(true),
	}
	return s
}

// Tone is the style of a tone.
func (s *Styles) Tone(t Tone) lipgloss.Style {
	if t < 0 || int(t) >= len(s.tones) {
		return s.Plain
	}
	return s.tones[t]
}

// KeyName is the name of a key as it can be shown.
func (s *Styles) KeyName(name string) string {
	if !s.ASCII {
		return name
	}
	return strings.NewReplacer("↑", "up", "↓", "down", "←", "left", "→", "right").Replace(name)
}

func glyphs(ascii bool) Glyphs {
	if ascii {
		return Glyphs{Cursor: ">", Caret: "|", Ellipsis: "~", Dot: "-", Check: "ok", More: "v", Rule: "-", Bar: "|",
			Block: "#", Cross: "x", Wait: "-", Opened: "v", Closed: ">",
			TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+"}
	}
	return Glyphs{Cursor: "▸", Caret: "▏", Ellipsis: "…", Dot: "·", Check: "✓", More: "↓", Rule: "─", Bar: "│",
		Block: "▇", Cross: "╳", Wait: "┄", Opened: "▾", Closed: "▸",
		TopLeft: "┌", TopRight: "┐", BottomLeft: "└", BottomRight: "┘"}
}

// NewPlainRenderer makes a renderer without any colour, for tests and pipes.
func NewPlainRenderer() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	r.SetHasDarkBackground(true)
	return r
}
