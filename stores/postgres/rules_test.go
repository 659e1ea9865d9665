package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/flowtui/flowtui/stores"
)

// The rules of the contract are Go, and the statements that compare and write
// say them in SQL. They are held together on every case of a grid.

var statusList = []stores.Status{stores.StatusRunning, stores.StatusPaused, stores.StatusDone, stores.StatusFailed}

// grid is every newest checkpoint that the rules tell apart.
func grid() (list []stores.Checkpoint) {
	for step := range int64(3) {
		for segment := range int64(3) {
			for _, incarnation := range []string{"first", "second"} {
				for _, status := range statusList {
					c := stores.Checkpoint{Step: step, Segment: segment + 1, Status: status}
					c.Incarnation = incarnation
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// verdicts asks the server for a rule, once for each of the newest checkpoints.
func verdicts(t *testing.T, s *Store, rule string, args []any, last []stores.Checkpoint) []bool {
	t.Helper()
	list := make([]statement, len(last))
	for i, c := range last {
		list[i] = ask(fmt.Sprintf(`SELECT EXISTS (SELECT FROM (SELECT %d::bigint AS step, %d::bigint AS segment, '%s' AS incarnation, '%s' AS status) AS last
			WHERE %s)`, c.Step, c.Segment, c.Incarnation, c.Status, rule), args...)
	}
	results, err := s.read(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	allowed := make([]bool, len(results))
	for i, res := range results {
		if err := facts(res, (&row{}).flag("", &allowed[i])); err != nil {
			t.Fatal(err)
		}
	}
	return allowed
}

func TestFollowsInSQL(t *testing.T) {
	s := internalStore(t)
	last := grid()
	for step := range int64(4) {
		for segment := range int64(4) {
			c := stores.Checkpoint{Step: step, Segment: segment + 1}
			c.Incarnation = "first"
			args := []any{"", "", "", c.Incarnation, c.Step, int64(0), c.Segment}
			for i, allowed := range verdicts(t, s, follows, args, last) {
				if want := c.Follows(&last[i]); allowed != (want == nil) {
					t.Errorf("%+v after %+v: SQL says %v, Go %v", c, last[i], allowed, want)
				}
			}
			first, err := s.read(t.Context(), ask(`WITH last AS (SELECT WHERE false) SELECT count(*) FROM (`+isFirst+`) AS ok`, args...))
			var n int64
			if err := errors.Join(err, facts(first[0], (&row{}).number("", &n))); err != nil {
				t.Fatal(err)
			}
			if want := c.Follows(nil); (n == 1) != (want == nil) {
				t.Errorf("%+v first: SQL says %d, Go %v", c, n, want)
			}
		}
	}
}

func TestMayRecordInSQL(t *testing.T) {
	s := internalStore(t)
	last := grid()
	for segment := range int64(4) {
		for _, status := range []stores.CallStatus{stores.CallStarted, stores.CallDone, stores.CallPending, stores.CallUnrecordable, stores.CallResolved} {
			c := stores.Call{Segment: segment + 1, Status: status}
			c.Incarnation = "first"
			args := []any{"", "", "", c.Incarnation, c.Segment, int64(0), int64(0), "", int64(0), "", false, string(c.Status)}
			for i, allowed := range verdicts(t, s, mayRecord, args, last) {
				if want := c.MayRecord(&last[i]); allowed != (want == nil) {
					t.Errorf("%+v after %+v: SQL says %v, Go %v", c, last[i], allowed, want)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("é", 31) // 62 bytes
	for _, c := range []struct {
		schema, prefix string
		runs           string // "" for a name that is refused
	}{
		{"flowtui", "", `"flowtui"."runs"`},
		{"My-Schema", "My ", `"My-Schema"."My runs"`},
		{`a"; drop table x; --`, `"`, `"a""; drop table x; --"."""runs"`},
		{"{runs}", "{meta}", `"{runs}"."{meta}runs"`},
		{long, strings.Repeat("x", 51), `"` + long + `"."` + strings.Repeat("x", 51) + `runs"`},
		{long + "é", "", ""},
		{"a", strings.Repeat("x", 52), ""}, // the name of an index would be too long
		{"", "", ""},
		{"a\x00", "", ""},
		{"a", "\xff", ""},
		{"pg_mine", "", ""},
	} {
		n, err := newNames(c.schema, c.prefix)
		if (err != nil) != (c.runs == "") || err != nil && !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("%q %q: %v", c.schema, c.prefix, err)
		}
		if err == nil && n.sql("{runs}") != c.runs {
			t.Errorf("%q %q: %s", c.schema, c.prefix, n.sql("{runs}"))
		}
	}
}

// TestAddresses: what is ours is taken out of a URL, and no secret comes back
// in a location or an error, however malformed the URL is.
func TestAddresses(t *testing.T) {
	const secret = "c4nary/p@ss"
	escaped := url.QueryEscape(secret)
	for spec, want := range map[string]string{
		"postgres://u:" + escaped + "@db.example:5433/app?schema=My-Schema&prefix=x_": "postgres://u@db.example:5433/app?schema=My-Schema&prefix=x_",
		"postgres://db.example/app?user=u&schema=a%20b+c":                             "postgres://u@db.example:5432/app?schema=a%20b%2Bc",
		"postgresql://u:" + escaped + "@db.example/app":                               "postgres://u@db.example:5432/app",
		"postgres://db.example/app?user=u&password=" + escaped:                        "postgres://u@db.example:5432/app",
		"postgres://u:" + escaped + "@[::1]:5/app?schema=flowtui&prefix=":             "postgres://u@[::1]:5/app",
		"postgres://u:" + escaped + "@/app?host=/run/postgresql":                      "postgres://u@/app?host=/run/postgresql",
		"postgres://u:" + secret + "@db.example/app":                                  "",
		"postgres://u:" + escaped + "@db.example:c4nary/app":                          "",
		"postgres://u:" + escaped + "@db.example/app?sslmode=" + escaped:              "",
		"postgres://u:" + escaped + "@db.example/app?sslmode=nonsense":                "",
		"postgres://u:" + escaped + "@db.example/app?pool_max_conns=" + escaped:       "",
		"postgres://u:" + escaped + "@db.example/app?schema=a&schema=b":               "",
		"postgres://u:" + escaped + "@db.example/app?schema=":                         "",
		"mysql://u:" + escaped + "@db.example/app":                                    "",
		"postgres://u:" + escaped + "@db.example/%zz":                                 "",
		"user=u password=" + secret:                                                   "",
	} {
		a, err := parseAddress(spec)
		switch {
		case want == "" && !errors.Is(err, stores.ErrInvalid):
			t.Errorf("%s: %v", spec, err)
		case want == "" && (strings.Contains(err.Error(), "c4nary") || strings.Contains(err.Error(), "p@ss")):
			t.Errorf("%s: the error shows the password: %v", spec, err)
		case want != "" && (err != nil || a.location != want):
			t.Errorf("%s: %s, %v", spec, a.location, err)
		}
	}
}

// TestSettingsOfTheDriver reach it as they are written.
func TestSettingsOfTheDriver(t *testing.T) {
	a, err := parseAddress("postgres://db.example/app?prefix=a+b&options=-c%20work_mem%3D1MB&password=a+b%2Bc&user=u&application_name=mine")
	if err != nil {
		t.Fatal(err)
	}
	conf := a.pool.ConnConfig
	if a.prefix != "a+b" || conf.Password != "a+b+c" || conf.RuntimeParams["options"] != "-c work_mem=1MB" || conf.RuntimeParams["application_name"] != "mine" {
		t.Errorf("prefix %q, password %q, %v", a.prefix, conf.Password, conf.RuntimeParams)
	}
}

// TestCursors come back as they went out, and nothing else is one.
func TestCursors(t *testing.T) {
	at := int64(-5)
	for _, c := range []cursor{{&at, "owner", "run"}, {nil, "a/b", "é"}} {
		got, err := parseCursor(c.String())
		if err != nil || got.compare(c) != 0 || (got.Updated == nil) != (c.Updated == nil) {
			t.Errorf("%+v came back as %+v, %v", c, got, err)
		}
	}
	for _, s := range []string{"%", "e30", "W10", "bnVsbA", "eyJPd25lciI6ImEifQ"} {
		if _, err := parseCursor(s); !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// TestWatchersListen where notices arrive, and only to those of their store.
func TestWatchersListen(t *testing.T) {
	s := internalStore(t)
	w := &watch{store: s, ch: make(chan struct{}, 1)}
	if err := w.connect(t.Context()); err != nil || !w.listens {
		t.Fatalf("it listens: %v, %v", w.listens, err)
	}
	defer w.drop()
	for _, other := range []pgconn.Notification{{Channel: channel, Payload: s.topic() + "x"}, {Channel: "other", Payload: s.topic()}, {Channel: channel}} {
		if w.hear(&other); w.news {
			t.Errorf("%+v is no news of this store", other)
		}
	}
	if w.hear(&pgconn.Notification{Channel: channel, Payload: s.topic()}); !w.news {
		t.Error("a notice of the store is news")
	}
}

// TestColumnsAgreeWithTheTables: the lists of columns name what the migration
// makes, each with its type.
func TestColumnsAgreeWithTheTables(t *testing.T) {
	s := internalStore(t)
	found, err := s.inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tableNames {
		if got, want := len(found.tables[name].columns), len(tableColumns[name]); got != want {
			t.Errorf("%s has %d columns, %d are named", name, got, want)
		}
		if err := s.checkTable(found, name); err != nil {
			t.Error(err)
		}
	}
}

// TestAReasonThatCannotBeRead leaves no doubt that nothing was saved.
func TestAReasonThatCannotBeRead(t *testing.T) {
	s := internalStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := stores.Key{Owner: "o", Run: "r"}
	err := s.wrap("save", k, s.refuse(ctx, "save", k, stores.Checkpoint{}.Follows, false))
	if !errors.Is(err, context.Canceled) || errors.Is(err, stores.ErrUnknown) || !strings.Contains(err.Error(), "nothing was saved") {
		t.Errorf("got %v", err)
	}
}
