package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

// view makes a state from lines like "a.b=1": the depth is that of the path.
func view(cut int, lines ...string) viewer.StateView {
	v := viewer.StateView{Cut: cut, Lines: []viewer.Line{{Text: "{}", Children: len(lines)}}}
	for _, l := range lines {
		path, text, _ := strings.Cut(l, "=")
		line := viewer.Line{Depth: 1 + strings.Count(path, "."), Path: path, Text: text}
		if strings.HasPrefix(text, "{") {
			line.Children = 1
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

// marks writes a diff as words like "~a" or "+a.b"; what is the same has no sign.
func marks(lines []changedLine) string {
	var words []string
	for _, l := range lines[1:] {
		words = append(words, strings.TrimSpace(string(l.change)+l.Path))
	}
	return strings.Join(words, " ")
}

func TestDiffStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		before, after viewer.StateView
		want          string
	}{
		{"nothing", view(0, "a=1"), view(0, "a=1"), "a"},
		{"altered", view(0, "a=1", "b=1"), view(0, "a=2", "b=1"), "~a b"},
		{"added", view(0, "a=1"), view(0, "a=1", "b=1"), "a +b"},
		{"removed at the end", view(0, "a=1", "b=1"), view(0, "a=1"), "a -b"},
		{"removed at the start", view(0, "a=1", "b=1"), view(0, "b=1"), "-a b"},
		{"all removed", view(0, "a=1", "b=1"), view(0), "-a -b"},
		{"all added", view(0), view(0, "a=1", "b=1"), "+a +b"},
		{"below", view(0, "a={1}", "a.b=1", "c=1"), view(0, "a={1}", "a.b=2", "c=1"), "~a ~a.b c"},
		{"a branch is gone", view(0, "a={1}", "a.b=1", "c=1"), view(0, "c=1"), "-a -a.b c"},
		{"a value becomes a branch", view(0, "a=1", "b=1", "c=1"), view(0, "a={1}", "a.k=1", "c=1"), "~a +a.k -b c"},
		{"a branch becomes a value", view(0, "a={1}", "a.k=1", "c=1"), view(0, "a=1", "c=1"), "~a -a.k c"},
		{"other order", view(0, "a=1", "b=1", "c=1"), view(0, "c=1", "a=1"), "c a -b"},
		{"removed inside", view(0, "a={2}", "a.x=1", "a.y=1", "b=1"), view(0, "a={1}", "a.x=1", "b=1"), "~a a.x -a.y b"},
		{"nothing is said beyond what was left out now", view(0, "a=1", "b=1", "z=1"), view(3, "a=1", "b=2"), "a ~b"},
		{"nothing is said beyond what was left out before", view(3, "a=1"), view(0, "a=2", "b=1"), "~a b"},
		{"empty before", viewer.StateView{}, view(0, "a=1"), "+a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := marks(diffStates(c.before, c.after)); got != c.want {
				t.Fatalf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestDiffMarksASecretThatIsShownNow(t *testing.T) {
	t.Parallel()
	before, after := view(0, "a=1"), view(0, "a=1")
	before.Lines[1].Masked = true
	if got := marks(diffStates(before, after)); got != "~a" {
		t.Fatal(got)
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	plus, tilde, minus := tally(diffStates(view(0, "a={1}", "a.b=1", "c=1", "d=1"), view(0, "a={1}", "a.b=2", "c=1", "e=1")))
	if plus != 1 || tilde != 1 || minus != 1 {
		t.Fatal(plus, tilde, minus)
	}
}

// Without the removed lines a diff is the state after, in its order; without
// the added ones it has all lines of the state before.
func FuzzDiffStates(f *testing.F) {
	f.Add("a=1 b=2 b.c=3", "a=2 b.c=4 d=1")
	f.Add("", "a=1 a.b=1 a.b.c=1")
	f.Fuzz(func(t *testing.T, a, b string) {
		before, after := view(0, fields(a)...), view(0, fields(b)...)
		lines := diffStates(before, after)
		var now []viewer.Line
		then := map[string]bool{}
		for _, l := range lines {
			if l.change != removed {
				now = append(now, l.Line)
			}
			if l.change != added {
				then[l.Path] = true
			}
		}
		if !slices.Equal(now, after.Lines) {
			t.Fatalf("not the state after: %v", now)
		}
		for _, l := range before.Lines {
			if !then[l.Path] {
				t.Fatalf("%q was lost", l.Path)
			}
		}
		ends(lines)
	})
}

// fields are lines with different paths.
func fields(s string) []string {
	seen := map[string]bool{"": true}
	var out []string
	for _, l := range strings.Fields(s) {
		path, _, _ := strings.Cut(l, "=")
		if !seen[path] {
			out = append(out, l)
		}
		seen[path] = true
	}
	return out
}

// manyLinesOf is a large state: lists of ten items.
func manyLinesOf(n int) viewer.StateView {
	v := viewer.StateView{Lines: []viewer.Line{{Text: "{…}", Children: n - 1}}}
	for i := 1; i < n; i++ {
		l := viewer.Line{Depth: 2, Path: fmt.Sprintf("k%d[%d]", i/10, i%10), Key: fmt.Sprint(i), Text: `"some text"`}
		if i%10 == 1 {
			l = viewer.Line{Depth: 1, Path: fmt.Sprintf("k%d", i/10), Key: fmt.Sprintf("k%d", i/10), Text: "[9 items]", Children: 9}
		}
		v.Lines = append(v.Lines, l)
	}
	return v
}
