package draw

import (
	"fmt"
	"strings"
)

// Text lists the steps in the order of the file, each with the edges out of it
// in the order in which they are tried.
func Text(g Graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d steps, %d edges", shown(g.Title), len(g.Nodes), len(g.Edges))
	if g.Entry != "" {
		fmt.Fprintf(&b, "; starts at %s", shown(g.Entry))
	}
	b.WriteString("\n\n")
	listing(&b, g, "")
	return b.String()
}

func listing(b *strings.Builder, g Graph, indent string) {
	reached := g.reached()
	for _, n := range g.Nodes {
		fmt.Fprintf(b, "%s%s  %s", indent, shown(n.ID), n.kind())
		if !reached[n.ID] {
			b.WriteString("  (nothing leads here)")
		}
		b.WriteByte('\n')
		for i, part := range n.Parts {
			title := part.Title
			if title == "" {
				title = "inside"
			}
			fmt.Fprintf(b, "%s  %s:\n", indent, shown(title))
			listing(b, n.Parts[i], indent+"    ")
		}
		ends := true
		for _, e := range g.Edges {
			if e.From != n.ID {
				continue
			}
			ends = false
			fmt.Fprintf(b, "%s  -> %s", indent, shown(e.To))
			if label := e.label(); label != "" {
				b.WriteString("  " + label)
			}
			b.WriteByte('\n')
		}
		if ends {
			fmt.Fprintf(b, "%s  end\n", indent)
		}
	}
}

// reached are the nodes that the entry leads to.
func (g Graph) reached() map[string]bool {
	found := map[string]bool{}
	todo := []string{g.Entry}
	next := map[string][]string{}
	for _, e := range g.Edges {
		next[e.From] = append(next[e.From], e.To)
	}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !found[id] {
			found[id] = true
			todo = append(todo, next[id]...)
		}
	}
	return found
}
