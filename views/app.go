package views

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/views/internal/quiet"
	"github.com/flowtui/flowtui/views/theme"
)

func init() { quiet.Done() }

// App is the program: layers of screens, of which the last is in front.
type App struct {
	*shared
	layers  []layer
	lastID  int
	width   int
	height  int
	notice  noticeMsg
	told    time.Time // when the notice came up
	owed    bool      // it tells what became of an action whose sheet was closed
	leaving bool      // asked to quit while an action is under way

	suspending bool // asked to suspend while one is
}

// layer is a screen or sheet with what it owns.
type layer struct {
	id     int
	screen Screen
	sheet  bool
	cancel context.CancelFunc
}

// New makes the program with the list of runs in front.
func New(d Deps) *App {
	ctx := d.Context
	if ctx == nil {
		ctx = context.Background()
	}
	r := d.Renderer
	if r == nil {
		r = theme.NewPlainRenderer()
	}
	a := &App{shared: &shared{
		app:       ctx,
		backend:   d.Backend,
		now:       d.Clock,
		styles:    theme.New(r, d.ASCII),
		keys:      keymap.Default(),
		clipboard: d.Clipboard,
		notLive:   "connecting",
	}}
	a.nav = a
	a.add(func(e *env) Screen { return newRuns(e) }, false)
	return a
}

// Init starts reading, watching and the clock.
func (a *App) Init() tea.Cmd {
	return tea.Batch(a.frontLayer().screen.Init(), watch(a.shared), tick())
}

// Update hands a message to whom it concerns.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return a, a.key(msg)
	case tea.WindowSizeMsg:
		a.resize(msg.Width, msg.Height)
		return a, nil
	case noticeMsg:
		a.tell(msg)
		return a, nil
	case outcomeMsg:
		return a, a.outcome(msg)
	case addressed:
		return a, a.deliver(msg.to().screen, msg)
	case watchingMsg:
		return a, a.watching(msg)
	case rewatchMsg:
		return a, watch(a.shared)
	case watchEndedMsg:
		return a, a.watching(watchingMsg{})
	case changedMsg:
		return a, a.changed(msg)
	case tickMsg:
		return a, a.tick(msg)
	}
	return a, a.broadcast(msg)
}

func (a *App) frontLayer() *layer { return &a.layers[len(a.layers)-1] }

// add puts a screen in front.
func (a *App) add(build func(*env) Screen, sheet bool) Screen {
	a.lastID++
	ctx, cancel := context.WithCancel(a.app)
	s := build(&env{shared: a.shared, id: a.lastID, ctx: ctx})
	a.layers = append(a.layers, layer{id: a.lastID, screen: s, sheet: sheet, cancel: cancel})
	return s
}

// open puts a screen in front and starts it.
func (a *App) open(build func(*env) Screen, sheet bool) tea.Cmd {
	a.face(false)
	s := a.add(build, sheet)
	if !a.tooSmall() {
		s.SetSize(a.width, a.room())
	}
	a.face(!a.tooSmall())
	return s.Init()
}

// face tells the layer in front whether it can be seen.
func (a *App) face(seen bool) {
	if v, ok := a.frontLayer().screen.(visible); ok {
		v.SetVisible(seen)
	}
}

// pop closes the layer with the id and those in front of it. The first screen
// stays.
func (a *App) pop(id int) {
	for i := len(a.layers) - 1; i > 0; i-- {
		if a.layers[i].id != id {
			continue
		}
		for _, l := range a.layers[i:] {
			l.cancel()
		}
		clear(a.layers[i:])
		a.layers = a.layers[:i]
		a.face(!a.tooSmall())
		return
	}
}

// deliver gives a message to one layer, wherever it is; a layer that is gone
// gets nothing.
func (a *App) deliver(id int, msg tea.Msg) tea.Cmd {
	for _, l := range a.layers {
		if l.id == id {
			return l.screen.Update(msg)
		}
	}
	return nil
}

func (a *App) broadcast(msg tea.Msg) tea.Cmd {
	cmds := make([]tea.Cmd, 0, len(a.layers))
	for _, l := range a.layers {
		cmds = append(cmds, l.screen.Update(msg))
	}
	return tea.Batch(cmds...)
}

// seen are the layers that can be seen: the last whole screen and the sheets
// over it.
func (a *App) seen() []layer {
	base := len(a.layers) - 1
	for a.layers[base].sheet {
		base--
	}
	return a.layers[base:]
}

// resize gives every layer its size, unless the window shows none: what has no
// room there was not on the screen.
func (a *App) resize(w, h int) {
	a.width, a.height = max(0, w), max(0, h)
	if a.tooSmall() {
		a.face(false)
		return
	}
	for _, l := range a.layers {
		l.screen.SetSize(a.width, a.room())
	}
	a.face(true)
}
