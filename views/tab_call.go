package views

import (
	"fmt"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// callLines are one call in full: how it stands and why, what went in, what
// came out.
func callLines(r *runScreen, c viewer.Call, width int) []string {
	look := callLook(r.styles, c.State)
	kind := "not idempotent"
	if c.Idempotent {
		kind = "idempotent"
	}
	head := r.styles.Title.Render(widget.Plain(c.Tool)) + "  " + r.styles.Tone(look.Tone).Render(look.Symbol+" "+widget.Plain(look.Word))
	lines := []string{widget.Ends(head, kind, width, r.styles.Ellipsis)}
	lines = append(lines, labelled(r.shared, "Why", c.Why, width)...)
	lines = append(lines, labelled(r.shared, "Again", c.Again(), width)...)
	lines = append(lines, labelled(r.shared, "When", callTimes(c), width)...)
	lines = append(lines, labelled(r.shared, "Where", fmt.Sprintf("%s, call %d of node %s, from step %d, segment %d, record %d",
		c.ID, c.Ordinal, c.Node, c.Step, c.Segment, c.N), width)...)
	lines = append(lines, labelled(r.shared, "By", c.By, width)...)
	lines = append(lines, labelled(r.shared, "Asks", callApproval(r.row(), c), width)...)
	if c.Masked > 0 && !r.open {
		note := fmt.Sprintf("secrets masked: %d, s shows them", c.Masked)
		lines = append(lines, r.styles.Tone(theme.Attention).Render(widget.Cut(note, width, r.styles.Ellipsis)))
	}
	lines = append(lines, "", r.styles.Strong.Render("arguments"))
	lines = append(lines, orNone(jsonLines(c.Args, width))...)
	if c.Error != "" {
		lines = append(lines, "", r.styles.Tone(theme.Danger).Render("error"))
		return append(lines, widget.Wrap(c.Error, width)...)
	}
	lines = append(lines, "", r.styles.Strong.Render("result"))
	return append(lines, orNone(jsonLines(c.Result, width))...)
}

func orNone(lines []string) []string {
	if len(lines) == 0 {
		return []string{"none"}
	}
	return lines
}

// callTimes is when the call began and ended, in UTC.
func callTimes(c viewer.Call) string {
	if c.Started == nil {
		return "not started"
	}
	text := c.Started.UTC().Format("2006-01-02 15:04:05.000 UTC")
	switch {
	case c.Ended == nil:
		return text + "; no end is recorded"
	case c.Status == "resolved":
		return text + "; resolved " + clock(*c.Ended)
	}
	return text + "; ended " + c.Ended.UTC().Format("15:04:05.000") + ", took " + took(span{*c.Started, *c.Ended})
}

// callApproval says how it stands with the approval of the call.
func callApproval(row viewer.Row, c viewer.Call) string {
	for _, w := range row.Waiting {
		if w.ID != c.ID {
			continue
		}
		switch w.Type {
		case viewer.WaitApproval:
			return "it waits for an approval and did not run; a approves or denies it"
		case viewer.WaitInDoubt:
			if w.Ran {
				return "it ran; e says what it returned"
			}
			return "did it run? e says what happened"
		}
	}
	return ""
}
