package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfig(t *testing.T) {
	path := writeConfig(t, `
default: prod
contexts:
  prod:
    store: runs.db
    key_file: keys/prod.key
    read_only: true
    owner: alice
    production: true
    flows: [flows, /srv/flows]
    user: al
    principal: team
  dev: {store: "sqlite:dev.db", key_cmd: pass show dev}
`)
	c, err := readConfig(path, true)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(path)
	prod := c.Contexts["prod"]
	if prod.Store != filepath.Join(dir, "runs.db") || prod.KeyFile != filepath.Join(dir, "keys/prod.key") ||
		prod.Flows[0] != filepath.Join(dir, "flows") || prod.Flows[1] != "/srv/flows" {
		t.Errorf("paths: %+v", prod)
	}
	if !prod.ReadOnly || !prod.Production || prod.Owner != "alice" || prod.User != "al" || prod.Principal != "team" {
		t.Errorf("settings: %+v", prod)
	}
	if c.Default.text != "prod" || c.Contexts["dev"].Store != "sqlite:dev.db" {
		t.Errorf("config: %+v", c)
	}
}

func TestConfigErrorsNameThePlace(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":         {"contexts:\n  a:\n    store: x\n    stroe: y\n", ":4:5: unknown field \"stroe\""},
		"unknown at the top":  {"contxts: {}\n", ":1:1: unknown field"},
		"wrong type":          {"contexts:\n  a:\n    store: x\n    read_only: perhaps\n", ":4:16: contexts.a.read_only: want true or false"},
		"text for a list":     {"contexts:\n  a: {store: x, flows: y}\n", ":2:24: contexts.a.flows: want a list"},
		"list for a text":     {"contexts:\n  a: {store: [x]}\n", ":2:14: contexts.a.store: want a text"},
		"in a list":           {"contexts:\n  a: {store: x, flows: [y, {z: 1}]}\n", ":2:28: contexts.a.flows[1]: want a text"},
		"number for contexts": {"contexts: 3\n", ":1:11: contexts: want a mapping of names"},
		"nothing":             {"contexts:\n  a:\n", ": the context a has no store"},
		"no store":            {"contexts:\n  a:\n    owner: x\n", ":3:"},
		"two keys":            {"contexts:\n  a: {store: x, key_file: f, key_env: E}\n", ":2:"},
		"unknown default":     {"default: b\ncontexts:\n  a: {store: x}\n", `:1:10: there is no context "b"; there are a`},
		"duplicate":           {"contexts:\n  a: {store: x}\n  a: {store: y}\n", ":3:3: "},
		"not YAML":            {"contexts: [\n", ":1:"},
		"list for a context":  {"contexts:\n  a: [1]\n", ":2:"},
		"text for everything": {"hello\n", ":1:1: "},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeConfig(t, c.text)
			_, err := readConfig(path, true)
			if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
				t.Errorf("got %v\nwant %s%s…", err, path, c.want)
			}
		})
	}
}

func TestConfigThatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := readConfig(path, false); err != nil {
		t.Errorf("not asked for: %v", err)
	}
	if _, err := readConfig(path, true); err == nil {
		t.Error("asked for, and no error")
	}
	if c, err := readConfig(writeConfig(t, ""), true); err != nil || len(c.Contexts) > 0 {
		t.Errorf("empty: %v, %v", c, err)
	}
}

func TestWhatIsAURL(t *testing.T) {
	for spec, want := range map[string]bool{
		"sqlite:x.db": true, "file:///x": true, "postgres://h/d": true, "x.db": false, "./a:b": false, `C:\runs.db`: false, "C:/x": false, "a b:c": false,
	} {
		if isURL(spec) != want {
			t.Errorf("%s: %v", spec, !want)
		}
	}
}

func TestPathOfAStore(t *testing.T) {
	for spec, want := range map[string]string{
		"runs.db": "runs.db", "sqlite:runs.db": "runs.db", "sqlite:///srv/a%20b?.db": "/srv/a%20b?.db", "sqlite:/srv/x": "/srv/x",
		"file:///srv/a%20b.db": "/srv/a b.db", "file:a%3fb.db": "a?b.db", "file:/x": "/x",
	} {
		if got, err := sqlitePath(spec); err != nil || filepath.ToSlash(got) != want {
			t.Errorf("%s: %q, %v", spec, got, err)
		}
	}
	for _, spec := range []string{"postgres://u:p@h/d", "file://host/x", "file:///x?mode=rw", "redis:x"} {
		if got, err := sqlitePath(spec); err == nil || strings.Contains(err.Error(), "u:p@") {
			t.Errorf("%s: %q, %v", spec, got, err)
		}
	}
}
