package views_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

var hostile = []string{
	"\x1b]52;c;AAAA\x07", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link", "\x1b[2J", "\x1b[10A", "\x1b[6n", "\x1bPq\x1b\\", "\x1bc",
	"\x1b]", "\x9b2J", "\u009b2J", "\x9d", "\a", "\b", "\r", "\n", "\x7f", "\u202e", "\x00",
}

// poison puts every hostile text everywhere, as if the viewer had not cleaned it.
func poison(b *viewstest.Backend) {
	text := strings.Join(hostile, "x")
	for i := range b.Rows {
		r := &b.Rows[i]
		r.Ref.Run += text
		for _, s := range []*string{&r.Run, &r.Owner, &r.Flow, &r.Why, &r.Next, &r.Error, &r.User, &r.Thread} {
			*s += text
		}
		r.At = append(r.At, text)
		for j := range r.Waiting {
			r.Waiting[j].Tool += text
			r.Waiting[j].Prompt += text
		}
		p, ok := b.Plans[viewstest.Ref(viewstest.Rows()[i].Run)]
		if !ok {
			continue
		}
		p.Claims, p.Then = p.Claims+text, p.Then+text
		for j := range p.Review {
			e := &p.Review[j]
			for _, s := range []*string{&e.Tool, &e.Prompt, &e.Why, &e.Node, &e.IfYes, &e.IfNo, &e.Digest} {
				*s += text
			}
			e.Lines = append(e.Lines, viewer.Line{Depth: 1, Key: text, Text: text})
		}
		b.Plans[r.Ref] = p
	}
	b.Infos[0].Label += text
	b.Infos[0].Key += text
	b.ActErr = viewer.Problem{Code: "failed", Message: text, Hint: text}
}

var style = regexp.MustCompile(`\x1b\[[0-9;]*m`)

func TestScenario36OnlyIntendedEscapesReachTheTerminal(t *testing.T) {
	t.Parallel()
	colours := lipgloss.NewRenderer(nil)
	colours.SetColorProfile(termenv.ANSI)
	colours.SetHasDarkBackground(true)
	for _, keys := range [][]string{{}, {"enter"}, {"e"}, {"e", "down", "enter"}, {"R"}, {"?"}, {"j", "a", "enter"}, {"j", "j", "i", "enter"}, {"7"}, {"/"}} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			t.Parallel()
			x := &harness{T: t, backend: viewstest.New(), now: viewstest.Now, w: 100, h: 30}
			poison(x.backend)
			x.app = views.New(views.Deps{Backend: x.backend, Clock: func() time.Time { return x.now }, Context: t.Context(), Renderer: colours})
			x.pending = append(x.pending, x.app.Init())
			x.send(tea.WindowSizeMsg{Width: 100, Height: 30})
			x.run()
			for _, k := range keys {
				x.keys(k)
				x.settle()
			}
			rest := style.ReplaceAllString(x.view(), "")
			if !utf8.ValidString(rest) {
				t.Fatalf("bytes that are no text in %q", rest)
			}
			for i, r := range rest {
				if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e) {
					t.Fatalf("control character %U in %q", r, rest[max(0, i-40):i+1])
				}
			}
			lines := strings.Split(x.view(), "\n")
			if len(lines) != 30 {
				t.Fatalf("%d lines", len(lines))
			}
			for _, l := range lines {
				if ansi.StringWidth(l) != 100 {
					t.Fatalf("%d cells: %q", ansi.StringWidth(l), l)
				}
			}
		})
	}
}

func TestScenario36CopyingYieldsTheTrueValue(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, poison)
	x.keys("y")
	same(t, x.copied, []string{x.backend.Rows[0].Ref.Run})
}
