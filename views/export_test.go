package views

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Tick is the message of the clock, for tests.
func Tick(t time.Time) tea.Msg { return tickMsg(t) }

// Changed is the message of a change notice, for tests.
func Changed() tea.Msg { return changedMsg{} }

// Rested is the message that the keys of the layer in front have rested.
func Rested(a *App) tea.Msg { return restedMsg{ticket{screen: a.frontLayer().id}} }

// Age is how ages are written, for tests.
func Age(now, t time.Time) string { return age(now, t) }

// Heartbeat is how old what is called live may be, for tests.
const Heartbeat = heartbeat
