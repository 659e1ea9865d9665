package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestScenario47TheServerBecomesReadOnly and writable again while a store is
// open: writes are refused for certain, reading goes on, and then all works
// again by itself.
func TestScenario47TheServerBecomesReadOnly(t *testing.T) {
	own := testservers.Postgres(t)
	s := create(t, own.URL)
	p := place("r")
	if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	set := func(value string) {
		for _, sql := range []string{`ALTER SYSTEM SET default_transaction_read_only = ` + value, `SELECT pg_reload_conf()`} {
			execute(t, with(t, own.URL, "default_transaction_read_only", "off"), sql)
		}
		eventually(t, "the setting is "+value, func() bool {
			info, err := s.Info(t.Context())
			return err == nil && info.ReadOnly == (value == "on")
		})
	}
	set("on")
	if err := s.Save(t.Context(), storetest.Step(p, 1)); !errors.Is(err, stores.ErrReadOnly) {
		t.Errorf("a save: %v", err)
	}
	if _, err := s.Acquire(t.Context(), p.Key, "worker", 1e9, false); !errors.Is(err, stores.ErrReadOnly) {
		t.Errorf("a lease: %v", err)
	}
	if info, err := s.Info(t.Context()); err != nil || !strings.Contains(info.Why, "set read-only") {
		t.Errorf("%+v, %v", info, err)
	}
	if last, err := s.Latest(t.Context(), p.Key); err != nil || last.Step != 0 {
		t.Errorf("reading: step %d, %v", last.Step, err)
	}
	set("off")
	if err := s.Save(t.Context(), storetest.Step(p, 1)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	storetest.Check(t, s)
}

// TestScenario47TheServerRestarts, is away for a while, and is killed: what was
// acknowledged is there, and the store works again without being opened anew.
func TestScenario47TheServerRestarts(t *testing.T) {
	own := testservers.Postgres(t)
	s := create(t, own.URL)
	p := place("r")
	notices, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	step := int64(0)
	save := func() {
		t.Helper()
		eventually(t, "a save works again", func() bool {
			err := s.Save(t.Context(), storetest.Step(p, step))
			last, _ := s.Latest(t.Context(), p.Key)
			return err == nil || errors.Is(err, stores.ErrConflict) && last.Step == step // an unknown one took effect
		})
		step++
	}
	save()
	for _, end := range []func(){own.Stop, own.Kill} {
		own.Restart(t)
		if last, err := s.Latest(t.Context(), p.Key); err != nil || last.Step != step-1 {
			t.Errorf("right after a restart: step %d, want %d, %v", last.Step, step-1, err)
		}
		save()
		end()
		if _, err := s.Latest(t.Context(), p.Key); !errors.Is(err, stores.ErrUnavailable) {
			t.Errorf("reading while it is away: %v", err)
		}
		if err := s.Save(t.Context(), storetest.Step(p, step)); !errors.Is(err, stores.ErrUnavailable) {
			t.Errorf("a save while it is away: %v", err)
		}
		own.Restart(t)
		save()
	}
	for len(notices) > 0 {
		<-notices
	}
	eventually(t, "the watcher is back", func() bool {
		execute(t, own.URL, `SELECT pg_notify('flowtui', 'flowtui.')`)
		return len(notices) > 0
	})
	storetest.Check(t, s)
}

// TestScenario47Replica: a standby is browsed, says that it is one, takes no
// writes, and its watcher polls; once promoted it is written to by the same
// store.
func TestScenario47Replica(t *testing.T) {
	own := testservers.Postgres(t)
	s := create(t, own.URL)
	p := place("r")
	if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	folder := rows(t, own.URL, `SHOW data_directory`)[0][0].(string)
	own.Stop()
	if err := os.WriteFile(filepath.Join(folder, "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	own.Restart(t)

	opened := open(t, own.URL, postgres.Options{})
	for _, s := range []*postgres.Store{s, opened} {
		info, err := s.Info(t.Context())
		if err != nil || !info.ReadOnly || info.Why != "the server is a replica" {
			t.Errorf("%+v, %v", info, err)
		}
		readAll := []error{}
		_, err = s.Latest(t.Context(), p.Key)
		readAll = append(readAll, err)
		_, err = s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
		if err := errors.Join(append(readAll, err)...); err != nil {
			t.Errorf("reading: %v", err)
		}
		if err := s.Save(t.Context(), storetest.Step(p, 1)); !errors.Is(err, stores.ErrReadOnly) {
			t.Errorf("a save: %v", err)
		}
	}
	notices, err := opened.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	execute(t, own.URL, `SELECT pg_promote()`)
	eventually(t, "a save works", func() bool { return s.Save(t.Context(), storetest.Step(p, 1)) == nil })
	noticed(t, notices)
	storetest.Check(t, opened)
}

// TestAServerThatDoesNotAnswer holds nobody up for longer than they want to wait,
// and a context says in an error how it ended, not why somebody ended it.
func TestAServerThatDoesNotAnswer(t *testing.T) {
	own := testservers.Postgres(t)
	s := create(t, own.URL)
	p := place("r")
	if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	own.Pause()
	if _, err := postgres.Open(t.Context(), with(t, own.URL, "connect_timeout", "1"), postgres.Options{}); !errors.Is(err, stores.ErrUnavailable) {
		t.Errorf("a connection: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.Latest(short, p.Key); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a read: %v", err)
	}
	told, stop := context.WithCancelCause(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Save(told, storetest.Step(p, 1)) }()
	stop(errors.New("SIGTERM"))
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("a save: %v", err)
	}
	own.Resume()
	eventually(t, "a save works again", func() bool {
		err := s.Save(t.Context(), storetest.Step(p, 1))
		return err == nil || errors.Is(err, stores.ErrConflict)
	})
	storetest.Check(t, s)
}

// TestTheServerRefusesTheLogin: the password is not in the error.
func TestTheServerRefusesTheLogin(t *testing.T) {
	u, err := url.Parse(server(t))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("flowtui", "canary-of-a-login")
	_, err = postgres.Open(t.Context(), u.String(), postgres.Options{})
	if !errors.Is(err, stores.ErrUnavailable) || !strings.Contains(err.Error(), "password authentication failed") || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
	full := with(t, role(t, with(t, fresh(t, server(t)), "application_name", "full"), `ALTER ROLE {role} CONNECTION LIMIT 0`), "schema", "x")
	if _, err := postgres.Open(t.Context(), full, postgres.Options{}); !errors.Is(err, stores.ErrUnavailable) {
		t.Errorf("no connection left: %v", err)
	}
}
