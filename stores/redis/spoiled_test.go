package redis_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

// spoilable makes a store with the runs good and bad, each with two steps, two
// call records and two events.
func spoilable(t *testing.T, address string) *redis.Store {
	t.Helper()
	s := create(t, address, "good", "bad")
	for _, run := range []string{"good", "bad"} {
		p := place(run)
		w := storetest.Step(p, 1)
		w.Events = []stores.Event{storetest.Event(p, 1), storetest.Event(p, 2)}
		save(t, s, w)
		for n := range int64(2) {
			r := storetest.Record(p, 1, n+1, func(c *stores.Call) { c.Step = 1 })
			if err := s.RecordCall(t.Context(), stores.CallWrite{Call: r}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// changed is a row with one value changed, its payload as it was.
func changed(t *testing.T, row, name string, value any) string {
	t.Helper()
	header, payload, hasPayload := strings.Cut(row, "\n")
	var all map[string]any
	if err := json.Unmarshal([]byte(header), &all); err != nil {
		t.Fatal(err)
	}
	if _, ok := all[name]; !ok {
		t.Fatalf("a row has no %s: %s", name, header)
	}
	all[name] = value
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if hasPayload {
		return string(b) + "\n" + payload
	}
	return string(b)
}

// spoilt are values that no worker writes, by the kind of column.
var spoilt = map[string][]any{
	"text":   {7, []string{"x"}, map[string]int{}},
	"number": {"junk", -3, 1.5, 1e300},
	"time":   {"yesterday", 0.5, int64(1) << 62, -(int64(1) << 62)},
	"bytes":  {7, "not base64!"},
	"flag":   {"yes", 1},
	"status": {"odd", 7},
}

// columns are the names of a row by their kind.
type columns map[string]string

func (c columns) each(f func(name string, value any)) {
	for kind, names := range c {
		for name := range strings.FieldsSeq(names) {
			for _, value := range spoilt[kind] {
				f(name, value)
			}
		}
	}
}

// bads counts the rows of a run that are bad.
func bads(t *testing.T, s *redis.Store, run string) (rows []string) {
	t.Helper()
	ctx, k := t.Context(), place(run).Key
	steps, err := s.History(ctx, k, stores.HistoryQuery{Payload: true})
	if err != nil || len(steps) != 2 {
		t.Errorf("history of %s has %d steps, %v", run, len(steps), err)
	}
	for _, c := range steps {
		if c.Bad != "" {
			rows = append(rows, "step")
		}
	}
	calls, err := s.Calls(ctx, k, 0)
	if err != nil || len(calls) != 2 {
		t.Errorf("%s has %d call records, %v", run, len(calls), err)
	}
	for _, c := range calls {
		if c.Bad != "" {
			rows = append(rows, "call")
		}
	}
	events, err := s.Events(ctx, k, 0, 0)
	if err != nil || len(events) != 2 {
		t.Errorf("%s has %d events, %v", run, len(events), err)
	}
	for _, e := range events {
		if e.Bad != "" {
			rows = append(rows, "event")
		}
	}
	heads := mustList(t, s)
	if len(heads) != 2 {
		t.Errorf("%d heads are listed", len(heads))
	}
	for _, h := range heads {
		if h.Run == run && h.Bad != "" {
			rows = append(rows, "head")
		}
	}
	return rows
}

// Each row is spoiled in every column, one by one: it is bad, and no other is.
func TestSpoiledRows(t *testing.T) {
	server := testservers.Redis(t)
	s := spoilable(t, server.URL)
	c := raw(t, server.URL)
	seal := "key_id"
	for field, test := range map[string]struct {
		what string
		cols columns
	}{
		"s1":   {"step", columns{"text": "store incarnation kind flow digest user thread principal " + seal, "number": "step base segment calls events", "time": "time", "bytes": "prev mac", "status": "status"}},
		"head": {"head", columns{"text": "store incarnation kind flow digest user thread principal " + seal, "number": "step base segment", "time": "created updated", "bytes": "prev mac", "status": "status"}},
		"c1.1": {"call", columns{"text": "store incarnation node tool status " + seal, "number": "segment n step", "time": "time", "bytes": "prev mac", "flag": "idempotent"}},
		"e1":   {"event", columns{"text": "store incarnation type " + seal, "number": "n", "time": "time", "bytes": "prev mac"}},
	} {
		sound, err := c.HGet(t.Context(), runKey("bad"), field).Result()
		if err != nil {
			t.Fatal(err)
		}
		try := func(what, row string) {
			t.Helper()
			must(t, c, "HSET", runKey("bad"), field, row)
			if got := bads(t, s, "bad"); len(got) != 1 || got[0] != test.what {
				t.Errorf("%s: bad are %q", what, got)
			}
			if got := bads(t, s, "good"); len(got) != 0 {
				t.Errorf("%s: of the other run, bad are %q", what, got)
			}
		}
		test.cols.each(func(name string, value any) {
			try(test.what+" with a changed "+name, changed(t, sound, name, value))
		})
		for _, garbage := range []string{"", "garbage", "{", "[]", "7", "null", "{}", "\x00\xff", "{}\n{}"} {
			try(test.what+" "+garbage, garbage)
		}
		must(t, c, "HSET", runKey("bad"), field, sound)
	}
	storetest.Check(t, s)
}

// A field that is gone is told as well as one that is spoiled.
func TestMissingFields(t *testing.T) {
	server := testservers.Redis(t)
	s := spoilable(t, server.URL)
	c := raw(t, server.URL)
	for field, want := range map[string]string{"s0": "step", "s1": "step", "p0": "step", "p1": "step", "c1.2": "call", "e2": "event", "head": "head"} {
		value, err := c.HGet(t.Context(), runKey("bad"), field).Result()
		if err != nil {
			t.Fatal(err)
		}
		must(t, c, "HDEL", runKey("bad"), field)
		if got := bads(t, s, "bad"); len(got) != 1 || got[0] != want {
			t.Errorf("without %s: bad are %q", field, got)
		}
		if last, err := s.Latest(t.Context(), place("bad").Key); err != nil || (last.Bad != "") != strings.HasSuffix(field, "1") {
			t.Errorf("without %s: latest is %+v, %v", field, last, err)
		}
		must(t, c, "HSET", runKey("bad"), field, value)
	}
	storetest.Check(t, s)
	// All that tells of two call records was removed.
	must(t, c, "HDEL", runKey("bad"), "c1.1", "c1.2", "k1")
	calls, err := s.Calls(t.Context(), place("bad").Key, 0)
	if err != nil || len(calls) != 1 || !strings.Contains(calls[0].Bad, "2 of 2 call records are gone") {
		t.Errorf("calls are %+v, %v", calls, err)
	}
}

// The fields that say where a run stands are damaged: nothing is saved on top.
func TestSpoiledState(t *testing.T) {
	server := testservers.Redis(t)
	c := raw(t, server.URL)
	for field, values := range map[string][]any{
		"step": {"x", "-1", "1.5", ""}, "segment": {"x", "-1", ""}, "status": {"odd", ""}, "base": {"x", ""},
	} {
		for _, value := range append(values, nil) {
			must(t, c, "FLUSHDB")
			s := spoilable(t, server.URL)
			if value == nil {
				must(t, c, "HDEL", runKey("bad"), field)
			} else {
				must(t, c, "HSET", runKey("bad"), field, value)
			}
			for _, step := range []int64{0, 1, 2} {
				fails(t, field, s.Save(t.Context(), storetest.Step(place("bad"), step)), stores.ErrUnreadable, "damaged or missing")
			}
			r := storetest.Record(place("bad"), 1, 9)
			fails(t, field, s.RecordCall(t.Context(), stores.CallWrite{Call: r}), stores.ErrUnreadable)
			if last, err := s.Latest(t.Context(), place("bad").Key); err != nil || field == "step" && last.Bad == "" {
				t.Errorf("%s is %q: latest is %+v, %v", field, value, last, err)
			}
			if len(mustList(t, s)) != 2 {
				t.Errorf("%s is %q: it is not listed", field, value)
			}
			save(t, s, storetest.Step(place("good"), 2))
			if err := s.Delete(t.Context(), place("bad").Key); err != nil {
				t.Errorf("%s is %q: delete: %v", field, value, err)
			}
			storetest.Check(t, s)
		}
	}
}

// Something else is at the key of a run, or of the store's own keys.
func TestWrongTypes(t *testing.T) {
	server := testservers.Redis(t)
	c := raw(t, server.URL)
	s := spoilable(t, server.URL)
	must(t, c, "SET", runKey("bad"), "a text")
	if last, err := s.Latest(t.Context(), place("bad").Key); err != nil || !strings.Contains(last.Bad, "something else") {
		t.Errorf("latest is %+v, %v", last, err)
	}
	heads := mustList(t, s)
	if len(heads) != 2 || (heads[0].Bad == "") == (heads[1].Bad == "") {
		t.Errorf("listed %+v", heads)
	}
	fails(t, "save", s.Save(t.Context(), storetest.Step(place("bad"), 2)), stores.ErrUnreadable, "something else")
	if err := s.Delete(t.Context(), place("bad").Key); err != nil {
		t.Errorf("delete: %v", err)
	}
	storetest.Check(t, s)
	for _, name := range []string{"index", "owners", "expiring", "status:running", "owner:7:default:running", "flow:4:flow:running", "open", "graphs"} {
		must(t, c, "FLUSHDB")
		s := spoilable(t, server.URL)
		must(t, c, "SET", "{flowtui}:"+name, "a text")
		before := rows(dump(t, c))
		w := storetest.Step(place("good"), 2)
		w.Graph = []byte("graph")
		fails(t, name, s.Save(t.Context(), w), stores.ErrUnreadable, "something else")
		if after := rows(dump(t, c)); after != before {
			t.Errorf("%s: a part was written:\nbefore %s\nafter  %s", name, before, after)
		}
		if last, err := s.Latest(t.Context(), place("good").Key); name != "index" && (err != nil || last.Bad != "") {
			t.Errorf("%s: latest is %+v, %v", name, last, err)
		}
	}
}

// What is no member in a list's set is passed over, and the pages go on.
func TestSpoiledSets(t *testing.T) {
	server := testservers.Redis(t)
	s := spoilable(t, server.URL)
	c := raw(t, server.URL)
	for _, junk := range []string{"", "0", "zzz", "0000000000000000no NUL", "8000000000000000\x00x", "7fffffffffffffffx\x00y"} {
		must(t, c, "ZADD", "{flowtui}:status:running", 0, junk)
	}
	got := map[string]bool{}
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := s.List(t.Context(), stores.Query{Filter: everyRun, Limit: 1, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Heads {
			got[h.Run] = true
		}
		cursor = page.Next
	}
	if len(got) != 2 || !got["good"] || !got["bad"] {
		t.Errorf("listed %v", got)
	}
}
