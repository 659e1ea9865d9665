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
			r = d.flowtui(t, "demo", "--dir", filepath.Join(t.TempDir(), "other"), "--store", d.elsewhere, "--no-open")
			if r.code != 1 || !strings.Contains(r.stderr, "there are runs in the store already") {
				t.Errorf("a second demo on the store: %d %s", r.code, r.stderr)
			}
		})
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
