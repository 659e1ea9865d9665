package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// catalog is everything that exists in the database, and everything that was
// ever written to the tables of a store.
func catalog(t *testing.T, address string) (list []string) {
	t.Helper()
	for _, what := range []string{
		`SELECT 'schema ' || nspname || ' ' || coalesce(nspacl::text, '') FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'`,
		`SELECT 'relation ' || oid::text || ' ' || relname || ' ' || relkind::text || ' ' || relfilenode::text || coalesce(relacl::text, '') FROM pg_class WHERE relnamespace::regnamespace::text !~ '^pg_'`,
		`SELECT 'setting ' || setdatabase::text || setrole::text || setconfig::text FROM pg_db_role_setting`,
	} {
		for _, r := range rows(t, address, what+" ORDER BY 1") {
			list = append(list, r[0].(string))
		}
	}
	return list
}

// TestScenario49AttachingWritesNothing: opening, reading everything and closing
// leave the database as it was, whether a store is there or not.
func TestScenario49AttachingWritesNothing(t *testing.T) {
	address := fresh(t, server(t))
	s := create(t, address)
	p := place("r")
	w := storetest.Step(p, 0)
	w.Events, w.Graph = []stores.Event{storetest.Event(p, 1)}, []byte("graph")
	if err := s.Save(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	none := fresh(t, server(t))
	stamp := `SELECT (SELECT string_agg(xmin::text || ctid::text, ' ') FROM {runs}), (SELECT string_agg(xmin::text || ctid::text, ' ') FROM {checkpoints}),
		(SELECT string_agg(xmin::text, ' ') FROM {meta})`
	before, rowsBefore := catalog(t, address), rows(t, address, stamp)
	for _, opts := range []postgres.Options{{}, {ReadOnly: true}, {Create: true}} {
		s := open(t, address, opts)
		if _, err := s.Watch(t.Context()); err != nil {
			t.Error(err)
		}
		readAll(t, s, p.Key)
		s.Close()
	}
	empty := open(t, none, postgres.Options{Create: true})
	if page, err := empty.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}}); err != nil || len(page.Heads) > 0 {
		t.Errorf("a store to come lists %+v, %v", page, err)
	}
	if _, err := empty.Latest(t.Context(), p.Key); !errors.Is(err, stores.ErrNotFound) {
		t.Errorf("a store to come has %v", err)
	}
	if info, err := empty.Info(t.Context()); err != nil || info.ID != "" || info.Version != 0 || info.ReadOnly {
		t.Errorf("a store to come is %+v, %v", info, err)
	}
	if _, err := postgres.Open(t.Context(), none, postgres.Options{}); !errors.Is(err, stores.ErrNotFound) {
		t.Errorf("no store: %v", err)
	}
	if after, rowsAfter := catalog(t, address), rows(t, address, stamp); !reflect.DeepEqual(before, after) || !reflect.DeepEqual(rowsBefore, rowsAfter) {
		t.Errorf("before %v %v\nafter  %v %v", before, rowsBefore, after, rowsAfter)
	}
}

func readAll(t *testing.T, s *postgres.Store, k stores.Key) {
	t.Helper()
	var errs [9]error
	_, errs[0] = s.Info(t.Context())
	_, errs[1] = s.Latest(t.Context(), k)
	_, errs[2] = s.History(t.Context(), k, stores.HistoryQuery{Payload: true})
	_, errs[3] = s.Calls(t.Context(), k, 0)
	_, errs[4] = s.Events(t.Context(), k, 0, 0)
	_, errs[5] = s.Graph(t.Context(), "digest")
	_, errs[6] = s.Lease(t.Context(), k)
	_, errs[7] = s.Orphans(t.Context(), stores.AnyOwner)
	_, errs[8] = s.ListUnfinished(t.Context(), stores.AnyOwner)
	if err := errors.Join(errs[:]...); err != nil {
		t.Error(err)
	}
}

// role makes a role that may log in and do what is granted, and returns the
// store's address for it. {role} is its name.
func role(t *testing.T, address string, grants ...string) string {
	t.Helper()
	name := fmt.Sprintf("role_%d", shared.schema.Add(1))
	execute(t, address, `CREATE ROLE `+name+` LOGIN PASSWORD 'canary-of-a-role'`)
	for _, g := range grants {
		execute(t, address, strings.ReplaceAll(g, "{role}", name))
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, "canary-of-a-role")
	return u.String()
}

