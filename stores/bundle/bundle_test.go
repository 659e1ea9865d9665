package bundle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/bundle"
	"github.com/flowtui/flowtui/stores/storetest"
)

func place(run string) stores.Place {
	return stores.Place{Key: stores.Key{Owner: "default", Run: run}, Store: "origin", Incarnation: "first"}
}

// run is a run with everything: steps, calls, events of two stores, a graph.
func run(name string, steps int64) stores.Run {
	p := place(name)
	r := stores.Run{Graphs: map[string][]byte{"digest": []byte(`{"nodes":[]}`)}}
	for n := range steps {
		r.Checkpoints = append(r.Checkpoints, storetest.Step(p, n, func(c *stores.Checkpoint) {
			if n == steps-1 && steps > 2 {
				c.Status = stores.StatusDone
			}
		}).Checkpoint)
		r.Events = append(r.Events, storetest.Event(p, n+1))
	}
	r.Calls = []stores.Call{storetest.Record(p, 1, 1, func(c *stores.Call) { c.Payload = []byte{0, 0xff, '\n'} })}
	r.Events[0].Store = "an older store"
	r.Head = storetest.HeadOf(*r.Last())
	return r
}

var created = time.Date(2026, 3, 4, 5, 6, 7, 891_000_000, time.UTC)

