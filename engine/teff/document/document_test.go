package document_test

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/teff/py"
)

const fixtures = "../../../fixtures/teff"

// recorded is one of the recorded JSON files.
func recorded(t *testing.T, name string) *py.Dict {
	t.Helper()
	file, err := os.Open(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var r io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := py.Loads(data)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*py.Dict)
}

func get(v py.Value, keys ...string) py.Value {
	for _, k := range keys {
		d, ok := v.(*py.Dict)
		if !ok {
			return nil
		}
		v, _ = d.Get(k)
	}
	return v
}

// environment is that of the recordings.
func environment(v py.Value) func(string) (string, bool) {
	return func(name string) (string, bool) {
		s, ok := get(v, name).(string)
		return s, ok
	}
}

// graphOf describes a graph as the recordings do.
func graphOf(g *teff.Graph) *py.Dict {
	nodes, edges := py.NewList(), py.NewList()
	for _, n := range g.Nodes {
		d := py.NewDict(py.Entry{Key: "id", Value: n.ID}, py.Entry{Key: "type", Value: n.Type})
		if n.Retry != nil {
			d.Set("retry", true)
		}
		if n.Graph != nil {
			d.Set("graph", graphOf(n.Graph))
		}
		nodes.Items = append(nodes.Items, d)
	}
	for _, e := range g.Edges {
		var condition py.Value
		if e.Condition != nil {
			condition = *e.Condition
		}
		edges.Items = append(edges.Items, py.NewList(e.From, e.To, condition))
	}
	return py.NewDict(py.Entry{Key: "entry", Value: g.Entry}, py.Entry{Key: "nodes", Value: nodes}, py.Entry{Key: "edges", Value: edges})
}

func describe(w *teff.Workflow) *py.Dict {
	d := graphOf(w.Graph)
	d.Set("initial", w.Initial)
	reducers, tools := new(py.Dict), py.NewList()
	for key, r := range w.Reducers {
		reducers.Set(key, string(r))
	}
	for _, tool := range w.Tools {
		tools.Items = append(tools.Items, tool)
	}
	d.Set("reducers", reducers)
	d.Set("tools", tools)
	return d
}

func TestRecordedWorkflows(t *testing.T) {
	all := recorded(t, "expected.json.gz")
	workflows := get(all, "workflows").(*py.Dict)
	if workflows.Len() == 0 {
		t.Fatal("no workflows")
	}
	for name, want := range workflows.All() {
		w, err := document.Load(filepath.Join(fixtures, name), environment(get(all, "env")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := describe(w); !py.Equal(got, want) {
			t.Errorf("%s:\n %s\nwant\n %s", name, py.Repr(got), py.Repr(want))
		}
	}
}

func TestRecordedLoader(t *testing.T) {
	all := recorded(t, "engine_cases.json")
	for _, c := range get(all, "sections", "loader").(*py.List).Items {
		t.Run(get(c, "name").(string), func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range get(c, "files").(*py.Dict).All() {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content.(string)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w, err := document.Load(filepath.Join(dir, "wf.yaml"), environment(get(all, "env")))
			if want := get(c, "error"); want != nil {
				refused(t, err, get(want, "type").(string), get(want, "message").(string))
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, want := describe(w), get(c, "result"); !py.Equal(got, want) {
				t.Errorf("%s\nwant\n%s", py.Repr(got), py.Repr(want))
			}
		})
	}
}

// refused compares an error with Python's: its class, and that each line of the
// message is told, but for the places, which are told in another way.
func refused(t *testing.T, err error, class, message string) {
	t.Helper()
	var e *document.Error
	if !errors.As(err, &e) || e.Class != class {
		t.Fatalf("%v, want %s: %s", err, class, message)
	}
	for _, p := range e.Problems {
		if p.Position.File == "" {
			t.Errorf("no file: %v", p)
		}
	}
	if strings.HasPrefix(message, "'") || strings.HasPrefix(message, `"`) { // a KeyError's message is a repr
		message = strings.NewReplacer(`\n`, "\n", `\'`, "'", `\\`, `\`).Replace(message[1 : len(message)-1])
	}
	for line := range strings.SplitSeq(message, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(line, "DIR/wf.yaml: "))
		line = strings.ReplaceAll(line, "DIR/", "")
		if strings.HasPrefix(line, "in \"wf.yaml\"") {
			continue
		}
		if !strings.Contains(strings.ReplaceAll(err.Error(), filepath.Dir(e.Problems[0].Position.File)+"/", ""), line) {
			t.Errorf("%v\nwant %s", err, line)
		}
	}
}

// Of a file that is too large no more is read than tells that it is.
func TestLargeFilesAreNotRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wf.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 64<<20); err != nil {
		t.Fatal(err)
	}
	data, err := document.ReadFile(file)
	if err != nil || len(data) != 4<<20+1 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	_, err = document.Load(file, none)
	refused(t, err, "ConfigError", "the document is larger than 4 MiB")
}
