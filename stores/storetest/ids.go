package storetest

import (
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

var idCases = []testCase{
	{"hostile ids are kept apart", hostileIDs},
	{"owners are kept apart", ownersApart},
}

// ids are names that mean something to a file system, a query language, a key
// pattern or a terminal.
var ids = []string{
	"../../x", "/etc/x", "..", ".", "a/b", `a\b`, "a", "A", "CON", "nul.txt", "a:b", "a*", "a?", "{x}", "%00", "%2e",
	strings.Repeat("x", 300), strings.Repeat("é", 500), " ", "a ", " a", "a.", "-rf", "~", "'; drop table runs; --", "$1",
	"🙂", "e\u0301", "\u00e9", "\x1b]0;title\x07", "line\nbreak", "tab\t", "\u202egnp.exe", "\u200b", "ﬁ", "fi", "1", "01", "1.0", "null",
	"lock", "meta", "index", "tmp", "default", ".hidden", "a.json",
}

func hostileIDs(s *suite) {
	payload := func(n int) func(*stores.Checkpoint) {
		return func(c *stores.Checkpoint) { c.Payload = fmt.Appendf(nil, "payload %d", n) }
	}
	for n, id := range ids {
		p := s.place(id)
		w := Step(p, 0, payload(n))
		w.Events = []stores.Event{Event(p, 1)}
		s.save(w)
		s.record(Record(p, 1, 1))
	}
	for n, id := range ids {
		r := s.whole(s.place(id).Key)
		if r.last.Run != id || string(r.last.Payload) != fmt.Sprintf("payload %d", n) || r.head.Run != id || len(r.calls) != 1 || len(r.events) != 1 {
			s.Errorf("%q came back as %+v", id, r)
		}
	}
	if got := s.list(anyRun, 7); len(got) != len(ids) {
		s.Errorf("%d runs are listed, want %d", len(got), len(ids))
	}
	for n, id := range ids {
		if n%2 == 0 {
			s.ok(s.Delete(s.ctx, s.place(id).Key))
		}
	}
	if got := s.list(anyRun, 7); len(got) != len(ids)/2 {
		s.Errorf("%d runs are left, want %d", len(got), len(ids)/2)
	}
}

// ownersApart: the same run id under every owner, and pairs that look alike
// when they are joined carelessly.
func ownersApart(s *suite) {
	keys := []stores.Key{{Owner: "a", Run: "b/c"}, {Owner: "a/b", Run: "c"}, {Owner: "a:b", Run: "c"}, {Owner: "a", Run: "b:c"}}
	for _, owner := range ids {
		keys = append(keys, stores.Key{Owner: owner, Run: "same"})
	}
	for i, k := range keys {
		s.save(Step(s.placeOf(k), 0, func(c *stores.Checkpoint) { c.Payload = fmt.Append(nil, i) }))
	}
	for i, k := range keys {
		last, err := s.Latest(s.ctx, k)
		s.ok(err)
		if last.Key != k || string(last.Payload) != fmt.Sprint(i) {
			s.Errorf("%q came back as %q with payload %q", k, last.Key, last.Payload)
		}
		page, err := s.List(s.ctx, stores.Query{Filter: stores.Filter{Owner: k.Owner}})
		s.ok(err)
		for _, h := range page.Heads {
			if h.Owner != k.Owner {
				s.Errorf("a run of %q is listed for %q", h.Owner, k.Owner)
			}
		}
	}
}
