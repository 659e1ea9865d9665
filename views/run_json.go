package views

import (
	"bytes"
	"encoding/json"

	"github.com/flowtui/flowtui/views/widget"
)

// maxJSON is how many bytes of a value are drawn as text.
const maxJSON = 128 << 10

// jsonLines draws a value as indented text, in lines of at most width cells.
// Numbers and texts stay as they were written.
func jsonLines(raw json.RawMessage, width int) []string {
	if len(raw) == 0 {
		return nil
	}
	left := 0
	text := string(raw)
	if len(raw) > maxJSON {
		left = len(raw) - maxJSON
		text = string(raw[:maxJSON])
	} else if b := new(bytes.Buffer); json.Indent(b, raw, "", "  ") == nil {
		text = b.String()
	}
	var lines []string
	for _, l := range bytes.Split([]byte(text), []byte("\n")) {
		lines = append(lines, widget.Break(string(l), width)...)
	}
	if left > 0 {
		lines = append(lines, widget.Break("("+plural(left, "more byte")+" left out)", width)...)
	}
	return lines
}
