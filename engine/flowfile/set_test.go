package flowfile_test

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/flowfile"
)

func TestLoadDir(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	write(t, a, "one.yaml", one)
	write(t, a, "two.yml", one+"name: second")
	write(t, a, "broken.yaml", "steps: [")
	write(t, a, "typo.yaml", one+"name: typed\nstpes: 1")
	write(t, a, "notes.txt", "not a flow")
	write(t, a, ".hidden.yaml", "steps: [")
	write(t, b, "three.yaml", one+"name: twice")
	write(t, b, "four.yaml", one+"name: twice")
	write(t, b, "five.yaml", one+"name: twice")
	write(t, b, "one-old.yaml", one+"name: one\nstpes: 1")
	s, err := flowfile.LoadDir(a, b, a)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Names(); !slices.Equal(got, []string{"one", "second"}) {
		t.Errorf("names: %q", got)
	}
	oldOne := filepath.Join(b, "one-old.yaml")
	if got := slices.Sorted(maps.Keys(s.Errors())); !slices.Equal(got, []string{oldOne, "broken", "twice", "typed"}) {
		t.Errorf("errors: %q", got)
	}
	if f, err := s.Flow("one"); err != nil || f.Path != filepath.Join(a, "one.yaml") {
		t.Errorf("one: %v, %v", f, err)
	}
	for name, want := range map[string]string{
		"broken": "broken.yaml:1:8: not YAML", "typed": `typo.yaml:3:1: a flow file has no key "stpes"`,
		"none": "known: one, second", "twice": "three.yaml",
	} {
		f, err := s.Flow(name)
		if f != nil || err == nil || !strings.Contains(err.Error(), want) || errors.Is(err, flowfile.ErrUnknownFlow) != (name == "none") {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if err := s.Errors()["twice"]; !strings.Contains(err.Error(), "five.yaml") || !strings.Contains(err.Error(), "four.yaml") {
		t.Errorf("twice: %v", err)
	}
	if _, err := flowfile.LoadDir(a, filepath.Join(a, "none")); err == nil {
		t.Error("a folder that is not there is no error")
	}
}
