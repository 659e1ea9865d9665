package teff

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/internal/testproxy"
	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
)

func TestParseTable(t *testing.T) {
	for text, want := range map[string][]string{
		"checkpoints": {"checkpoints"}, "Flow.Runs": {"flow", "runs"}, `"My Table"`: {"My Table"}, `"My-Schema"."a"";drop table x; --"`: {"My-Schema", `a";drop table x; --`},
		` flow . "x" `: {"flow", "x"}, "Ünïcode$1": {"Ünïcode$1"},
		"": nil, "a b": nil, "a;b": nil, "a.b.c": nil, `"a`: nil, `""`: nil, "a.": nil, ".a": nil, "1a": nil, "a'b": nil, "a--": nil, "a\x00": nil, "\xff": nil,
		strings.Repeat("x", 64): nil,
	} {
		got, err := parseTable(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) || err != nil && !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

const tableOf = ` (owner text NOT NULL DEFAULT 'default', checkpoint_id text NOT NULL, state jsonb NOT NULL, next_node_id text,
	iteration integer NOT NULL, updated_at double precision, PRIMARY KEY (owner, checkpoint_id));`

// The table option names a table as it does in teff, and never becomes SQL.
func TestTableOption(t *testing.T) {
	server := testservers.Postgres(t)
	var script strings.Builder
	tables := []string{"checkpoints", "flow.runs", `"My Table"`, `"My-Schema"."a"";drop table checkpoints; --"`}
	script.WriteString(`CREATE SCHEMA flow; CREATE SCHEMA "My-Schema";`)
	for _, table := range tables {
		script.WriteString("CREATE TABLE " + table + tableOf + "INSERT INTO " + table + ` VALUES ('o', $$in ` + table + `$$, '{}', NULL, 1, 1.0);`)
	}
	execute(t, server.URL, script.String())
	for _, table := range tables {
		s := attach(t, server.URL+"&format=teff&table="+url.PathEscape(table))
		all := heads(t, s)
		k := stores.Key{Owner: "o", Run: "in " + table}
		if _, ok := all[k]; !ok || len(all) != 1 {
			t.Errorf("%s has %v", table, all)
			continue
		}
		c := latest(t, s, k.Owner, k.Run)
		_, err := s.Replace(t.Context(), stores.Replacement{Key: k, Seen: c.Payload, Next: []byte(writtenPG)})
		check(t, err)
	}
	for _, table := range tables {
		if n := len(heads(t, attach(t, server.URL+"&table="+url.PathEscape(table)))); n != 1 {
			t.Errorf("%s has %d rows afterwards", table, n)
		}
	}
}

const historyOf = ` (owner text NOT NULL DEFAULT 'default', checkpoint_id text NOT NULL, iteration integer NOT NULL, state jsonb NOT NULL, next_node_id text,
	PRIMARY KEY (owner, checkpoint_id, iteration));`

// The one history table of a database is not written for another table than
// its own: the URL says whose it is where the names do not.
func TestHistoryIsThatOfOneTable(t *testing.T) {
	server := testservers.Postgres(t)
	execute(t, server.URL, "CREATE TABLE checkpoints"+tableOf+"CREATE TABLE runs2"+tableOf+"CREATE TABLE checkpoint_history"+historyOf+`
		INSERT INTO checkpoints VALUES ('default', 'order-7', '{"of": "A"}', NULL, 2, 1.0);
		INSERT INTO runs2 VALUES ('default', 'order-7', '{"of": "B"}', 'x', 1, 1.0);
		INSERT INTO checkpoint_history VALUES ('default', 'order-7', 1, '{"of": "A"}', 'pay'), ('default', 'order-7', 2, '{"of": "A"}', NULL)`)
	k := stores.Key{Owner: "default", Run: "order-7"}
	historyOf := func(s foreign) (list []string) {
		all, err := s.(stores.Historian).History(t.Context(), k, stores.HistoryQuery{Payload: true})
		check(t, err)
		for _, c := range all {
			list = append(list, string(c.Payload))
		}
		return list
	}
	own := attach(t, server.URL+"&format=teff")
	before := historyOf(own)
	for _, options := range []string{"&table=runs2", "&table=runs2&history=false", "&format=teff&history=false"} {
		s := attach(t, server.URL+options)
		if _, ok := s.(stores.Historian); ok {
			t.Errorf("%s has a history", options)
		}
		c := latest(t, s, k.Owner, k.Run)
		_, err := s.Replace(t.Context(), stores.Replacement{Key: k, Seen: c.Payload, Next: []byte(`{"state": {"of": "B"}, "next_node_id": "y", "iteration": 1}`)})
		check(t, err)
		if after := historyOf(own); len(before) != 2 || !slices.Equal(before, after) {
			t.Errorf("%s: the history was %q, is %q", options, before, after)
		}
	}
	s := attach(t, server.URL+"&table=runs2&history=true")
	info, err := s.Info(t.Context())
	check(t, err)
	if !strings.Contains(info.Location, "history=true") || !strings.Contains(info.Location, "table=runs2") {
		t.Errorf("it is at %s", info.Location)
	}
	c, next := latest(t, s, k.Owner, k.Run), `{"state": {"of": "B"}, "next_node_id": "z", "iteration": 3}`
	_, err = s.Replace(t.Context(), stores.Replacement{Key: k, Seen: c.Payload, Next: []byte(next)})
	check(t, err)
	if after := historyOf(s); len(after) != 3 || after[2] != next {
		t.Errorf("asked for, the history is %q", after)
	}
	execute(t, server.URL, "DROP TABLE checkpoint_history")
	if _, err := Open(t.Context(), server.URL+"&table=runs2&history=true", Options{}); !errors.Is(err, stores.ErrNotStore) {
		t.Errorf("without a history table: %v", err)
	}
	if _, err := Open(t.Context(), server.URL+"&table=runs2&history=perhaps", Options{}); !errors.Is(err, stores.ErrInvalid) {
		t.Errorf("history=perhaps: %v", err)
	}
}

// What is wrong is said without the password.
func TestPostgresProblems(t *testing.T) {
	server := testservers.Postgres(t)
	u, err := url.Parse(server.URL)
	check(t, err)
	secret, _ := u.User.Password()
	execute(t, server.URL, `CREATE VIEW seen AS SELECT 1 AS owner; CREATE TABLE other (owner text, checkpoint_id text);
		CREATE TABLE closed`+tableOf+`CREATE ROLE reader LOGIN PASSWORD 'reader'; CREATE TABLE open`+tableOf+`GRANT SELECT ON open TO reader;
		INSERT INTO open VALUES ('o', 'r', '{}', 'n', 1, 1.0), ('o', 'list', '[]', 'n', 1, 'NaN'), ('', '', '{"__interrupt__": null}', NULL, 2, 'Infinity')`)
	reader := strings.Replace(server.URL, u.User.String(), "reader:reader", 1)
	for _, c := range []struct {
		location, words string
		class           error
	}{
		{server.URL + "&format=teff", `looked for the table "checkpoints" of teff in the database "postgres", found none`, stores.ErrNotStore},
		{server.URL + "&table=seen", "is no table", stores.ErrNotStore},
		{server.URL + "&table=other", "missing", stores.ErrNotStore},
		{server.URL + "&table=a;b", "there is more than a schema and a table", stores.ErrInvalid},
		{server.URL + "&format=other&table=x", `format "other"`, stores.ErrInvalid},
		{reader + "&table=closed", `the role "reader" may not read "closed"`, stores.ErrUnreadable},
		{strings.Replace(server.URL, secret, "wrong", 1) + "&format=teff", "", stores.ErrUnavailable},
		{strings.Replace(server.URL, "/postgres?", "/nothing?", 1) + "&format=teff", "", stores.ErrUnavailable},
	} {
		_, err := Open(t.Context(), c.location, Options{})
		if !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", c.words, err)
		}
	}
	s := attach(t, reader+"&table=open")
	info, err := s.Info(t.Context())
	check(t, err)
	if !info.ReadOnly || !strings.Contains(info.Why, `"reader" has no right to INSERT`) || strings.Contains(info.Location, "reader:") {
		t.Errorf("it says %+v", info)
	}
	all := heads(t, s)
	if list := all[stores.Key{Owner: "o", Run: "list"}]; list.Bad == "" || !list.Updated.IsZero() || all[stores.Key{}].Status != stores.StatusDone {
		t.Errorf("rows are %+v", all)
	}
	c := latest(t, s, "o", "r")
	if _, err := s.Replace(t.Context(), stores.Replacement{Key: c.Key, Seen: c.Payload, Next: []byte(writtenPG)}); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("the reader has written: %v", err)
	}
}

