package sqlite_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/storetest"
)

// spoiled makes a store with the runs good and bad, each with two steps, a
// call record and an event, and runs a script on it.
func spoiled(t *testing.T, script string, args ...any) *sqlite.Store {
	t.Helper()
	template.Do(func() { template.file = soundFile(t) })
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := os.WriteFile(path, template.file, 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, path, script, args...)
	return open(t, path, sqlite.Options{})
}

// template is a store that is made once, because it is spoiled in many ways.
var template struct {
	sync.Once
	file []byte
}

func soundFile(t *testing.T) []byte {
	t.Helper()
	path := atRest(t, "runs.db", "good", "bad")
	s := open(t, path, sqlite.Options{})
	for _, run := range []string{"good", "bad"} {
		p := place(run)
		err1 := s.Save(t.Context(), storetest.Step(p, 1))
		err2 := s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 1)})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// values that a column of each kind should not hold.
var (
	notText    = map[string]any{"blob": []byte("x"), "bytes that are not UTF-8": "a\xffb"}
	notNumber  = map[string]any{"text": "junk", "blob": []byte{1, 2}, "real": 1.5, "negative": -3, "infinite": math.Inf(1)}
	notTime    = map[string]any{"text": "yesterday", "infinite": math.Inf(1), "real": 0.5, "far": int64(math.MaxInt64), "long ago": int64(math.MinInt64)}
	notBytes   = map[string]any{"integer": 7, "real": 1.5}
	notStatus  = map[string]any{"unknown": "odd", "blob": []byte("running")}
	textCols   = "store incarnation kind flow digest user thread principal key_id"
	numberCols = "base segment format"
)

// columns are what can be spoiled in a table, beside its key.
func columns(text, number, times, bytes, status string) map[string]map[string]any {
	all := map[string]map[string]any{}
	for names, values := range map[string]map[string]any{text: notText, number: notNumber, times: notTime, bytes: notBytes, status: notStatus} {
		for _, name := range strings.Fields(names) {
			all[name] = values
		}
	}
	return all
}

func TestSpoiledCheckpoint(t *testing.T) {
	for column, values := range columns(textCols, numberCols+" calls events", "time", "prev mac payload", "status") {
		for what, value := range values {
			s := spoiled(t, `UPDATE checkpoints SET `+column+` = ? WHERE run = 'bad' AND step = 1`, value)
			name := column + " is " + what
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
			if column == "payload" || column == "prev" || column == "mac" {
				continue // the newest checkpoint can be followed, what signs it is for others to check
			}
			err = s.Save(t.Context(), storetest.Step(place("bad"), 2))
			if !errors.Is(err, stores.ErrUnreadable) {
				t.Errorf("%s: saved on top of it: %v", name, err)
			}
		}
	}
}

func TestSpoiledStep(t *testing.T) {
	for what, value := range notNumber {
		s := spoiled(t, `UPDATE checkpoints SET step = ? WHERE run = 'bad' AND step = 1`, value)
		steps, err := s.History(t.Context(), place("bad").Key, stores.HistoryQuery{})
		if err != nil || len(steps) != 2 {
			t.Errorf("step is %s: history is %+v, %v", what, steps, err)
		}
		bad := 0
		for _, step := range steps {
			if step.Bad != "" {
				bad++
			}
		}
		if bad != 1 {
			t.Errorf("step is %s: %d bad rows, want 1", what, bad)
		}
	}
}

func TestSpoiledHead(t *testing.T) {
	cols := columns(textCols, numberCols+" step open", "created updated", "prev mac payload", "status")
	cols["owner"], cols["run"] = map[string]any{"blob": []byte("x")}, map[string]any{"blob": []byte("x")}
	for column, values := range cols {
		for what, value := range values {
			s := spoiled(t, `UPDATE runs SET `+column+` = ? WHERE run = 'bad'`, value)
			name := column + " is " + what
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
			if _, err := s.Count(t.Context(), stores.Filter{Owner: stores.AnyOwner}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := s.ListUnfinished(t.Context(), stores.AnyOwner); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := s.Owners(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestSpoiledCallsAndEvents(t *testing.T) {
	calls := columns("store incarnation node tool status key_id", "segment n step ordinal idempotent format", "time", "prev mac payload", "")
	for column, values := range calls {
		for what, value := range values {
			s := spoiled(t, `UPDATE calls SET `+column+` = ? WHERE run = 'bad'`, value)
			got, err := s.Calls(t.Context(), place("bad").Key, 0)
			if err != nil || len(got) != 1 || got[0].Bad == "" {
				t.Errorf("%s of a call is %s: %+v, %v", column, what, got, err)
			}
		}
	}
	events := columns("store incarnation type key_id", "n step format", "time", "prev mac payload", "")
	for column, values := range events {
		for what, value := range values {
			s := spoiled(t, `UPDATE events SET `+column+` = ? WHERE run = 'bad'`, value)
			got, err := s.Events(t.Context(), place("bad").Key, 0, 0)
			if err != nil || len(got) != 1 || got[0].Bad == "" {
				t.Errorf("%s of an event is %s: %+v, %v", column, what, got, err)
			}
		}
	}
}

// TestSpoiledTextPayload: what a shell writes as text is still bytes.
func TestSpoiledTextPayload(t *testing.T) {
	s := spoiled(t, `UPDATE checkpoints SET payload = 'é' WHERE run = 'bad' AND step = 1`)
	last, err := s.Latest(t.Context(), place("bad").Key)
	if err != nil || last.Bad != "" || string(last.Payload) != "é" || last.Size != 2 {
		t.Errorf("latest is %+v, %v", last, err)
	}
}

// TestScenario50DamagedPage: a page of one run is overwritten; the others can be read,
// and nothing is repaired behind the operator's back.
func TestScenario50DamagedPage(t *testing.T) {
	path := atRest(t, "runs.db", "a", "b")
	s := open(t, path, sqlite.Options{})
	for _, run := range []string{"a", "b"} {
		w := storetest.Step(place(run), 1, func(c *stores.Checkpoint) {
			c.Payload = []byte(strings.Repeat(fmt.Sprintf("<payload of %s>", run), 10_000))
		})
		if err := s.Save(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const page = 4096
	at := strings.Index(string(b), strings.Repeat("<payload of b>", 100))/page*page + page
	copy(b[at:at+page], strings.Repeat("\xee", page))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{})
	if _, err := s.Latest(t.Context(), place("b").Key); !errors.Is(err, stores.ErrUnreadable) {
		t.Errorf("the damaged run: %v", err)
	}
	if _, err := s.Latest(t.Context(), place("a").Key); err != nil {
		t.Errorf("the other run: %v", err)
	}
	page1, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
	if err != nil || len(page1.Heads) != 2 {
		t.Errorf("the list: %+v, %v", page1, err)
	}
	steps, err := s.History(t.Context(), place("b").Key, stores.HistoryQuery{})
	if err != nil || len(steps) != 2 {
		t.Errorf("the steps without payload: %+v, %v", steps, err)
	}
}
