package views

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/views/theme"
)

// Run shows the screens in the terminal until the user leaves or ctx ends. A
// panic is returned as an error after the terminal is restored. Signals are the
// caller's, who cancels ctx: bubbletea's own handler would block for ever on a
// signal that comes while the program is ending.
//
// Leaving tells actions that are under way to stop, and waits until they did,
// [cutPatience] at most, which d.Stderr is told with the call that each run is
// at: a run whose worker ended itself is free at once. Those
// that were cut off are told by an error that is a [*CutError].
func Run(ctx context.Context, d Deps, opts ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.Context = ctx
	work := &underway{Backend: d.Backend}
	d.Backend = work
	if d.Renderer == nil {
		d.Renderer = theme.NewRenderer(os.Stdout)
	}
	opts = append([]tea.ProgramOption{tea.WithAltScreen(), tea.WithContext(ctx), tea.WithoutSignalHandler()}, opts...)
	_, err := tea.NewProgram(New(d), opts...).Run()
	if ctx.Err() != nil && errors.Is(err, tea.ErrProgramKilled) {
		err = context.Cause(ctx) // told to stop
	}
	cancel()
	say := d.Stderr
	if say == nil {
		say = io.Discard
	}
	if cut := work.leave(context.WithoutCancel(ctx), cutPatience, say); len(cut) > 0 {
		err = errors.Join(err, &CutError{cut})
	}
	return err
}

// TerminalClipboard copies through the terminal (OSC 52), also over ssh and
// from within tmux or screen. tmux takes the sequence itself with set-clipboard
// on, and hands a wrapped one on with allow-passthrough on; which of the two is
// on cannot be seen from here, so both are sent.
func TerminalClipboard(out io.Writer, getenv func(string) string) func(string) {
	return func(text string) {
		seq := osc52.New(text)
		all := seq.String()
		switch {
		case getenv("TMUX") != "":
			all += seq.Tmux().String()
		case getenv("STY") != "":
			all = seq.Screen().String()
		}
		_, _ = io.WriteString(out, all) // a terminal without OSC 52 ignores it
	}
}
