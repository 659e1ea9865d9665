package jsonfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestJournalAsDocumented reads a journal the way docs/store-format.md tells
// another program to, without this package.
func TestJournalAsDocumented(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, p := openAt(t, path), placeOf("default", "r")
	ctx := t.Context()
	first := storetest.Step(p, 0, func(c *stores.Checkpoint) { c.Payload = []byte("{\"text\": \"<b>\u2028é\"}") })
	first.Events = []stores.Event{storetest.Event(p, 1)}
	call := storetest.Record(p, 1, 1, func(c *stores.Call) { c.Payload = []byte{0xff, 0} })
	err := s.Save(ctx, first)
	err = errors.Join(err, s.RecordCall(ctx, stores.CallWrite{Call: call}), s.Save(ctx, storetest.Step(p, 1)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(path, "owners", "default", "r.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	after, at := "", 0
	var lines []map[string]any
	for raw := range bytes.Lines(b) {
		var l map[string]any
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(raw[len(`{"sum":"`)+32+len(`",`) : len(raw)-1])
		if want := hex.EncodeToString(sum[:16]); l["sum"] != want || l["after"] != after {
			t.Errorf("line %d has sum %v after %v, want %s after %s", len(lines)+1, l["sum"], l["after"], want, after)
		}
		after = l["sum"].(string)
		at += len(raw)
		lines = append(lines, l)
	}
	if len(lines) != 3 || lines[1]["checkpoint"] != nil || lines[1]["head"] != nil {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	c := lines[0]["checkpoint"].(map[string]any)
	if c["payload"] != string(first.Checkpoint.Payload) || c["mac"] != hex.EncodeToString(first.Checkpoint.MAC) || c["time"] != "2026-01-02T03:04:05.123456Z" {
		t.Errorf("checkpoint is %v", c)
	}
	if r := lines[1]["calls"].([]any)[0].(map[string]any); r["payload64"] != "/wA=" || r["payload"] != nil || r["status"] != "started" {
		t.Errorf("call is %v", r)
	}
	var head struct {
		Journal struct {
			Size, Last int
			Sum        string
		}
		Open int
		Head struct{ Step int }
	}
	raw, err := os.ReadFile(filepath.Join(path, "owners", "default", "r.head.json"))
	if err == nil {
		err = json.Unmarshal(raw, &head)
	}
	if err != nil || head.Journal.Size != at || head.Journal.Sum != after || head.Head.Step != 1 || !bytes.HasPrefix(b[head.Journal.Last:], []byte(`{"sum":"`+after)) {
		t.Errorf("head is %+v, %v", head, err)
	}
}

// TestWrittenByAnother: a program that knows only the documentation goes on with
// a run.
func TestWrittenByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s, p := openAt(t, path), placeOf("default", "r")
	if err := s.Save(t.Context(), storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(path, "owners", "default", "r.jsonl")
	b, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	row := `"step":1,"base":1,"segment":1,"kind":"flow","flow":"f","digest":"d","status":"paused",` +
		`"format":1,"key_id":"k","prev":"aa","mac":"bb","payload":"\u007b}"`
	rest := fmt.Sprintf(`"after":%q,"owner":"default","run":"r","store":"test","incarnation":"first",`, b[8:40]) +
		`"checkpoint":{` + row + `,"calls":0,"events":0,"time":"2026-01-02T03:04:06.000000Z"},` +
		`"head":{` + row + `,"created":"2026-01-02T03:04:05.000000Z","updated":"2026-01-02T03:04:06.000000Z"}}`
	sum := sha256.Sum256([]byte(rest))
	err = os.WriteFile(journal, fmt.Appendf(b, `{"sum":"%x",%s`+"\n", sum[:16], rest), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Latest(t.Context(), p.Key)
	if err != nil || last.Step != 1 || string(last.Payload) != "{}" || last.Status != stores.StatusPaused || last.Bad != "" {
		t.Errorf("%+v, %v", last, err)
	}
	if h, err := s.Head(t.Context(), p.Key); err != nil || h.Step != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	if err := s.Save(t.Context(), storetest.Step(p, 2)); err != nil {
		t.Error(err)
	}
}

// TestRefusesWhatJSONWouldChange: bytes that are not UTF-8 in a name, and years
// that the format has no room for.
func TestRefusesWhatJSONWouldChange(t *testing.T) {
	s, p := openAt(t, filepath.Join(t.TempDir(), "store")), placeOf("default", "r")
	ctx := t.Context()
	for name, spoil := range map[string]func(*stores.Save){
		"flow":   func(w *stores.Save) { w.Checkpoint.Flow = "a\xff" },
		"head":   func(w *stores.Save) { w.Head.Flow = "a\xff" },
		"thread": func(w *stores.Save) { w.Checkpoint.Thread = "\xc3" },
		"event":  func(w *stores.Save) { w.Events = []stores.Event{storetest.Event(p, 1)}; w.Events[0].Type = "\xff" },
		"call":   func(w *stores.Save) { w.Calls = []stores.Call{storetest.Record(p, 1, 1)}; w.Calls[0].Node = "\xff" },
		"year":   func(w *stores.Save) { w.Checkpoint.Time = w.Checkpoint.Time.AddDate(9000, 0, 0) },
		"digest": func(w *stores.Save) { w.Checkpoint.Digest, w.Graph = "\xff", []byte("g") },
	} {
		w := storetest.Step(p, 0)
		spoil(&w)
		if err := s.Save(ctx, w); !errors.Is(err, stores.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Latest(ctx, p.Key); !errors.Is(err, stores.ErrNotFound) {
		t.Errorf("something was written: %v", err)
	}
	if _, err := s.Acquire(ctx, p.Key, "a\xff", 1e9, false); !errors.Is(err, stores.ErrInvalid) {
		t.Errorf("lease: %v", err)
	}
}

// FuzzUnseal: a file may hold anything.
func FuzzUnseal(f *testing.F) {
	b, _, err := rowjson.Seal(rowjson.LineAt(placeOf("default", "r")))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"sum":"` + strings.Repeat("0", 32) + `",}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "r.jsonl")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		j := &journal{contents: contents{key: placeOf("default", "r").Key}}
		if err := j.update(file, info); err != nil {
			t.Fatal(err)
		}
		if j.end+j.tail != int64(len(raw)) || j.damage == "" && len(j.steps) == 0 && j.lines > 0 {
			t.Errorf("%q: %+v", raw, j.contents)
		}
	})
}
