package views

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/views/theme"
)

func treeOf(lines ...string) *stateTree {
	t := &stateTree{}
	t.fit(0, 10)
	t.set(unchanged(view(0, lines...).Lines))
	return t
}

// seen is the paths of the lines that are shown, the cursor's in brackets.
func seen(t *stateTree) string {
	var words []string
	for n, i := range t.shown {
		path := t.lines[i].Path
		if path == "" {
			path = "."
		}
		if n == t.cursor {
			path = "[" + path + "]"
		}
		words = append(words, path)
	}
	return strings.Join(words, " ")
}

func TestTreeFolds(t *testing.T) {
	t.Parallel()
	tree := treeOf("a={1}", "a.b={1}", "a.b.c=1", "d=1")
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() {}, "[.] a a.b a.b.c d"},
		{func() { tree.in(); tree.in(); tree.in() }, ". a a.b [a.b.c] d"},
		{tree.in, ". a a.b [a.b.c] d"}, // a value has no inside
		{tree.out, ". a [a.b] a.b.c d"},
		{tree.out, ". a [a.b] d"},
		{tree.out, ". [a] a.b d"},
		{tree.toggle, ". [a] d"},
		{tree.in, ". [a] a.b d"}, // what was folded inside stays so
		{func() { tree.out(); tree.out(); tree.out() }, "[.]"},
	} {
		c.do()
		if got := seen(tree); got != c.want {
			t.Fatalf("got %s, want %s", got, c.want)
		}
	}
}

func TestTreeKeepsTheCursorOnItsPath(t *testing.T) {
	t.Parallel()
	tree := treeOf("a={1}", "a.b=1", "c=1")
	tree.find("a.b")
	tree.set(unchanged(view(0, "0=1", "a={1}", "a.a=1", "a.b=2", "c=1").Lines))
	if got := seen(tree); got != ". 0 a a.a [a.b] c" {
		t.Fatal(got)
	}
	tree.set(unchanged(view(0, "a={1}", "a.a=1").Lines)) // gone: what contained it
	if got := seen(tree); got != ". [a] a.a" {
		t.Fatal(got)
	}
	tree.set(nil)
	tree.toggle()
	tree.in()
	tree.out()
	if tree.at() != -1 || tree.search("x", 0, 1) {
		t.Fatal("an empty tree has a line")
	}
}

func TestTreeSearchOpensWhatItFinds(t *testing.T) {
	t.Parallel()
	tree := treeOf("a={1}", "a.b=Hamlet", "c=hamlet")
	tree.out()
	if !tree.search("HAMLET", tree.at(), 1) || seen(tree) != ". a [a.b] c" {
		t.Fatal(seen(tree))
	}
	if !tree.search("hamlet", tree.at()+1, 1) || seen(tree) != ". a a.b [c]" {
		t.Fatal(seen(tree))
	}
	if !tree.search("hamlet", tree.at()+1, 1) || tree.path() != "a.b" { // round the end
		t.Fatal(seen(tree))
	}
	if !tree.search("hamlet", tree.at()-1, -1) || tree.path() != "c" {
		t.Fatal(seen(tree))
	}
	if tree.search("ophelia", 0, 1) {
		t.Fatal("found what is not there")
	}
}

func TestLargeTreeStartsClosed(t *testing.T) {
	t.Parallel()
	tree := &stateTree{}
	tree.fit(0, 10)
	tree.set(unchanged(manyLinesOf(2001).Lines))
	if len(tree.shown) > 210 || tree.closed(0) {
		t.Fatal(len(tree.shown))
	}
}

func TestTreeLineFitsEveryWidth(t *testing.T) {
	t.Parallel()
	st := theme.New(theme.NewPlainRenderer(), false)
	tree := treeOf("a={1}", "a.b=漢字漢字漢字\x1b[2J", "c="+strings.Repeat("long", 100))
	tree.lines[2].Key, tree.lines[2].Masked = "👨‍👩‍👧‍👦", true
	for w := range 200 {
		for n := range tree.shown {
			if got := widthOf(tree.line(st, n, w)); got > w {
				t.Fatalf("width %d: %d", w, got)
			}
		}
	}
}

// A folded line with changes inside is a change.
func TestAFoldedChangeIsNotNothing(t *testing.T) {
	t.Parallel()
	r := openRun(t)
	r.press("4", "{", "{", "{", "D", "enter")
	if text := r.View(); strings.Contains(text, "Nothing changed") || !strings.Contains(text, "~ ▸ {3 keys}") {
		t.Fatal(text)
	}
	r.press("}", "}") // a claim changes nothing
	if text := r.View(); !strings.Contains(text, "+0 ~0 -0") || !strings.Contains(text, "Nothing changed in this step.") {
		t.Fatal(text)
	}
}