// write makes a bundle of the runs and returns its path and its bytes.
func write(t testing.TB, runs ...stores.Run) (path string, b []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.bundle")
	w, err := bundle.Create(path, bundle.About{Store: "origin", Created: created, By: "olga", Note: "for audit"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(func(m stores.Manifest) (stores.Seal, error) {
		mac := sha256.Sum256(m.Payload)
		return stores.Seal{Format: 1, KeyID: "key", MAC: mac[:]}, nil
	}); err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return path, b
}

func open(t testing.TB, path string) *bundle.Store {
	t.Helper()
	s, err := bundle.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func text(v any) string { return fmt.Sprintf("%+v", v) }

// What was put into a bundle comes out of it, byte for byte, and nothing is left beside it.
func TestBundleGivesBackEveryRow(t *testing.T) {
	runs := []stores.Run{run("a", 3), run("b", 1), run("ü/∂", 2)}
	path, b := write(t, runs...)
	s := open(t, path)
	for _, want := range runs {
		got, err := stores.ReadRun(t.Context(), s, want.Key())
		want.Head.Open = stores.OpenCalls(want.Head, want.Calls)
		if err != nil || text(got) != text(want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
	m, err := s.Manifest(t.Context())
	line, _, _ := bytes.Cut(b, []byte("\n"))
	if err != nil || m.Bad != "" || m.Store != "origin" || m.Runs != 3 || m.By != "olga" || !m.Created.Equal(created) || !bytes.Equal(m.Payload, line) {
		t.Errorf("manifest %+v, %v", m, err)
	}
	info, err := s.Info(t.Context())
	if err != nil || info.ID != "origin" || !info.ReadOnly || info.Why == "" || info.Format != "bundle" {
		t.Errorf("info %+v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestBundleAsDocumented reads a bundle as docs/store-format.md tells another
// program to, without this package.
func TestBundleAsDocumented(t *testing.T) {
	_, b := write(t, run("a", 3), run("b", 1))
	lines := bytes.SplitAfter(b, []byte("\n"))
	var m struct {
		Format, Store, Created, By, Note string
		Version                          int
		Graphs                           []struct {
			Digest, SHA256 string
			Size           int
		}
		Runs []struct {
			Owner, Run, Store, Incarnation, SHA256 string
			Size, Open                             int
			Head                                   map[string]any
		}
	}
	var sig struct {
		Format int
		KeyID  string `json:"key_id"`
		MAC    string
	}
	if err := errors.Join(json.Unmarshal(lines[0], &m), json.Unmarshal(lines[1], &sig)); err != nil {
		t.Fatal(err)
	}
	mac := sha256.Sum256(lines[0][:len(lines[0])-1])
	if sig.MAC != hex.EncodeToString(mac[:]) || sig.KeyID != "key" || sig.Format != 1 {
		t.Errorf("signature %+v", sig)
	}
	if m.Format != "flowtui bundle" || m.Version != 1 || m.Store != "origin" || m.Created != "2026-03-04T05:06:07.891000Z" || len(m.Graphs) != 1 || len(m.Runs) != 2 {
		t.Errorf("manifest %+v", m)
	}
	at := len(lines[0]) + len(lines[1])
	part := func(size int, digest string) []byte {
		p := b[at : at+size]
		at += size
		if sum := sha256.Sum256(p); hex.EncodeToString(sum[:]) != digest {
			t.Errorf("the part at byte %d has another digest", at-size)
		}
		return p
	}
	part(m.Graphs[0].Size, m.Graphs[0].SHA256)
	for _, r := range m.Runs {
		after, steps := "", 0
		for line := range bytes.Lines(part(r.Size, r.SHA256)) {
			var l map[string]any
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(line[len(`{"sum":"`)+32+len(`",`) : len(line)-1])
			if l["after"] != after || l["sum"] != hex.EncodeToString(sum[:16]) || l["run"] != r.Run {
				t.Errorf("line %v", l)
			}
			after = l["sum"].(string)
			if l["checkpoint"] != nil {
				steps++
			}
			if h := l["head"]; h != nil && !reflect.DeepEqual(h, any(r.Head)) {
				t.Errorf("head %v, in the manifest %v", h, r.Head)
			}
		}
		if want := map[string]int{"a": 3, "b": 1}[r.Run]; steps != want {
			t.Errorf("run %s has %d steps", r.Run, steps)
		}
	}
	if at != len(b) {
		t.Errorf("%d bytes are left", len(b)-at)
	}
}

// Damage to one run is that run's alone.
func TestDamageIsOneRunsAlone(t *testing.T) {
	names := []string{"a", "b", "c"}
	_, b := write(t, run("a", 3), run("b", 2), run("c", 1))
	inB := bytes.Index(b, []byte(`"run":"b"`+`,"store":"origin","incarnation":"first","checkpoint"`))
	inC := bytes.Index(b, []byte(`"run":"c"`+`,"store":"origin","incarnation":"first","checkpoint"`))
	for name, c := range map[string]struct {
		edit     func(b []byte) []byte
		bad      string // the runs that cannot be read
		manifest string
	}{
		"sound":              {func(b []byte) []byte { return b }, "", ""},
		"a bit of b":         {func(b []byte) []byte { b[inB+60] ^= 1; return b }, "b", ""},
		"a line feed of b":   {func(b []byte) []byte { b[inB+bytes.IndexByte(b[inB:], '\n')] = ' '; return b }, "b", ""},
		"cut in c":           {func(b []byte) []byte { return b[:len(b)-5] }, "c", ""},
		"cut in b":           {func(b []byte) []byte { return b[:inB+10] }, "bc", ""},
		"cut in the head":    {func(b []byte) []byte { return b[:200] }, "", "damaged"},
		"longer":             {func(b []byte) []byte { return append(b, "more\n"...) }, "", "behind the last run"},
		"a bit on top":       {func(b []byte) []byte { b[120] ^= 1; return b }, "", "damaged"},
		"its signature":      {func(b []byte) []byte { b[bytes.IndexByte(b, '\n')+50] ^= 1; return b }, "", "signature"},
		"the graph":          {func(b []byte) []byte { b[bytes.Index(b, []byte(`nodes`))] ^= 1; return b }, "", "graph"},
		"on top, and c":      {func(b []byte) []byte { b[120] ^= 1; b[inC+60] ^= 1; return b }, "c", "damaged"},
		"c stands in b's":    {func(b []byte) []byte { copy(b[inB:], b[inC:inC+40]); return b }, "b", ""},
		"the whole is zeros": {func(b []byte) []byte { clear(b[bytes.IndexByte(b, '\n')+1:]); return b }, "abc", "signature"},
	} {
		path := filepath.Join(t.TempDir(), "y.bundle")
		if err := os.WriteFile(path, c.edit(bytes.Clone(b)), 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, path)
		m, err := s.Manifest(t.Context())
		if err != nil || (c.manifest == "") != (m.Bad == "") || !strings.Contains(m.Bad, c.manifest) {
			t.Errorf("%s: manifest %q, %v", name, m.Bad, err)
		}
		bad, there := "", ""
		for _, n := range names {
			last, err := s.Latest(t.Context(), place(n).Key)
			if errors.Is(err, stores.ErrNotFound) {
				continue
			}
			there += n
			if err != nil {
				t.Errorf("%s: %s: %v", name, n, err)
			}
			if last.Bad != "" {
				bad += n
			}
			if h, err := s.Head(t.Context(), place(n).Key); err != nil || (h.Bad == "") != (last.Bad == "") {
				t.Errorf("%s: %s: head %q, %v", name, n, h.Bad, err)
			}
		}
		if bad != c.bad || there != "abc" && name != "cut in the head" {
			t.Errorf("%s: %s are there, %q cannot be read, want %q", name, there, bad, c.bad)
		}
	}
}

// Nothing is overwritten, written to, or taken for a bundle that is none.
func TestBundleRefuses(t *testing.T) {
	path, _ := write(t, run("a", 1))
	if _, err := bundle.Create(path, bundle.About{Store: "s"}); !errors.Is(err, stores.ErrConflict) {
		t.Errorf("over a file: %v", err)
	}
	s := open(t, path)
	k := place("a").Key
	for name, err := range map[string]error{
		"save":   s.Save(t.Context(), storetest.Step(place("a"), 1)),
		"record": s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(place("a"), 1, 2)}),
		"delete": s.Delete(t.Context(), k),
	} {
		if !errors.Is(err, stores.ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := filepath.Dir(path)
	for name, content := range map[string]string{"empty": "", "text": "hello", "json": `{"sum":"00000000000000000000000000000000","format":"flowtui other"}`} {
		other := filepath.Join(dir, name)
		if err := os.WriteFile(other, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bundle.Open(t.Context(), other); !errors.Is(err, stores.ErrNotStore) {
			t.Errorf("%s: %v", name, err)
		}
		if ok, _, err := bundle.Sniff(other); ok || err != nil {
			t.Errorf("%s is a bundle: %v", name, err)
		}
	}
	if _, err := bundle.Open(t.Context(), dir); !errors.Is(err, stores.ErrNotStore) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := bundle.Open(t.Context(), filepath.Join(dir, "typo")); !errors.Is(err, stores.ErrNotFound) {
		t.Errorf("a typo: %v", err)
	}
	w, err := bundle.Create(filepath.Join(dir, "new"), bundle.About{Store: "s"})
	if err != nil {
		t.Fatal(err)
	}
	bad := run("a", 3)
	bad.Checkpoints = bad.Checkpoints[1:]
	if err := errors.Join(w.Add(run("b", 1)), nil); err != nil {
		t.Error(err)
	}
	if !errors.Is(w.Add(run("b", 1)), stores.ErrInvalid) || !errors.Is(w.Add(bad), stores.ErrInvalid) {
		t.Error("a run twice, or without its first step")
	}
	no := errors.New("no key")
	if _, err := w.Finish(func(stores.Manifest) (stores.Seal, error) { return stores.Seal{}, no }); !errors.Is(err, no) {
		t.Errorf("without a signature: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// Lists are those of any store: in order, page by page, filtered.
func TestBundleLists(t *testing.T) {
	var runs []stores.Run
	for i := range 7 {
		runs = append(runs, run(fmt.Sprint("r", i), int64(i%3+1)))
	}
	s := open(t, func() string { p, _ := write(t, runs...); return p }())
	var got []string
	q := stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: 3}
	for {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Heads {
			got = append(got, h.Run)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if want := "r2 r5 r1 r4 r0 r3 r6"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	n, err := s.Count(t.Context(), q.Filter)
	if err != nil || n.ByStatus[stores.StatusDone] != 2 || n.ByStatus[stores.StatusRunning] != 5 {
		t.Errorf("counts %+v, %v", n, err)
	}
	open, err := s.ListUnfinished(t.Context(), "default")
	if err != nil || len(open) != 5 || open[0].Run != "r6" {
		t.Errorf("unfinished %v, %v", open, err)
	}
	if _, err := s.List(t.Context(), stores.Query{Cursor: "nonsense"}); !errors.Is(err, stores.ErrInvalid) {
		t.Errorf("a bad cursor: %v", err)
	}
}

// FuzzOpen: whatever stands in a file, opening and reading it ends, and no sound
// run changes by it.
func FuzzOpen(f *testing.F) {
	_, b := write(f, run("a", 2), run("b", 1))
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(`{"sum":"00000000000000000000000000000000","format":"flowtui bundle","version":1,"store":"s","runs":[{"size":9223372036854775807}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := bundle.Open(t.Context(), path)
		if err != nil {
			return
		}
		defer s.Close()
		page, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range page.Heads {
			r, err := stores.ReadRun(t.Context(), s, h.Key)
			if err == nil && r.Head.Bad == "" && r.Check() != nil {
				t.Errorf("run %q is shown as sound: %v", h.Run, r.Check())
			}
		}
	})
}
