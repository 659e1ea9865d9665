package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

func TestContextsThatDifferAreNotOpenedTogether(t *testing.T) {
	a, _ := testApp(t)
	a.global.config = writeConfig(t, `
contexts:
  a: {store: a.db, key_file: a.key, flows: [one]}
  b: {store: b.db, key_file: a.key, flows: [two], read_only: true}
  c: {store: c.db, key_file: c.key}
`)
	together := func(specs ...string) (storeContext, error) {
		targets, err := a.targets(specs)
		if err != nil {
			t.Fatal(err)
		}
		return a.settings(targets)
	}
	s, err := together("a", "b")
	if err != nil || !s.ReadOnly || len(s.Flows) != 2 || s.Owner != "default" {
		t.Errorf("a and b: %+v, %v", s, err)
	}
	_, err = together("a", "c")
	if p, ok := errors.AsType[viewer.Problem](err); !ok || p.Code != "usage" {
		t.Errorf("a and c: %v", err)
	}
	a.global.keys = keySource{env: "KEY"}
	if s, err := together("a", "c"); err != nil || s.keys() != a.global.keys {
		t.Errorf("with one key for both: %+v, %v", s, err)
	}
}

func TestFlagsComeBeforeAContextAndTheEnvironmentLast(t *testing.T) {
	t.Setenv("FLOWTUI_KEY_FILE", "env.key")
	a, _ := testApp(t)
	a.global.config = writeConfig(t, "contexts:\n  a: {store: a.db, key_cmd: pass, owner: alice, user: al}\n  b: {store: b.db}\n")
	settings := func(spec string) storeContext {
		targets, err := a.targets([]string{spec})
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.settings(targets)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if s := settings("a"); s.KeyCmd != "pass" || s.KeyFile != "" || s.Owner != "alice" || s.User != "al" {
		t.Errorf("context: %+v", s)
	}
	if s := settings("b"); s.KeyFile != "env.key" || s.Owner != "default" {
		t.Errorf("environment: %+v", s)
	}
	a.global.keys, a.global.owner, a.global.user = keySource{file: "flag.key"}, "bob", "bo"
	if s := settings("a"); s.KeyFile != "flag.key" || s.KeyCmd != "" || s.Owner != "bob" || s.User != "bo" {
		t.Errorf("flags: %+v", s)
	}
}

func TestFlowOfARunThatTheStoreDoesNotName(t *testing.T) {
	a, _ := testApp(t)
	dir := filepath.Join("testdata", "flows")
	a.global.flow = []string{filepath.Join(dir, "quick.yaml")}
	f, err := a.flowSource([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"": "quick", "quick": "quick", "trip": "trip"} {
		flow, _, err := f.Flow(name)
		if err != nil || flow.Name() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, _, err := f.Flow("none"); err == nil {
		t.Error("a flow that is not there")
	}
	a.global.flow = []string{"trip"}
	f, err = a.flowSource([]string{dir})
	check(t, err)
	if flow, _, err := f.Flow(""); err != nil || flow.Name() != "trip" {
		t.Errorf("by name: %v", err)
	}
	// Of several, none is for runs whose store does not name their flow.
	a.global.flow = []string{"trip", filepath.Join(dir, "quick.yaml")}
	f, err = a.flowSource([]string{dir})
	check(t, err)
	for _, name := range []string{"trip", "quick"} {
		if flow, _, err := f.Flow(name); err != nil || flow.Name() != name {
			t.Errorf("%q of two: %v", name, err)
		}
	}
	if _, _, err := f.Flow(""); err == nil {
		t.Error("one of two was taken for a run that names none")
	}
	if names := strings.Join(f.Names(), " "); !strings.Contains(names, "tickets") {
		t.Errorf("names: %s", names)
	}
}

// What says whose runs are meant keeps the screens to them; "*" is all anyway.
func TestOwnerThatIsNamedKeepsTheScreensToIt(t *testing.T) {
	a, _ := testApp(t)
	dir := filepath.Join(t.TempDir(), "runs")
	a.global.config = writeConfig(t, "contexts:\n  mine: {store: '"+dir+".db', owner: alice}\n  any: {store: '"+dir+".db'}\n")
	for _, c := range []struct {
		flag, spec string
		any        bool
	}{{"", "any", true}, {"", "mine", false}, {"default", "any", false}, {"bob", "mine", false}, {"*", "mine", true}} {
		a.global.owner = c.flag
		s, err := a.attach(t.Context(), true, c.spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Stores()[0].AnyOwner; got != c.any {
			t.Errorf("--owner %q with the context %s: any owner is %v", c.flag, c.spec, got)
		}
		s.Close()
	}
}
