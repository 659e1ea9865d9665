package main

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/viewer"
)

// A store in Redis is made by the first run, read by its URL or a context, and
// never taken for an empty one when it is not there.
func TestRedisStore(t *testing.T) {
	server := testservers.Redis(t)
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
	flow := write("f.yaml", "name: f\nsteps:\n  - {id: a, type: transform, config: {action: render, template: x, output_key: y}}\n")
	key := write("k", strings.Repeat("k", 40))
	config := write("config.yaml", "contexts:\n  orders:\n    store: "+server.URL+"?prefix=orders\n")
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
	orders := server.URL + "?prefix=orders"
	flowtui(3, "looked for the hash {orders}:meta; the database is empty", "ls", orders)
	flowtui(3, "{orders}:meta", "ls", "orders")
	flowtui(0, "order-1", "run", orders, flow, "--id", "order-1", "--yes")
	flowtui(0, "order-1", "ls", orders)
	flowtui(0, "1 verified", "verify", "orders", "order-1")
	flowtui(3, "other keys: check the prefix", "ls", server.URL)
	flowtui(7, "read-only", "run", orders, flow, "--yes", "--read-only")

	a := &app{stdin: strings.NewReader(""), stdout: new(bytes.Buffer), stderr: new(bytes.Buffer)}
	a.global.keys.file = key
	s, err := a.attach(t.Context(), false, orders)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server.Restart(t)
	page, err := s.List(t.Context(), viewer.Query{})
	if err != nil || len(page.Rows) != 0 || len(page.Problems) != 1 || !strings.Contains(page.Problems[0].Problem.Message, "the store is gone") {
		t.Errorf("after the server came back empty: %+v, %v", page, err)
	}
}