// What jsonb cannot hold is refused by the server, and nothing is saved.
func TestPostgresRefusesWhatItCannotHold(t *testing.T) {
	server := testservers.Postgres(t)
	execute(t, server.URL, "CREATE TABLE checkpoints"+tableOf+`INSERT INTO checkpoints VALUES ('o', 'r', '{}', 'n', 1, 1.0)`)
	s := attach(t, server.URL+"&format=teff")
	c := latest(t, s, "o", "r")
	for name, next := range map[string]string{
		"NaN": `{"state": {"a": NaN}, "next_node_id": null, "iteration": 1}`, "NUL": `{"state": {"a": "\u0000"}, "next_node_id": null, "iteration": 1}`,
		"surrogate": `{"state": {"a": "\ud800"}, "next_node_id": null, "iteration": 1}`, "iteration": `{"state": {}, "next_node_id": null, "iteration": 2147483648}`,
		"node": `{"state": {}, "next_node_id": "\u0000", "iteration": 1}`,
	} {
		if _, err := s.Replace(t.Context(), stores.Replacement{Key: c.Key, Seen: c.Payload, Next: []byte(next)}); err == nil {
			t.Errorf("%s was saved", name)
		}
	}
	if now := latest(t, s, "o", "r"); string(now.Prev) != string(c.Prev) {
		t.Errorf("the row is now %s", now.Payload)
	}
}