const (
	mayEnter = `GRANT USAGE ON SCHEMA {schema} TO {role}`
	mayRead  = `GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}`
	mayWrite = `GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}`
)

// TestScenario49Roles: what a role may do is said at once and in words, and what
// it may not do is refused without a trace.
func TestScenario49Roles(t *testing.T) {
	address := fresh(t, server(t))
	p := place("r")
	w := storetest.Step(p, 0)
	w.Graph = []byte("graph")
	if err := create(t, address).Save(t.Context(), w); err != nil {
		t.Fatal(err)
	}

	s := open(t, role(t, address, mayEnter, mayRead), postgres.Options{Create: true})
	readAll(t, s, p.Key)
	info, err := s.Info(t.Context())
	if err != nil || !info.ReadOnly || !strings.Contains(info.Why, "no right to INSERT on ") {
		t.Errorf("SELECT only: %+v, %v", info, err)
	}
	for name, err := range map[string]error{
		"save": s.Save(t.Context(), storetest.Step(p, 1)), "record": s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 1)}),
		"delete": s.Delete(t.Context(), p.Key), "release": s.Release(t.Context(), p.Key, "worker"),
	} {
		if !errors.Is(err, stores.ErrReadOnly) {
			t.Errorf("SELECT only, %s: %v", name, err)
		}
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Errorf("a store that is prepared needs no rights: %v", err)
	}

	s = open(t, role(t, address, mayEnter, mayRead, `REVOKE SELECT ON {events} FROM {role}`), postgres.Options{})
	if _, err := s.Latest(t.Context(), p.Key); err != nil {
		t.Errorf("no right on events: %v", err)
	}
	_, err = s.Events(t.Context(), p.Key, 0, 0)
	if !errors.Is(err, stores.ErrUnreadable) || !strings.Contains(err.Error(), "permission denied for table events") {
		t.Errorf("no right on events: %v", err)
	}

	s = open(t, role(t, address, mayEnter, mayRead, mayWrite), postgres.Options{})
	if info, err := s.Info(t.Context()); err != nil || info.ReadOnly {
		t.Errorf("all rights: %+v, %v", info, err)
	}
	if err := s.Save(t.Context(), storetest.Step(p, 1)); err != nil {
		t.Errorf("all rights: %v", err)
	}

	for want, address := range map[string]string{
		"may not use the schema": role(t, address, mayRead),
		"may not read":           role(t, address, mayEnter),
	} {
		_, err := postgres.Open(t.Context(), address, postgres.Options{})
		if !errors.Is(err, stores.ErrUnreadable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}

	s = open(t, role(t, fresh(t, server(t))), postgres.Options{Create: true})
	if info, err := s.Info(t.Context()); err != nil || !info.ReadOnly || !strings.Contains(info.Why, "may not make the tables") {
		t.Errorf("may make nothing: %+v, %v", info, err)
	}
	if err := s.Prepare(t.Context()); !errors.Is(err, stores.ErrReadOnly) {
		t.Errorf("may make nothing: %v", err)
	}
}

