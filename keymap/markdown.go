package keymap

import (
	"fmt"
	"strings"
)

// Markdown is the table of all keys for the manual.
func Markdown() string {
	var b strings.Builder
	for i, g := range Default().Groups() {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "### %s\n\n| key | does |\n|---|---|\n", g.Title)
		for _, k := range g.Bindings {
			fmt.Fprintf(&b, "| `%s` | %s |\n", k.Help().Key, k.Help().Desc)
		}
	}
	return b.String()
}
