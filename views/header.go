package views

import (
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/views/widget"
)

// header is the first line: which stores, whether they can be trusted, whether
// one can write, and how fresh the rows are.
func header(s *shared, fresh string, width int) string {
	infos := stores(s)
	labels := make([]string, len(infos))
	readOnly := len(infos) > 0
	for i, info := range infos {
		labels[i] = info.Label
		readOnly = readOnly && info.ReadOnly
	}
	left := " " + s.styles.Title.Render("flowtui") + "  " + s.styles.Strong.Render(widget.Plain(strings.Join(labels, ", ")))
	if len(infos) == 1 {
		left += "  " + widget.Plain(strings.Join(nonEmpty(infos[0].Format, infos[0].Key), ", "))
	}
	if len(infos) > 1 {
		left += fmt.Sprintf("  %d stores", len(infos))
	}
	access := "read-write"
	if readOnly {
		access = "read-only"
	}
	right := s.styles.Strong.Render(access) + "  " + widget.Plain(fresh) + " "
	return widget.Ends(left, right, width, s.styles.Ellipsis)
}
