package keymap_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"

	"github.com/flowtui/flowtui/keymap"
)

func TestNoKeyMeansTwoThings(t *testing.T) {
	t.Parallel()
	if c := keymap.Default().Conflicts(); len(c) > 0 {
		t.Fatalf("conflicts:\n%s", strings.Join(c, "\n"))
	}
}

func TestConflictsAreFound(t *testing.T) {
	t.Parallel()
	m := keymap.Default()
	m.List.Filter = m.Global.Quit
	if len(m.Conflicts()) == 0 {
		t.Fatal("q as filter and as quit was not found")
	}
}

// Every binding of the map must be in a group, or it would be in no help.
func TestEveryBindingIsListed(t *testing.T) {
	t.Parallel()
	m := keymap.Default()
	listed := map[string]bool{}
	for _, g := range m.Groups() {
		for _, b := range g.Bindings {
			listed[g.Name+strings.Join(b.Keys(), " ")] = true
			if b.Help().Key == "" || b.Help().Desc == "" {
				t.Errorf("%s: binding %v has no help", g.Name, b.Keys())
			}
		}
	}
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		walk(v.Field(i), func(b key.Binding) {
			name := strings.ToLower(v.Type().Field(i).Name)
			if !listed[name+strings.Join(b.Keys(), " ")] {
				t.Errorf("%s: %v is in no group", name, b.Keys())
			}
		})
	}
}

func walk(v reflect.Value, f func(key.Binding)) {
	if b, ok := v.Interface().(key.Binding); ok {
		f(b)
		return
	}
	if v.Kind() != reflect.Struct {
		return // the single digits are listed as one
	}
	for i := range v.NumField() {
		walk(v.Field(i), f)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	got := keymap.Markdown()
	for _, want := range []string{"### List of runs", "| `/` | filter |", "| `ctrl+d` | deny |"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestTitledKeepsTheKeys(t *testing.T) {
	t.Parallel()
	b := keymap.Default().Global.Copy
	c := keymap.Titled(b, "copy the run id")
	if c.Help().Desc != "copy the run id" || c.Help().Key != "y" || b.Help().Desc != "copy" {
		t.Fatalf("got %v, original %v", c.Help(), b.Help())
	}
}
