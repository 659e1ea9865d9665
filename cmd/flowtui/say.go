package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

// styles are the symbols of the screens, without colours.
func (a *app) styles() *theme.Styles {
	return theme.New(theme.NewPlainRenderer(), ascii(runtime.GOOS, os.Getenv))
}

// badges are a run's badges as words, the first with its symbol.
func (a *app) badges(r viewer.Row) string {
	if len(r.Badges) == 0 {
		return dash(r.Status)
	}
	styles := a.styles()
	words := make([]string, len(r.Badges))
	for i, b := range r.Badges {
		look := styles.Badge(b)
		words[i] = look.Word
		if i == 0 {
			words[i] = look.Symbol + " " + look.Word
		}
	}
	return strings.Join(words, ", ")
}

func (a *app) verdict(v viewer.Verdict) string {
	if v == viewer.Unchecked {
		return "not checked"
	}
	look := a.styles().Verdict(v)
	return look.Symbol + " " + look.Word
}

// age is how long ago t was, in its largest unit. Clocks of two machines always
// differ a little, so only a time that lies clearly ahead is called skew.
func age(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	const day = 24 * time.Hour
	d := now.Sub(t)
	switch {
	case d < -5*time.Second:
		return "clock skew"
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, d)/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

func clip(s string, width int) string { return ansi.Truncate(s, width, "~") }

// when is a time as people write it, in their own zone.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// waitingLines print all that a run waits for.
func waitingLines(w io.Writer, waiting []viewer.Waiting) {
	for _, x := range waiting {
		switch x.Type {
		case viewer.WaitApproval:
			fmt.Fprintf(w, "  approval %s: %s %s\n", x.ID, x.Tool, compact(x.Args))
		case viewer.WaitInterrupt:
			fmt.Fprintf(w, "  question %s (%s): %s\n", x.Key, x.ID, oneLine(x.Prompt))
			if len(x.Choices) > 0 {
				fmt.Fprintf(w, "    choices: %s\n", strings.Join(x.Choices, ", "))
			}
			if x.Want != "" {
				fmt.Fprintf(w, "    passes: %s\n", oneLine(x.Want))
			}
		default:
			fmt.Fprintf(w, "  in doubt %s: %s %s\n    %s\n", x.ID, x.Tool, compact(x.Args), x.Why)
		}
		if x.Masked > 0 {
			fmt.Fprintf(w, "    secrets masked: %d\n", x.Masked)
		}
	}
}

func compact(args json.RawMessage) string { return oneLine(string(args)) }
