package viewer

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// lineLimits bound a value drawn as a tree; 0 is no bound.
type lineLimits struct {
	lines  int  // lines that are kept, the rest is counted
	text   int  // characters of a scalar, the rest is counted
	key    int  // characters of a key
	breaks bool // a line break of a text begins another line
	deeper int  // levels that are kept, lines below them are counted
}

var (
	// browsing keeps a state of any size quick to open.
	browsing = lineLimits{lines: 20_000, text: 2_000, key: 200, deeper: 1_000}
	// reviewing hides nothing, and shows a text in its lines.
	reviewing = lineLimits{breaks: true}
)

// maxPath is the length from which on a path starts anew with the line's
// number, so that deep nesting does not make paths of quadratic size.
const maxPath = 512

// linesOf draws JSON as a tree in one pass, without building the value, and
// returns how many lines were left out.
func linesOf(m maskedJSON, limits lineLimits) (lines []Line, cut int) {
	b := treeBuilder{limits: limits, scan: jsonScan{data: m.JSON}, masked: m.at, paths: map[string]int{}}
	for b.token() {
	}
	return b.lines, b.total - len(b.lines)
}

type treeBuilder struct {
	limits lineLimits
	scan   jsonScan
	masked map[int]bool
	lines  []Line
	total  int
	open   []openLine
	key    token
	paths  map[string]int // how often a path was there already: keys may repeat
}

// openLine is a container whose end was not reached yet.
type openLine struct {
	line  int // index in lines, -1 when it was left out
	first int // total before its children
	list  bool
	n     int // children so far
	path  string
}

func (b *treeBuilder) token() bool {
	t := b.scan.next()
	switch t.kind {
	case tokenEnd:
		return false
	case tokenKey:
		b.key = t
	case tokenOpen:
		line, path := b.add(t)
		b.open = append(b.open, openLine{line: line, first: b.total, list: b.scan.data[t.start] == '[', path: path})
	case tokenClose:
		b.close()
	default:
		if i, _ := b.add(t); i >= 0 {
			b.scalar(i, t)
		}
	}
	return true
}

// add makes the line of a value and returns its index, or -1 when it is left out.
func (b *treeBuilder) add(t token) (index int, path string) {
	b.total++
	var parent *openLine
	n := 0
	if len(b.open) > 0 {
		parent = &b.open[len(b.open)-1]
		n = parent.n
		parent.n++
	}
	l := b.limits
	if l.lines > 0 && len(b.lines) >= l.lines || l.deeper > 0 && len(b.open) > l.deeper || parent != nil && parent.line < 0 {
		return -1, ""
	}
	line := Line{Depth: len(b.open), Masked: b.masked[t.start]}
	if parent != nil {
		line.Key, line.Path = b.name(parent, n)
		line.Masked = line.Masked || !parent.list && b.masked[b.key.start]
	}
	b.lines = append(b.lines, line)
	return len(b.lines) - 1, line.Path
}

// name gives a child its key as shown and a path that no other line has.
func (b *treeBuilder) name(parent *openLine, n int) (key, path string) {
	if parent.list {
		key = "[" + strconv.Itoa(n) + "]"
		path = parent.path + key
	} else {
		var rest int
		key, rest = unquote(b.scan.data[b.key.start:b.key.end], cmp.Or(b.limits.key, -1))
		step := key
		if rest > 0 {
			key += "…"
		}
		if strings.ContainsAny(step, `.[]#~"`) || step == "" || rest > 0 {
			step = strconv.Quote(step)
		}
		path = parent.path + "." + step
		if parent.path == "" {
			path = step
		}
	}
	if len(path) > maxPath {
		path = "#" + strconv.Itoa(len(b.lines))
	}
	if seen := b.paths[path]; seen > 0 {
		b.paths[path]++
		path += "#" + strconv.Itoa(seen+1)
	}
	b.paths[path]++
	return key, path
}

func (b *treeBuilder) close() {
	if len(b.open) == 0 {
		return
	}
	c := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	if c.line < 0 {
		return
	}
	line := &b.lines[c.line]
	line.Children = b.total - c.first
	switch {
	case c.list && c.n == 0:
		line.Text = "[]"
	case c.n == 0:
		line.Text = "{}"
	case c.list:
		line.Text = "[" + plural(c.n, "item") + "]"
	default:
		line.Text = "{" + plural(c.n, "key") + "}"
	}
}

func (b *treeBuilder) scalar(i int, t token) {
	raw := b.scan.data[t.start:t.end]
	if t.kind == tokenLiteral {
		b.fill(i, string(raw), 0)
		return
	}
	limit := -1
	if b.limits.text > 0 {
		limit = b.limits.text
	}
	text, rest := unquote(raw, limit)
	if !b.masked[t.start] || !isHidden(text) {
		text = `"` + text
		if rest == 0 {
			text += `"`
		}
	}
	b.fill(i, text, rest)
}

// fill puts a scalar's text into its line, and into more lines where it has some.
func (b *treeBuilder) fill(i int, text string, rest int) {
	if most := b.limits.text; most > 0 && len(text) > most {
		if runes := []rune(text); len(runes) > most+2 {
			text, rest = string(runes[:most]), rest+len(string(runes[most:]))
		}
	}
	if rest > 0 {
		text += fmt.Sprintf("… %s more", plural(rest, "byte"))
	}
	line := b.lines[i]
	if !b.limits.breaks {
		b.lines[i].Text = text
		return
	}
	lines := textLines(text)
	b.lines[i].Text = lines[0]
	for n, l := range lines[1:] {
		b.total++
		b.lines = append(b.lines, Line{Depth: line.Depth, Path: line.Path + "~" + strconv.Itoa(n+1), Text: l, Masked: line.Masked, More: true})
	}
}

// textLines are the lines of a quoted text. A break at its very end stays in the
// last one, where it is made visible: nothing but the quote would come after it.
func textLines(text string) []string {
	lines := strings.Split(text, "\n")
	if last := len(lines) - 1; last > 0 && lines[last] == `"` {
		lines = append(lines[:last-1], lines[last-1]+"\n"+lines[last])
	}
	return lines
}

// plural is n and its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
