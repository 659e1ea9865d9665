package e2e

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
)

// The demo can be made on every kind of store, and is the same on each: all
// runs, what was tampered with, plans, approvals.
func TestDemoOnEveryStore(t *testing.T) {
	for name, where := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "runs") },
		"json":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "runs") + "/" },
		"redis":    func(t *testing.T) string { return testservers.Redis(t).URL },
		"postgres": func(t *testing.T) string { return testservers.Postgres(t).URL },
	} {
		t.Run(name, func(t *testing.T) {
			d := demoDir{dir: filepath.Join(t.TempDir(), "demo"), home: t.TempDir(), elsewhere: where(t)}
			r := d.flowtui(t, "demo", "--dir", d.dir, "--store", d.elsewhere, "--no-open", "--json")
			if r.code != 0 {
				t.Fatalf("demo: %d %s", r.code, r.stderr)
			}
			if secret := password(t, d.elsewhere); secret != "" && strings.Contains(r.stdout+r.stderr, secret) {
				t.Error("the password is printed")
			}
			d.isListed(t)
			d.showsTampering(t)
			plan := decode[struct{ Action string }](t, d.flowtui(t, d.on("plan", "order-9", "--json")...).stdout)
			if plan.Action != "resume" {
				t.Errorf("plan of order-9: %+v", plan)
			}
			r = d.flowtui(t, d.on("approve", "order-9", "--json")...)
			if r.code != 0 || decode[row](t, r.stdout).Status != "done" {
				t.Errorf("approve: %d %s %s", r.code, r.stdout, r.stderr)
			}
			if r = d.flowtui(t, d.on("verify", "order-9")...); r.code != 0 {
				t.Errorf("verify: %d %s", r.code, r.stdout)
			}
			d.isWell(t, name)
			d.movesRuns(t)
			r = d.flowtui(t, "demo", "--dir", filepath.Join(t.TempDir(), "other"), "--store", d.elsewhere, "--no-open")
			if r.code != 1 || !strings.Contains(r.stderr, "there are runs in the store already") {
				t.Errorf("a second demo on the store: %d %s", r.code, r.stderr)
			}
		})
	}
}

// isWell: doctor knows the store and its key. What it may find is that a server
// of these tests does not care to keep what it has.
func (d demoDir) isWell(t *testing.T, format string) {
	t.Helper()
	r := d.flowtui(t, d.on("doctor", "--json")...)
	h := decode[struct {
		Format   string
		Writable bool
		Keys     []struct {
			Rows    int
			Verdict string
		}
		Clock    *struct{ Ahead float64 }
		Latency  struct{ Reads int }
		May      []struct{ What, WhyNot string }
		Problems []string
	}](t, r.stdout)
	server := format == "redis" || format == "postgres"
	if h.Format != format || !h.Writable || len(h.Keys) != 1 || h.Keys[0].Verdict != "verified" || (h.Clock != nil) != server || h.Latency.Reads == 0 {
		t.Errorf("doctor: %s %s", r.stdout, r.stderr)
	}
	for _, p := range h.Problems {
		if !strings.Contains(p, "fsync") && !strings.Contains(p, "synchronous_commit") {
			t.Errorf("doctor: %s", p)
		}
	}
	if r.code != min(1, len(h.Problems)) {
		t.Errorf("doctor ends with %d: %q", r.code, h.Problems)
	}
}

// movesRuns: runs go from the store through a bundle into another one, and one
// that was deleted comes back.
func (d demoDir) movesRuns(t *testing.T) {
	t.Helper()
	bundle := filepath.Join(d.dir, "moved.bundle")
	there := demoDir{dir: d.dir, home: d.home, elsewhere: filepath.Join(t.TempDir(), "there.db")}
	for _, step := range []struct {
		code int
		args []string
	}{
		{0, d.on("export", "order-2", "order-9", "обзор №7 🎟", "-o", bundle)},
		{0, there.on("import", bundle)},
		{0, there.on("verify")},
		{0, d.on("delete", "order-9")},
		{4, d.on("import", bundle)},
		{0, d.on("verify", "order-9")},
		{0, d.on("prune", "--query", "release", "--keep-last", "0")},
		{3, d.on("show", "release-14")},
	} {
		if r := d.flowtui(t, step.args...); r.code != step.code {
			t.Errorf("%v: %d %s %s", step.args, r.code, r.stdout, r.stderr)
		}
	}
}

func password(t *testing.T, store string) string {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := u.User.Password()
	return secret
}
