package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/viewer"
)

const (
	lastMessages = 6   // that show prints of a conversation
	messageCells = 100 // of each
)

// conversation prints the end of a run's conversation, a line a message.
func conversation(w io.Writer, c viewer.Conversation) {
	list := slices.DeleteFunc(slices.Clone(c.Messages), func(m viewer.Message) bool { return m.Under > 0 }) // told by its call
	if len(list) == 0 {
		return
	}
	end := ""
	if more := len(list) - lastMessages; more > 0 {
		list, end = list[more:], "the end of "
	}
	fmt.Fprintf(w, "\nconversation, %s%s (%s in the state)\n", end, plural(len(c.Messages), "message"), c.Key)
	var t table
	for _, m := range list {
		role, text := m.Role, clip(oneLine(start(m.Text)), messageCells)
		if m.Odd != "" {
			role, text = "?", clip("no message, "+m.Odd+": "+compact(m.Value), messageCells)
		}
		if text != "" || len(m.Calls) == 0 {
			t.add("  "+role, dash(text))
			role = ""
		}
		for _, call := range m.Calls {
			t.add("  "+role, clip(callLine(call), messageCells))
			role = ""
		}
	}
	t.write(w)
	if c.Masked > 0 {
		fmt.Fprintf(w, "  secrets masked: %d\n", c.Masked)
	}
}

// callLine is a tool call: how it stands, where the log has it, its arguments.
func callLine(c viewer.ToolCall) string {
	name := strings.TrimSpace(dash(c.Name) + " " + c.Logged())
	return fmt.Sprintf("%s: %s  %s", name, c.Word(), compact(c.Args))
}

// start is as much of a text as a line can show.
func start(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), 8*messageCells)], "")
}
