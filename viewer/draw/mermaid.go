package draw

import (
	"fmt"
	"strings"
	"unicode"
)

// Mermaid writes a flowchart. Steps have ids of their own there, and names are
// written so that Mermaid and the HTML that it makes show them as they are.
func Mermaid(g Graph) string {
	m := &mermaid{}
	m.line(0, "flowchart TD")
	m.graph(g, 1)
	return m.out.String()
}

type mermaid struct {
	out strings.Builder
	n   int // ids given
}

func (m *mermaid) line(indent int, format string, args ...any) {
	m.out.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&m.out, format, args...)
	m.out.WriteByte('\n')
}

func (m *mermaid) id() string {
	m.n++
	return fmt.Sprintf("n%d", m.n)
}

func (m *mermaid) graph(g Graph, indent int) {
	ids := map[string]string{}
	for _, n := range g.Nodes {
		id := m.id()
		ids[n.ID] = id
		label := mermaidText(shown(n.ID)) + "<br/>" + mermaidText(n.kind())
		switch {
		case len(n.Parts) > 0:
			m.line(indent, `subgraph %s["%s: %s"]`, id, mermaidText(shown(n.ID)), mermaidText(n.kind()))
			for _, part := range n.Parts {
				m.part(part, indent+1)
			}
			m.line(indent, "end")
		case n.ID == g.Entry:
			m.line(indent, `%s(["%s"])`, id, label)
		default:
			m.line(indent, `%s["%s"]`, id, label)
		}
	}
	for _, e := range g.Edges {
		for _, end := range []string{e.From, e.To} {
			if ids[end] == "" { // STOP, or a step that does not exist
				ids[end] = m.id()
				m.line(indent, `%s(("%s"))`, ids[end], mermaidText(shown(end)))
			}
		}
		arrow := "-->"
		if e.Kind != Plain {
			arrow = "-.->"
		}
		if label := e.label(); label != "" {
			arrow += `|"` + mermaidText(label) + `"|`
		}
		m.line(indent, "%s %s %s", ids[e.From], arrow, ids[e.To])
	}
}

func (m *mermaid) part(g Graph, indent int) {
	if g.Title == "" {
		m.graph(g, indent)
		return
	}
	m.line(indent, `subgraph %s["%s"]`, m.id(), mermaidText(shown(g.Title)))
	m.graph(g, indent+1)
	m.line(indent, "end")
}

// mermaidText writes everything but letters, digits and a few harmless marks
// as Mermaid's #CODE; that also keeps "end" and "o" from being syntax.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune(" _-.,:/=+", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
