package widget

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/views/theme"
)

// Box draws a frame with a title around lines. It is exactly width cells wide
// and two lines higher than lines.
func Box(st *theme.Styles, title string, lines []string, width int) []string {
	if width < 4 {
		return Fill(nil, max(0, width), len(lines)+2, "")
	}
	inner := width - 4
	title = Cut(Plain(title), max(0, inner-2), st.Ellipsis)
	if title != "" {
		title = " " + title + " "
	}
	rest := Rule(st.Rule, width-2-1-Width(title))
	out := []string{st.Muted.Render(st.TopLeft+st.Rule) + st.Title.Render(title) + st.Muted.Render(rest+st.TopRight)}
	bar := st.Muted.Render(st.Bar)
	for _, l := range lines {
		out = append(out, bar+" "+Fit(l, inner, st.Ellipsis)+" "+bar)
	}
	return append(out, st.Muted.Render(st.BottomLeft+Rule(st.Rule, width-2)+st.BottomRight))
}

// Over lays box in the middle of base, which is greyed. Both must be made of
// lines of equal width.
func Over(st *theme.Styles, base, box []string, width int) []string {
	if len(box) == 0 {
		return base
	}
	boxWidth := Width(box[0])
	x := max(0, (width-boxWidth)/2)
	y := max(0, (len(base)-len(box))/2)
	out := make([]string, len(base))
	for i, line := range base {
		plain := Fit(ansi.Strip(line), width, "")
		if i < y || i >= y+len(box) {
			out[i] = st.Muted.Render(plain)
			continue
		}
		middle := Fit(box[i-y], min(boxWidth, width-x), "")
		after := max(0, width-x-Width(middle))
		tail := PadLeft(Cut(ansi.TruncateLeft(plain, width-after, ""), after, ""), after)
		out[i] = st.Muted.Render(Fit(plain, x, "")) + middle + st.Muted.Render(tail)
	}
	return out
}
