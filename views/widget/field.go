package widget

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/views/theme"
)

// Field is a text field. Pasted text is inserted as it is, new lines included
// when the field has several lines, and never submits anything. Characters
// that would act on the terminal are refused.
type Field struct {
	styles *theme.Styles
	keys   fieldKeys
	left   []string // characters as seen, before the caret
	right  []string // after it
	bytes  int
	limit  int // bytes
	lines  bool
}

type fieldKeys struct {
	left, right, home, end, back, del, clear, cut, newLine, word key.Binding
}

// NewField makes an empty field for at most limit bytes, with several lines or
// with one.
func NewField(st *theme.Styles, limit int, lines bool) *Field {
	keys := func(k ...string) key.Binding { return key.NewBinding(key.WithKeys(k...)) }
	return &Field{styles: st, limit: limit, lines: lines, keys: fieldKeys{
		left: keys("left", "ctrl+b"), right: keys("right", "ctrl+f"),
		home: keys("home", "ctrl+a"), end: keys("end", "ctrl+e"),
		back: keys("backspace", "ctrl+h"), del: keys("delete"), clear: keys("ctrl+u"), cut: keys("ctrl+k"),
		newLine: keys("alt+enter", "ctrl+j"), word: keys("ctrl+w"),
	}}
}

// Value is the text.
func (f *Field) Value() string { return strings.Join(f.left, "") + strings.Join(f.right, "") }

// Set replaces the text.
func (f *Field) Set(s string) {
	f.left, f.right, f.bytes = clusters(s), nil, len(s)
}

// Key handles a key. It returns a sentence when text was refused.
func (f *Field) Key(msg tea.KeyMsg) string {
	if msg.Paste || (msg.Type == tea.KeyRunes && !msg.Alt) || msg.Type == tea.KeySpace {
		return f.insert(string(msg.Runes))
	}
	k := f.keys
	switch {
	case key.Matches(msg, k.newLine):
		if f.lines {
			return f.insert("\n")
		}
	case key.Matches(msg, k.left):
		f.step(&f.left, &f.right)
	case key.Matches(msg, k.right):
		f.step(&f.right, &f.left)
	case key.Matches(msg, k.back):
		f.drop(&f.left, 1)
	case key.Matches(msg, k.del):
		f.drop(&f.right, 1)
	case key.Matches(msg, k.word):
		f.drop(&f.left, f.lastWord())
	case key.Matches(msg, k.clear):
		f.drop(&f.left, len(f.left))
	case key.Matches(msg, k.cut):
		f.drop(&f.right, len(f.right))
	case key.Matches(msg, k.home):
		for len(f.left) > 0 {
			f.step(&f.left, &f.right)
		}
	case key.Matches(msg, k.end):
		for len(f.right) > 0 {
			f.step(&f.right, &f.left)
		}
	}
	return ""
}

func (f *Field) insert(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	if f.bytes+len(s) > f.limit {
		return fmt.Sprintf("refused: %d bytes, the field takes %d", len(s), f.limit)
	}
	refused := 0
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && !f.lines:
			return ' '
		case r == '\n', r == '\t':
			return r
		case hostile(r) || r == utf8.RuneError:
			refused++
			return -1
		}
		return r
	}, s)
	// What is typed may join the character before it, like an accent.
	joined := s
	if n := len(f.left); n > 0 {
		joined = f.left[n-1] + s
		f.left = f.left[:n-1]
	}
	f.left = append(f.left, clusters(joined)...)
	f.bytes += len(s)
	if refused > 0 {
		return fmt.Sprintf("control characters left out: %d", refused)
	}
	return ""
}

// step moves one character over the caret. right is kept in reading order.
func (f *Field) step(from, to *[]string) {
	if from == &f.left && len(f.left) > 0 {
		n := len(f.left) - 1
		f.right = append([]string{f.left[n]}, f.right...)
		f.left = f.left[:n]
	}
	if from == &f.right && len(f.right) > 0 {
		f.left = append(f.left, f.right[0])
		f.right = f.right[1:]
	}
}

// drop removes n characters next to the caret.
func (f *Field) drop(from *[]string, n int) {
	s := *from
	n = min(n, len(s))
	gone := s[:n]
	if from == &f.left {
		gone = s[len(s)-n:]
		*from = s[:len(s)-n]
	} else {
		*from = s[n:]
	}
	for _, c := range gone {
		f.bytes -= len(c)
	}
}

func (f *Field) lastWord() int {
	n := len(f.left)
	i := n
	for i > 0 && f.left[i-1] == " " {
		i--
	}
	for i > 0 && f.left[i-1] != " " && f.left[i-1] != "\n" {
		i--
	}
	return max(n-i, min(n, 1))
}

// View draws the field in width cells and at most height lines, around the
// caret when it has the focus. It has at least one line.
func (f *Field) View(width, height int, focus bool) []string {
	caret := ""
	if focus {
		caret = f.styles.Caret
	}
	var lines []string
	at := 0
	for i, part := range [][]string{f.left, f.right} {
		text := strings.Join(part, "")
		if i == 0 {
			lines = breakText(text+caret, width)
			at = len(lines) - 1
			continue
		}
		tail := breakText(lines[at]+text, width)
		lines = append(lines[:at], tail...)
	}
	from := max(0, min(at-height/2, len(lines)-height))
	return Fill(lines[from:min(len(lines), from+max(1, height))], width, min(max(1, height), len(lines)), "")
}

func breakText(s string, width int) []string {
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		lines = append(lines, Break(l, max(1, width))...)
	}
	return lines
}

// clusters splits s into the characters that a reader sees.
func clusters(s string) []string {
	var all []string
	for len(s) > 0 {
		c, _ := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		if c == "" {
			_, n := utf8.DecodeRuneInString(s)
			c = s[:n]
		}
		all = append(all, c)
		s = s[len(c):]
	}
	return all
}
