package views

import (
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// The smallest window that the screens are made for.
const (
	minWidth  = 60
	minHeight = 16
)

// frameLines is how many lines the program keeps for itself below a screen:
// the rule and the footer.
const frameLines = 2

// room is the height that is left for a screen.
func (a *App) room() int { return max(0, a.height-frameLines) }

// View draws the screen in front, the sheets over it and the footer.
func (a *App) View() string {
	if a.width == 0 || a.height == 0 {
		return ""
	}
	if a.tooSmall() {
		return a.askForRoom()
	}
	body, footer := a.body(), a.footer()
	body = body[:max(0, len(body)+1-len(footer))] // a notice of several lines covers the end of the screen
	return strings.Join(append(append(body, a.rule()), footer...), "\n")
}

// tooSmall reports that the window shows no layer, also before its size is known.
func (a *App) tooSmall() bool { return a.width < minWidth || a.height < minHeight }

func (a *App) askForRoom() string {
	lines := []string{
		fmt.Sprintf("flowtui needs %dx%d, this is %dx%d.", minWidth, minHeight, a.width, a.height),
		"Make the window larger. Nothing is lost.",
		"ctrl+c leaves.",
	}
	return strings.Join(widget.Fill(lines, a.width, min(len(lines), a.height), a.styles.Ellipsis), "\n")
}

// body draws the last whole screen, and the sheets in front of it.
func (a *App) body() []string {
	seen := a.seen()
	lines := a.lines(seen[0].screen)
	for _, l := range seen[1:] {
		box := safeLines(l.screen)
		lines = widget.Over(a.styles, lines, box, a.width)
	}
	return lines
}

func (a *App) lines(s Screen) []string {
	return widget.Fill(safeLines(s), a.width, a.room(), a.styles.Ellipsis)
}

// safeLines are the lines of a screen. Texts are made plain where they are
// drawn; this is for the one that was forgotten.
func safeLines(s Screen) []string {
	lines := strings.Split(s.View(), "\n")
	for i := range lines {
		lines[i] = widget.Safe(lines[i])
	}
	return lines
}

func (a *App) rule() string { return a.styles.Muted.Render(widget.Rule(a.styles.Rule, a.width)) }

// footer is the notice if there is one, else the keys that do something now.
func (a *App) footer() []string {
	if a.notice.Text != "" {
		return a.noticeLines()
	}
	front := a.frontLayer()
	if front.sheet {
		return []string{widget.Space(a.width)}
	}
	hints := front.screen.Help()
	if !front.screen.Typing() {
		hints = append(hints, keymap.Hint{Binding: a.keys.Global.Help})
	}
	return []string{keyLine(a.styles, hints, a.width)}
}

// noticeLines are the notice. What has to be read in a sheet is never covered, so
// there it has one line.
func (a *App) noticeLines() []string {
	const most = 4
	lines := []string{a.notice.Text}
	if !a.frontLayer().sheet {
		lines = widget.Wrap(a.notice.Text, max(1, a.width-1))
	}
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], strings.Join(lines[most-1:], " "))
	}
	for i, l := range lines {
		lines[i] = a.styles.Tone(a.notice.Tone).Render(widget.Fit(" "+widget.Plain(l), a.width, a.styles.Ellipsis))
	}
	return lines
}

// keyLine draws keys and what they do. Those that do nothing now are left out;
// the last one always has its place, the others go from the end when it gets
// narrow.
func keyLine(st *theme.Styles, hints []keymap.Hint, width int) string {
	var parts []string
	last := len(hints) - 1
	room := width
	if last >= 0 {
		room -= widget.Width(keyText(st, hints[last])) + 1
	}
	for i, h := range hints {
		if h.More || h.Off != "" || !h.Enabled() {
			continue
		}
		need := widget.Width(keyText(st, h)) + 2
		if i != last && need > room {
			continue
		}
		room -= need
		parts = append(parts, st.Key.Render(st.KeyName(h.Binding.Help().Key))+" "+h.Binding.Help().Desc)
	}
	return widget.Fit(" "+strings.Join(parts, "  "), width, st.Ellipsis)
}

func keyText(st *theme.Styles, h keymap.Hint) string {
	return st.KeyName(h.Binding.Help().Key) + " " + h.Binding.Help().Desc
}
