package teff

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/internal/pyjson"
	"github.com/flowtui/flowtui/stores"
)

func FuzzReadRow(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`{"state": {"__interrupt__": {"key": "k"}}, "next_node_id": null, "iteration": 3, "x": [NaN]}`))
	f.Add([]byte(`{"iteration": 1e5}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := readRow(text)
		if r.bad != "" {
			if r.text != nil {
				t.Fatalf("%q is bad and has a text", text)
			}
			return
		}
		h := r.head()
		if err := pyjson.Check(within(h.Payload, "p", "o", []string{"c"})); err != nil {
			t.Fatalf("%q has the head %q: %v", text, h.Payload, err)
		}
		again := readRow(h.Payload)
		if again.bad != "" || again.status() != r.status() || again.iteration != r.iteration {
			t.Fatalf("%q has the head %q, which is another row", text, h.Payload)
		}
	})
}

// A row of a table becomes one of a file, whatever its columns hold.
func FuzzColumns(f *testing.F) {
	f.Add(`{"a": 1}`, "n", int64(1), 1.5)
	f.Add(`{}, "next_node_id": "x"`, "\"", int64(-1), -1e300)
	f.Fuzz(func(t *testing.T, state, next string, iteration int64, updated float64) {
		r := columns{owner: "o", id: "i", state: state, next: next, iteration: iteration, updated: updated}.record(true)
		if r.bad != "" {
			return
		}
		back := readRow(r.text)
		if back.bad != "" || back.next == nil || *back.next != next || back.iteration != iteration || !strings.Contains(string(r.text), state) {
			t.Fatalf("%q, %q, %d became %q", state, next, iteration, r.text)
		}
	})
}

func FuzzParseTable(f *testing.F) {
	for _, s := range []string{"checkpoints", "flow.runs", `"My ""Table"`, `a"b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := parseTable(text)
		if err != nil {
			return
		}
		again, err := parseTable(id.Sanitize())
		if err != nil || again.Sanitize() != id.Sanitize() {
			t.Fatalf("%q became %s, which reads as %v, %v", text, id.Sanitize(), again, err)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(placeOf(1, stores.Key{Owner: "o", Run: "\xff"}).String())
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseCursor(text)
		if err != nil || p == nil {
			return
		}
		again, err := parseCursor(p.String())
		if err != nil || again.compare(*p) != 0 {
			a, _ := json.Marshal(p)
			t.Fatalf("%q is %s, which does not come back: %v", text, a, err)
		}
	})
}
