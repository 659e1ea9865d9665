package views

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/flowtui/flowtui/internal/signals"
	"github.com/flowtui/flowtui/viewer"
)

// Main is all that a program of one's own has to call: it opens the store,
// shows the screens until the user leaves, and closes the store. A signal ends
// them and restores the terminal; what was under way can be recovered.
func Main(ctx context.Context, p viewer.Program) error {
	if !term.IsTerminal(os.Stdin.Fd()) || !term.IsTerminal(os.Stdout.Fd()) {
		return errors.New("the screens need a terminal")
	}
	ctx, release := signals.Context(ctx)
	defer release()
	s, err := p.Attach(ctx)
	if err != nil {
		return err
	}
	err = Run(ctx, Deps{
		Backend:   s,
		Clock:     time.Now,
		ASCII:     ASCIIOnly(runtime.GOOS, os.Getenv),
		Clipboard: TerminalClipboard(os.Stdout, os.Getenv),
		Stderr:    os.Stderr,
	})
	return errors.Join(err, s.Close())
}

// ASCIIOnly reports whether the locale has no other characters.
func ASCIIOnly(goos string, getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := getenv(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return goos != "windows"
}
