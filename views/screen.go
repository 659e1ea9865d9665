package views

import (
	"context"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/views/theme"
)

// Deps is what the program is made of. Backend and Clock are required.
type Deps struct {
	Backend   Backend
	Clock     func() time.Time
	Context   context.Context    // actions run under it; nil is Background
	Renderer  *lipgloss.Renderer // nil: no colours
	ASCII     bool               // no symbols outside ASCII
	Clipboard func(string)       // nil: there is none, and copying says so
	Stderr    io.Writer          // where leaving says what it waits for; nil: nowhere
}

// Screen is one layer of the program: a whole screen, or a sheet over one.
type Screen interface {
	// Init starts what has to be read.
	Init() tea.Cmd
	// Update changes the screen and returns what has to be done next. It gets
	// keys only while the screen is in front, replies only to its own requests,
	// and every changedMsg and tickMsg.
	Update(tea.Msg) tea.Cmd
	// View draws the screen. A whole screen fills the size that it was given, a
	// sheet draws its box.
	View() string
	SetSize(width, height int)
	// Title names the screen in one or two words.
	Title() string
	// Help lists what keys do right now, the most useful first.
	Help() []keymap.Hint
	// Typing reports that a text field has the focus and takes all keys.
	Typing() bool
}

// visible is a screen that keeps account of what was on the screen: it is told
// when something comes in front of it, when that is gone, and when the window is
// too small to show it or large enough again. It starts visible.
type visible interface{ SetVisible(bool) }

// env is what a screen may use. Every screen has its own.
type env struct {
	*shared
	id  int             // of the screen
	ctx context.Context // ends when the screen is closed
	seq int             // last request
}

// shared is the part of env that is the same for all screens.
type shared struct {
	app       context.Context // ends with the program; actions run under it
	backend   Backend
	now       func() time.Time
	styles    *theme.Styles
	keys      keymap.Map
	clipboard func(string)
	scope     scope
	live      bool   // change notices arrive
	notLive   string // why not
	acting    int    // actions under way
	pace      pace   // of the keys
	nav       navigator
}

// navigator opens and closes layers at once, so that the next key already
// finds the right one in front.
type navigator interface {
	open(build func(*env) Screen, sheet bool) tea.Cmd
	pop(id int)
	// front reports that the layer is in front.
	front(id int) bool
	// quiet reports that the layer is in front and the footer tells nothing.
	quiet(id int) bool
}

// push opens a screen in front of all others.
func (s *shared) push(build func(*env) Screen) tea.Cmd { return s.nav.open(build, false) }

// sheet lays a sheet over the screen in front.
func (s *shared) sheet(build func(*env) Screen) tea.Cmd { return s.nav.open(build, true) }

// leave closes the screen and all that is in front of it.
func (e *env) leave() tea.Cmd {
	e.nav.pop(e.id)
	return nil
}
