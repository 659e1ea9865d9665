package teff_test

import (
	"context"
	"io"
	"math"
	"os"
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
	text, err := io.ReadAll(f)
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
	saves   []string // the ids in the order of saving
}

func newMemory() *memory {
	return &memory{rows: map[string]teff.Checkpoint{}, history: map[string]map[int64]teff.Checkpoint{}}
}

func (m *memory) Load(_ context.Context, id string) (teff.Checkpoint, bool, error) {
	c, ok := m.rows[id]
	return c, ok, nil
}

func (m *memory) Save(_ context.Context, id string, c teff.Checkpoint) error {
	m.rows[id] = c
	if m.history[id] == nil {
		m.history[id] = map[int64]teff.Checkpoint{}
	}
	m.history[id][c.Iteration] = c
	m.saves = append(m.saves, id)
	return nil
}

func (m *memory) Delete(_ context.Context, id string) error {
	delete(m.rows, id)
	return nil
}
