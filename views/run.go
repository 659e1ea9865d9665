package views

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// runScreen shows one run.
type runScreen struct {
	*env
	ref           viewer.Ref
	detail        *viewer.Detail
	problem       *viewer.Problem
	load          slot
	width, height int
}

// newRunScreen opens the run; nothing is read before Init.
func newRunScreen(e *env, ref viewer.Ref) Screen {
	return &runScreen{env: e, ref: ref}
}

func (r *runScreen) Init() tea.Cmd { return r.refresh() }

func (r *runScreen) refresh() tea.Cmd {
	if r.load.wait() {
		return nil
	}
	return loadDetail(r.env, r.load.ask(r.env), r.ref)
}

func (r *runScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case reply[viewer.Detail]:
		return r.loaded(msg)
	case changedMsg:
		return r.refresh()
	case tea.KeyMsg:
		return r.key(msg)
	}
	return nil
}

func (r *runScreen) loaded(msg reply[viewer.Detail]) tea.Cmd {
	if !r.load.take(msg.ticket) {
		return nil
	}
	r.problem = msg.Problem
	if msg.Problem == nil {
		r.detail = &msg.Value
	}
	if r.load.again {
		return r.refresh()
	}
	return nil
}

func (r *runScreen) key(k tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(k, r.keys.Global.Back):
		return r.leave()
	case key.Matches(k, r.keys.Global.Refresh):
		return r.refresh()
	case key.Matches(k, r.keys.Global.Copy):
		return copyText(r.shared, r.ref.Run, "the run id")
	}
	return nil
}

func (r *runScreen) SetSize(w, h int) { r.width, r.height = w, h }

func (r *runScreen) Title() string { return "run" }

func (r *runScreen) Typing() bool { return false }

func (r *runScreen) Help() []keymap.Hint {
	g := r.keys.Global
	return []keymap.Hint{
		{Binding: g.Back},
		{Binding: g.Refresh},
		{Binding: keymap.Titled(g.Copy, "copy the run id")},
	}
}

func (r *runScreen) View() string {
	lines := []string{" reading" + r.styles.Ellipsis}
	switch {
	case r.detail != nil:
		d := r.detail
		lines = append([]string{" " + r.styles.Title.Render(widget.Plain(d.Run)) + "  " + widget.Plain(d.Row.Flow), ""}, preview(r.shared, d.Row, r.width)...)
	case r.problem != nil:
		lines = []string{" " + r.styles.Tone(theme.Danger).Render(r.problem.Message), " " + r.problem.Hint}
	}
	return strings.Join(widget.Fill(lines, r.width, r.height, r.styles.Ellipsis), "\n")
}