// Behind a pooler every statement may meet another server process.
func TestBehindPgbouncer(t *testing.T) {
	server := testservers.Postgres(t)
	execute(t, server.URL, "CREATE TABLE checkpoints"+tableOf+`INSERT INTO checkpoints VALUES ('o', 'r', '{}', 'n', 1, 1.0)`)
	pooler := testservers.PgBouncer(t, server)
	s := attach(t, pooler.URL+"&format=teff")
	for range 5 {
		c := latest(t, s, "o", "r")
		_, err := s.Replace(t.Context(), stores.Replacement{Key: c.Key, Seen: c.Payload, Next: []byte(writtenPG)})
		check(t, err)
		heads(t, s)
	}
}

// A commit whose reply is lost, or that never arrived, is settled by reading
// back: the row was written once, or the error says that nothing was saved.
func TestLostReplies(t *testing.T) {
	server := testservers.Postgres(t)
	execute(t, server.URL, "CREATE TABLE checkpoints"+tableOf+"CREATE TABLE checkpoint_history"+historyOf+
		`INSERT INTO checkpoints VALUES ('o', 'r', '{"n": 0}', 'n', 1, 1.0)`)
	u, err := url.Parse(server.URL)
	check(t, err)
	p := testproxy.New(t, u.Host)
	through := attach(t, strings.Replace(server.URL, u.Host, p.Addr, 1)+"&format=teff")
	straight := attach(t, server.URL+"&format=teff")
	for _, c := range []struct {
		word  string
		fault testproxy.Fault
		saved bool
	}{
		{"commit", testproxy.LoseReply, true}, {"commit", testproxy.LoseRequest, false}, {"commit", testproxy.Silence, true},
		{"UPDATE", testproxy.LoseReply, false}, {"UPDATE", testproxy.LoseRequest, false}, {"INSERT", testproxy.LoseReply, false}, {"FOR UPDATE", testproxy.LoseReply, false},
	} {
		seen := latest(t, straight, "o", "r")
		next := `{"state": {"n": ` + fmt.Sprint(seen.Step+1) + `}, "next_node_id": "n", "iteration": ` + fmt.Sprint(seen.Step+1) + `}`
		var once sync.Once
		p.Fault(func(request []byte) (f testproxy.Fault) {
			if strings.Contains(string(request), c.word) {
				once.Do(func() { f = c.fault })
			}
			return f
		})
		_, err := through.Replace(t.Context(), stores.Replacement{Key: seen.Key, Seen: seen.Payload, Next: []byte(next)})
		p.Fault(nil)
		now := latest(t, straight, "o", "r")
		if saved := string(now.Payload) == next; saved != c.saved || (err == nil) != c.saved || !saved && string(now.Prev) != string(seen.Prev) {
			t.Errorf("%s, fault %v: %v, the row is %s", c.word, c.fault, err, now.Payload)
		}
	}
}
