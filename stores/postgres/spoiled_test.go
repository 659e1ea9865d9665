package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// soundStore has the runs good and bad, each with two steps, a call record and
// an event. A test changes one value at a time and puts it back.
func soundStore(t *testing.T) (*postgres.Store, string) {
	t.Helper()
	address := fresh(t, server(t))
	s := create(t, address)
	for _, run := range []string{"good", "bad"} {
		p := place(run)
		first := storetest.Step(p, 0)
		first.Events = []stores.Event{storetest.Event(p, 1)}
		err := errors.Join(s.Save(t.Context(), first), s.Save(t.Context(), storetest.Step(p, 1)),
			s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 1)}))
		if err != nil {
			t.Fatal(err)
		}
	}
	// Only who owns the tables can do this.
	for _, table := range []string{"checkpoints", "runs", "calls", "events", "leases", "graphs"} {
		for _, r := range rows(t, address, `SELECT attname::text FROM pg_attribute AS a WHERE attrelid = '{`+table+`}'::regclass AND attnum > 0
			AND NOT EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY (i.indkey))`) {
			execute(t, address, `ALTER TABLE {`+table+`} ALTER COLUMN "`+r[0].(string)+`" DROP NOT NULL`)
		}
	}
	return s, address
}

// values that a column of each kind should not hold.
var (
	notText   = []string{"NULL"}
	notNumber = []string{"NULL", "-3", "-9223372036854775808"}
	notTime   = []string{"NULL", "9223372036854775807", "-9223372036854775808"}
	notStatus = []string{"NULL", "'odd'", "''"}
)

// columns are what can be spoiled in a table, beside its key.
func columns(text, number, times, status string) map[string][]string {
	all := map[string][]string{"prev": notText, "mac": notText, "payload": notText, "store": notText, "incarnation": notText, "key_id": notText, "format": notNumber}
	for names, values := range map[string][]string{text: notText, number: notNumber, times: notTime, status: notStatus} {
		for _, name := range strings.Fields(names) {
			all[name] = values
		}
	}
	return all
}

// eachSpoiled calls check once for each value of each column of the run bad.
func eachSpoiled(t *testing.T, address, table, where string, all map[string][]string, check func(name string)) {
	t.Helper()
	execute(t, address, `CREATE TABLE {schema}.kept AS SELECT * FROM {`+table+`} WHERE `+where)
	for column, values := range all {
		for _, value := range values {
			execute(t, address, `UPDATE {`+table+`} SET "`+column+`" = `+value+` WHERE `+where)
			check(column + " is " + value)
			execute(t, address, `DELETE FROM {`+table+`} WHERE `+where)
			execute(t, address, `INSERT INTO {`+table+`} SELECT * FROM {schema}.kept`)
		}
	}
}

func TestSpoiledCheckpoint(t *testing.T) {
	s, address := soundStore(t)
	all := columns("kind flow digest user thread principal", "base segment calls events", "time", "status")
	eachSpoiled(t, address, "checkpoints", "run = 'bad' AND step = 1", all, func(name string) {
		last, err := s.Latest(t.Context(), place("bad").Key)
		if err != nil || last.Bad == "" || last.Step != 1 {
			t.Errorf("%s: latest is %+v, %v", name, last, err)
		}
		steps, err := s.History(t.Context(), place("bad").Key, stores.HistoryQuery{Payload: true})
		if err != nil || len(steps) != 2 || steps[0].Bad != "" || steps[1].Bad != last.Bad {
			t.Errorf("%s: history is %+v, %v", name, steps, err)
		}
		if last, err := s.Latest(t.Context(), place("good").Key); err != nil || last.Bad != "" {
			t.Errorf("%s: the other run is %+v, %v", name, last, err)
		}
		err1 := s.Save(t.Context(), storetest.Step(place("bad"), 2))
		err2 := s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("bad"), 1, 2)})
		if !errors.Is(err1, stores.ErrUnreadable) || !errors.Is(err2, stores.ErrUnreadable) {
			t.Errorf("%s: saved on top of it: %v, %v", name, err1, err2)
		}
	})
	if err := s.Save(t.Context(), storetest.Step(place("bad"), 2)); err != nil {
		t.Errorf("put back: %v", err)
	}
}

func TestSpoiledHead(t *testing.T) {
	s, address := soundStore(t)
	all := columns("kind flow digest user thread principal", "step base segment open", "created updated", "status")
	eachSpoiled(t, address, "runs", "run = 'bad'", all, func(name string) {
		for _, limit := range []int{1, 2} { // a bad head can end a page
			good, bad := 0, 0
			for cursor, more := "", true; more; more = cursor != "" {
				page, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: limit, Cursor: cursor})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, h := range page.Heads {
					if h.Bad != "" {
						bad++
					} else if h.Run == "good" {
						good++
					}
				}
				cursor = page.Next
			}
			if good != 1 || bad != 1 {
				t.Errorf("%s: %d good and %d bad heads in pages of %d", name, good, bad, limit)
			}
		}
		_, err1 := s.Count(t.Context(), stores.Filter{Owner: stores.AnyOwner})
		_, err2 := s.ListUnfinished(t.Context(), stores.AnyOwner)
		_, err3 := s.Owners(t.Context())
		h, err4 := s.Head(t.Context(), place("bad").Key)
		if err := errors.Join(err1, err2, err3, err4); err != nil || h.Bad == "" {
			t.Errorf("%s: head is %+v, %v", name, h, err)
		}
	})
}

