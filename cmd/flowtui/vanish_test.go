package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

// A store file that vanishes or is replaced under an open viewer is a problem,
// never a store without runs.
func TestAStoreFileThatVanishes(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	flow := filepath.Join(dir, "f.yaml")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(flow, "name: f\nsteps:\n  - {id: a, type: transform, config: {action: render, template: x, output_key: y}}\n")
	key := filepath.Join(dir, "k")
	write(key, strings.Repeat("k", 40))
	store, other := filepath.Join(dir, "s.db"), filepath.Join(dir, "o.db")
	for _, path := range []string{store, other} {
		var out bytes.Buffer
		if code := run(t.Context(), []string{"run", path, flow, "--yes", "--key-file", key}, strings.NewReader(""), &out, &out); code != 0 {
			t.Fatal(out.String())
		}
	}
	for name, change := range map[string]func(){
		"is gone":                  func() {},
		"replaced by an empty one": func() { write(store, "") },
		"replaced by another":      func() { copyFile(t, other, store) },
	} {
		a := &app{stdin: strings.NewReader(""), stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
		a.global.keys.file = key
		s, err := a.attach(t.Context(), false, store)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.List(t.Context(), viewer.Query{}); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(store, store+".old"); err != nil {
			t.Fatal(err)
		}
		change()
		page, err := s.List(t.Context(), viewer.Query{})
		if err != nil || len(page.Rows) != 0 || len(page.Problems) != 1 || !strings.Contains(page.Problems[0].Problem.Message, name) {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
		if n, err := s.Counts(t.Context(), viewer.Query{}); err == nil {
			t.Errorf("%s: counted %v", name, n)
		}
		_ = os.Remove(store)
		if err := os.Rename(store+".old", store); err != nil {
			t.Fatal(err)
		}
		if page, err := s.List(t.Context(), viewer.Query{}); err != nil || len(page.Rows) != 1 || len(page.Problems) != 0 {
			t.Errorf("%s, and back: %+v, %v", name, page, err)
		}
		s.Close()
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
