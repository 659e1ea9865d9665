package main

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
)

// A store in PostgreSQL is made by the first run, read by its URL or a context,
// and never taken for an empty one when it is not there. No command prints the
// password of its URL.
func TestPostgresStore(t *testing.T) {
	server := testservers.Postgres(t)
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	orders := server.URL + "&schema=orders"
	flow := write("f.yaml", "name: f\nsteps:\n  - {id: a, type: transform, config: {action: render, template: x, output_key: y}}\n")
	key := write("k", strings.Repeat("k", 40))
	config := write("config.yaml", "contexts:\n  orders:\n    store: "+orders+"\n")
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := u.User.Password()
	flowtui := func(code int, words string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		args = append(args, "--key-file", key, "--config", config)
		if got := run(t.Context(), args, strings.NewReader(""), &out, &out); got != code || !strings.Contains(out.String(), words) {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s", args, got, code, words, &out)
		}
		if strings.Contains(out.String(), secret) {
			t.Errorf("%v shows the password:\n%s", args, &out)
		}
	}
	flowtui(3, `looked for the tables of a store in the schema "orders" of the database "postgres", found no such schema`, "ls", orders)
	flowtui(3, "found no such schema", "ls", "orders")
	flowtui(0, "order-1", "run", orders, flow, "--id", "order-1", "--yes")
	flowtui(0, "order-1", "ls", orders)
	flowtui(0, "1 verified", "verify", "orders", "order-1")
	flowtui(3, "there is something like a store at schema=orders", "ls", server.URL)
	flowtui(7, "read-only", "run", orders, flow, "--yes", "--read-only")
	flowtui(7, "no terminal and no --yes", "run", orders, flow)

	a := &app{stdin: strings.NewReader(""), stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
	a.global.keys.file = key
	s, err := a.attach(t.Context(), false, orders)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.shown(orders); strings.Contains(got, secret) || !strings.Contains(got, "schema=orders") {
		t.Errorf("it is shown as %s", got)
	}
	server.Stop()
	flowtui(1, "cannot be reached", "ls", orders)
}
