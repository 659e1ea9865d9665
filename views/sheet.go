package views

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
)

type sheet struct {
	*env
	row    viewer.Row
	action viewer.Action
}

func newSheet(e *env, row viewer.Row, a viewer.Action) Screen {
	return &sheet{env: e, row: row, action: a}
}
func (s *sheet) Init() tea.Cmd          { return nil }
func (s *sheet) Update(tea.Msg) tea.Cmd { return nil }
func (s *sheet) View() string           { return "" }
func (s *sheet) SetSize(int, int)       {}
func (s *sheet) Title() string          { return string(s.action) }
func (s *sheet) Help() []keymap.Hint    { return nil }
func (s *sheet) Typing() bool           { return false }
