package widget

import (
	"strconv"
	"strings"

	"github.com/flowtui/flowtui/views/theme"
)

// Tab is one tab of a bar. Count is shown behind the title when it is not "".
type Tab struct {
	Title string
	Count string
	Old   bool // Count is what was last known, greyed
}

// Tabs draws a bar of numbered tabs, exactly width cells. When not all fit,
// the tabs around the chosen one are shown, and marks at the ends where there are more.
func Tabs(st *theme.Styles, tabs []Tab, chosen, width int) string {
	labels := make([]string, len(tabs))
	for i, t := range tabs {
		labels[i] = strconv.Itoa(i+1) + " " + t.Title
		if t.Count != "" {
			labels[i] += " " + t.Count
		}
	}
	between := Space(2)
	from, to := window(labels, chosen, width-2, 2)
	if to-from < len(labels) {
		between = st.Muted.Render(st.Bar)
		if from, to = window(labels, chosen, width-2, 1); to-from < len(labels) {
			from, to = window(labels, chosen, width-2-2*(Width(st.Ellipsis)+1), 1)
		}
	}
	parts := make([]string, 0, len(labels))
	for i := from; i < to; i++ {
		style := st.TabOff
		text := labels[i]
		if i == chosen {
			style = st.TabOn
			text = st.Cursor + text
		}
		if t := tabs[i]; t.Old && t.Count != "" {
			head := strings.TrimSuffix(text, " "+t.Count)
			parts = append(parts, style.Render(head)+st.Muted.Render(" "+t.Count))
			continue
		}
		parts = append(parts, style.Render(text))
	}
	line := " "
	if from > 0 {
		line = st.Muted.Render(st.Ellipsis) + " "
	}
	line += strings.Join(parts, between)
	if to < len(labels) {
		line += " " + st.Muted.Render(st.Ellipsis)
	}
	return Fit(line, width, st.Ellipsis)
}

// window is the widest range of labels around chosen that fits.
func window(labels []string, chosen, width, gap int) (from, to int) {
	if len(labels) == 0 {
		return 0, 0
	}
	chosen = max(0, min(chosen, len(labels)-1))
	from, to = chosen, chosen+1
	used := Width(labels[chosen])
	for {
		grown := false
		if to < len(labels) && used+gap+Width(labels[to]) <= width {
			used += gap + Width(labels[to])
			to++
			grown = true
		}
		if from > 0 && used+gap+Width(labels[from-1]) <= width {
			used += gap + Width(labels[from-1])
			from--
			grown = true
		}
		if !grown {
			return from, to
		}
	}
}