func TestSpoiledCallsAndEvents(t *testing.T) {
	s, address := soundStore(t)
	all := columns("node tool status", "step ordinal", "time", "")
	all["idempotent"] = notText
	eachSpoiled(t, address, "calls", "run = 'bad'", all, func(name string) {
		got, err := s.Calls(t.Context(), place("bad").Key, 0)
		if err != nil || len(got) != 1 || got[0].Bad == "" {
			t.Errorf("%s of a call: %+v, %v", name, got, err)
		}
	})
	execute(t, address, `DROP TABLE {schema}.kept`)
	eachSpoiled(t, address, "events", "run = 'bad'", columns("type", "step", "time", ""), func(name string) {
		got, err := s.Events(t.Context(), place("bad").Key, 0, 0)
		if err != nil || len(got) != 1 || got[0].Bad == "" {
			t.Errorf("%s of an event: %+v, %v", name, got, err)
		}
	})
}

// TestSpoiledNumbers: rows whose own number is absurd are shown too.
func TestSpoiledNumbers(t *testing.T) {
	s, address := soundStore(t)
	script(t, address, `UPDATE {checkpoints} SET step = -7 WHERE run = 'bad' AND step = 0;
		UPDATE {events} SET n = -7 WHERE run = 'bad'; UPDATE {calls} SET n = -7 WHERE run = 'bad'`)
	steps, err := s.History(t.Context(), place("bad").Key, stores.HistoryQuery{})
	if err != nil || len(steps) != 2 || steps[0].Bad == "" || steps[1].Bad != "" {
		t.Errorf("history is %+v, %v", steps, err)
	}
	events, err := s.Events(t.Context(), place("bad").Key, 0, 0)
	if err != nil || len(events) != 1 || events[0].Bad == "" {
		t.Errorf("events are %+v, %v", events, err)
	}
	calls, err := s.Calls(t.Context(), place("bad").Key, 0)
	if err != nil || len(calls) != 1 || calls[0].Bad == "" {
		t.Errorf("calls are %+v, %v", calls, err)
	}
}

// TestTornRuns: a run that somebody left without its head or without its
// checkpoints is not written to, is found, and can be deleted.
func TestTornRuns(t *testing.T) {
	s, address := soundStore(t)
	for what, sql := range map[string]string{
		"has checkpoints and no head":   `DELETE FROM {runs} WHERE run = 'bad'`,
		"has a head and no checkpoint":  `DELETE FROM {checkpoints} WHERE run = 'bad'`,
		"does not belong to its newest": `UPDATE {runs} SET step = 7 WHERE run = 'bad'`,
	} {
		t.Run(what, func(t *testing.T) {
			execute(t, address, sql)
			next := int64(2)
			if strings.Contains(what, "no checkpoint") {
				next = 0
			}
			err := s.Save(t.Context(), storetest.Step(place("bad"), next))
			if !errors.Is(err, stores.ErrUnreadable) || !strings.Contains(err.Error(), what) {
				t.Errorf("saved: %v", err)
			}
			if next > 0 {
				err = s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("bad"), 1, 2)})
				if !errors.Is(err, stores.ErrUnreadable) || !strings.Contains(err.Error(), what) {
					t.Errorf("recorded: %v", err)
				}
			}
			orphans, err := s.Orphans(t.Context(), stores.AnyOwner)
			if found := len(orphans) == 1 && orphans[0] == place("bad").Key; err != nil || found != strings.Contains(what, "no head") {
				t.Errorf("orphans are %v, %v", orphans, err)
			}
			if err := s.Delete(t.Context(), place("bad").Key); err != nil {
				t.Errorf("delete: %v", err)
			}
			storetest.Check(t, s)
			if err := errors.Join(s.Save(t.Context(), storetest.Step(place("bad"), 0)), s.Save(t.Context(), storetest.Step(place("bad"), 1))); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestATriggerThatSwallowsRows and that somebody adds while the store is open
// makes the whole write fail.
func TestATriggerThatSwallowsRows(t *testing.T) {
	for _, table := range []string{"checkpoints", "runs", "calls", "events"} {
		s, address := soundStore(t)
		script(t, address, `CREATE FUNCTION {schema}.no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
			CREATE TRIGGER swallow BEFORE INSERT OR UPDATE ON {`+table+`} FOR EACH ROW EXECUTE FUNCTION {schema}.no()`)
		p := place("good")
		w := storetest.Step(p, 2)
		w.Calls, w.Events = []stores.Call{storetest.Record(p, 1, 2)}, []stores.Event{storetest.Event(p, 2)}
		if err := s.Save(t.Context(), w); !errors.Is(err, stores.ErrUnreadable) {
			t.Errorf("%s: saved: %v", table, err)
		}
		if w.Calls = nil; table != "calls" { // it has a statement of its own
			if err := s.Save(t.Context(), w); !errors.Is(err, stores.ErrUnreadable) {
				t.Errorf("%s: saved with an event alone: %v", table, err)
			}
		}
		call := stores.CallWrite{Call: storetest.Record(p, 1, 2), Events: []stores.Event{storetest.Event(p, 2)}}
		if err := s.RecordCall(t.Context(), call); (table == "calls" || table == "events") && !errors.Is(err, stores.ErrUnreadable) {
			t.Errorf("%s: recorded: %v", table, err)
		}
		if call.Events = nil; table == "calls" { // and so has this
			if err := s.RecordCall(t.Context(), call); !errors.Is(err, stores.ErrUnreadable) {
				t.Errorf("recorded without an event: %v", err)
			}
		}
		script(t, address, `DROP TRIGGER swallow ON {`+table+`}`)
		if last, err := s.Latest(t.Context(), p.Key); err != nil || last.Step != 1 {
			t.Errorf("%s: step %d, %v", table, last.Step, err)
		}
	}
}
