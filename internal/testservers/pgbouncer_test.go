//go:build unix

package testservers

import (
	"os"
	"testing"
)

// Two transactions of one client may go to two server processes, and all
// clients share two of them.
func TestPgBouncerAnswers(t *testing.T) {
	server := Postgres(t)
	pooler := PgBouncer(t, server)
	mustPing(t, pooler)
	if got := query(t, pooler, pooler.URL, "select 6 * 7, current_user, current_setting('port')"); got != "42|flowtui|"+mustParse(t, server.URL).Port() {
		t.Errorf("psql printed %q", got)
	}
	for _, end := range []func(){pooler.Stop, pooler.Kill} {
		end()
		if err := pooler.ping(pingLimit); err == nil {
			t.Error("an ended pooler answered")
		}
		pooler.Restart(t)
		mustPing(t, pooler)
	}
	server.Restart(t)
	if got := query(t, pooler, pooler.URL, "select 1"); got != "1" {
		t.Errorf("after a restart of the server psql printed %q", got)
	}
}

// The password of the server is in no argument and in no file that others read.
func TestPgBouncerKeepsThePassword(t *testing.T) {
	pooler := PgBouncer(t, Postgres(t))
	info, err := os.Stat(pooler.kind.(*pgbouncer).folder + "/pgbouncer.ini")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the settings are %v, %v", info, err)
	}
	if got := len(pooler.proc.cmd.Args); got != 2 {
		t.Errorf("%d arguments", got)
	}
}

func TestMissingPgBouncerIsSaid(t *testing.T) {
	server := Postgres(t)
	t.Setenv("PATH", t.TempDir())
	t.Setenv("FLOWTUI_TEST_ALL", "1")
	if _, err := os.Stat(debianPgBouncer); err == nil {
		if got := endOf(t, func(tb testing.TB) { PgBouncer(tb, server) }).ended; got != "" {
			t.Errorf("it is out of PATH, and the test ended with %q", got)
		}
		return
	}
	want := "failed: pgbouncer is not installed; install the package pgbouncer"
	if got := endOf(t, func(tb testing.TB) { PgBouncer(tb, server) }).ended; got != want {
		t.Errorf("the test ended with %q", got)
	}
}