// TestWhatIsNoStore: the error says what was looked for and what was found.
func TestWhatIsNoStore(t *testing.T) {
	good := create(t, fresh(t, server(t)))
	for name, c := range map[string]struct {
		script string // on the schema of a store
		want   error
		say    string
	}{
		"an empty schema":  {`DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}`, stores.ErrNotFound, "found a schema with 0 other tables"},
		"no schema":        {`DROP SCHEMA {schema} CASCADE`, stores.ErrNotFound, "found no such schema"},
		"other tables":     {`DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}; CREATE TABLE {events} (id int)`, stores.ErrNotStore, `"events" of others`},
		"a newer schema":   {`UPDATE {meta} SET value = '7' WHERE key = 'version'`, stores.ErrTooNew, "version 7, this program reads up to version 1"},
		"a table is gone":  {`DROP TABLE {calls}`, stores.ErrUnreadable, `looked for the table "`},
		"a column is gone": {`ALTER TABLE {calls} DROP COLUMN mac`, stores.ErrUnreadable, "the column mac of "},
		"step is text":     {`ALTER TABLE {checkpoints} ALTER COLUMN step TYPE text`, stores.ErrUnreadable, "the column step of "},
		"a view":           {`ALTER TABLE {graphs} RENAME TO away; CREATE VIEW {graphs} AS SELECT 1 AS digest`, stores.ErrUnreadable, "no ordinary table"},
		"a trigger": {`CREATE FUNCTION {schema}.no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
			CREATE TRIGGER swallow BEFORE INSERT ON {calls} FOR EACH ROW EXECUTE FUNCTION {schema}.no()`, stores.ErrUnreadable, "1 triggers or rules"},
		"no id": {`DELETE FROM {meta}`, stores.ErrNotStore, "of others"},
	} {
		address := fresh(t, server(t))
		create(t, address)
		script(t, address, c.script)
		_, err := postgres.Open(t.Context(), address, postgres.Options{})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := good.Info(t.Context())
	if err != nil || strings.Contains(info.Location, "@127") && !strings.HasPrefix(info.Location, "postgres://flowtui@127") {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestAnotherStoreIsPointedOut: who mistypes the schema learns where a store is.
func TestAnotherStoreIsPointedOut(t *testing.T) {
	address := with(t, fresh(t, server(t)), "prefix", "app_")
	create(t, address)
	execute(t, server(t), `CREATE DATABASE elsewhere`)
	t.Cleanup(func() { execute(t, server(t), `DROP DATABASE elsewhere WITH (FORCE)`) })
	u, err := url.Parse(with(t, server(t), "schema", "here", "prefix", "app_"))
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/elsewhere"
	create(t, u.String())
	q := u.Query()
	q.Set("schema", "hree")
	u.RawQuery = q.Encode()
	_, err = postgres.Open(t.Context(), u.String(), postgres.Options{})
	if !errors.Is(err, stores.ErrNotFound) || !strings.Contains(err.Error(), "schema=here&prefix=app_") {
		t.Errorf("got %v", err)
	}
	u.Path = "/nowhere"
	if _, err := postgres.Open(t.Context(), u.String(), postgres.Options{}); !errors.Is(err, stores.ErrNotFound) {
		t.Errorf("no such database: %v", err)
	}
}

// TestManyPrepareAtOnce: all succeed and agree on the store's id.
func TestManyPrepareAtOnce(t *testing.T) {
	address := fresh(t, server(t))
	var ids sync.Map
	var all sync.WaitGroup
	for range 12 {
		s := open(t, address, postgres.Options{Create: true})
		all.Go(func() {
			err := s.Prepare(context.Background())
			info, infoErr := s.Info(context.Background())
			if err := errors.Join(err, infoErr); err != nil || info.ID == "" {
				t.Errorf("%+v, %v", info, err)
			}
			ids.Store(info.ID, true)
		})
	}
	all.Wait()
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d ids", n)
	}
}

// TestTheFirstWriteMakesTheTables also when nobody called Prepare, and another
// process did meanwhile.
func TestTheFirstWriteMakesTheTables(t *testing.T) {
	address := fresh(t, server(t))
	one, other := open(t, address, postgres.Options{Create: true}), open(t, address, postgres.Options{Create: true})
	for n, s := range []*postgres.Store{one, other} {
		if err := s.Save(t.Context(), storetest.Step(place(fmt.Sprint(n)), 0)); err != nil {
			t.Error(err)
		}
	}
	storetest.Check(t, one)
}

// TestAttachingWhileAStoreIsMade finds it whole or not at all.
func TestAttachingWhileAStoreIsMade(t *testing.T) {
	for range 10 {
		address := fresh(t, server(t))
		maker := open(t, address, postgres.Options{Create: true})
		made := make(chan error, 1)
		go func() { made <- maker.Prepare(context.Background()) }()
		for range 20 {
			s, err := postgres.Open(t.Context(), address, postgres.Options{})
			switch {
			case err == nil:
				s.Close()
			case !errors.Is(err, stores.ErrNotFound):
				t.Error(err)
			}
		}
		if err := <-made; err != nil {
			t.Error(err)
		}
	}
}
