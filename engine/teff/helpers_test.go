package teff_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

const data = "../../fixtures/teff/"

// readCases reads a file of recorded answers, gzipped or not.
func readCases(t *testing.T, name string) *py.Dict {
	t.Helper()
	f, err := os.Open(data + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if name[len(name)-3:] == ".gz" {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := py.Loads(text)
	if err != nil {
		t.Fatal(err)
	}
	return plain(v).(*py.Dict)
}

// plain replaces the marks of floats that JSON has no number for.
func plain(v py.Value) py.Value {
	switch v := v.(type) {
	case *py.List:
		for i := range v.Items {
			v.Items[i] = plain(v.Items[i])
		}
	case *py.Dict:
		if word, ok := v.GetOr("$float", nil).(string); ok && v.Len() == 1 {
			return map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[word]
		}
		for _, key := range v.Keys() {
			v.Set(key, plain(v.GetOr(key, nil)))
		}
	}
	return v
}

func section(t *testing.T, name string) []*py.Dict {
	t.Helper()
	sections := readCases(t, "engine_cases.json").GetOr("sections", nil).(*py.Dict)
	cases := dicts(sections.GetOr(name, nil))
	if len(cases) == 0 {
		t.Fatalf("there are no cases %s", name)
	}
	return cases
}

func dicts(v py.Value) []*py.Dict {
	var all []*py.Dict
	if l, ok := v.(*py.List); ok {
		for _, item := range l.Items {
			all = append(all, item.(*py.Dict))
		}
	}
	return all
}

func dict(d *py.Dict, key string) *py.Dict {
	if d == nil {
		return nil
	}
	inner, _ := d.GetOr(key, nil).(*py.Dict)
	return inner
}

func text(d *py.Dict, key string) string {
	s, _ := d.GetOr(key, nil).(string)
	return s
}

func reducersOf(d *py.Dict) teff.Reducers {
	r := teff.Reducers{}
	if d != nil {
		for key, word := range d.All() {
			r[key] = teff.Reducer(word.(string))
		}
	}
	return r
}

// exact is the text of a value in which keys keep their order and 1 and 1.0
// are apart.
func exact(t *testing.T, v py.Value) string {
	t.Helper()
	b, err := py.Dumps(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// memory keeps the checkpoints of one owner as a store would: as text.
type memory struct {
	rows    map[string]teff.Checkpoint
	history map[string]map[int64]teff.Checkpoint
	log     []string // what was saved and deleted, in order: "id next iteration"
	alter   func([]byte) ([]byte, error)
}

func newMemory() *memory {
	return &memory{rows: map[string]teff.Checkpoint{}, history: map[string]map[int64]teff.Checkpoint{}}
}

func (m *memory) Load(_ context.Context, id string) (teff.Checkpoint, bool, error) {
	c, ok := m.rows[id]
	return c, ok, nil
}

func (m *memory) Save(_ context.Context, id string, c teff.Checkpoint) error {
	if m.alter != nil {
		var err error
		if c.State, err = m.alter(c.State); err != nil {
			return err
		}
	}
	m.rows[id] = c
	if m.history[id] == nil {
		m.history[id] = map[int64]teff.Checkpoint{}
	}
	m.history[id][c.Iteration] = c
	next := "-"
	if c.Next != nil {
		next = *c.Next
	}
	m.log = append(m.log, fmt.Sprintf("%s %s %d", id, next, c.Iteration))
	return nil
}

func (m *memory) Delete(_ context.Context, id string) error {
	delete(m.rows, id)
	m.log = append(m.log, "delete "+id)
	return nil
}

// state is the stored state of an id as text.
func (m *memory) state(t *testing.T, id string) string {
	t.Helper()
	c, ok := m.rows[id]
	if !ok {
		t.Fatalf("there is no row %s", id)
	}
	return string(c.State)
}

// saved checks what was saved since the last look.
func (m *memory) saved(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(m.log, want) {
		t.Errorf("saved %q\nwant %q", m.log, want)
	}
	m.log = nil
}
