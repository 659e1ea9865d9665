package document

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// Load reads a workflow document of the teff format and compiles it. lookup
// gives the variables of ${NAME}, as [os.LookupEnv] does.
//
// A document that teff refuses is an [*Error]. One that teff takes and the
// bundled engine cannot run is a [*teff.UnsupportedError] with everything that
// stands in the way; the workflow is then given as well, so that it can be
// shown, unless some of its nodes are not known here.
func Load(file string, lookup func(string) (string, bool)) (*teff.Workflow, error) {
	l := &loader{lookup: lookup, places: map[py.Value]place{}, shared: map[py.Value]bool{}, otherKeys: map[*py.Dict]bool{}}
	doc, err := l.open(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	w, err := l.workflow(doc, file)
	if err != nil {
		return nil, err
	}
	w.Refused = l.unsupported
	err = teff.Check(w)
	refused, ok := errors.AsType[*teff.UnsupportedError](err)
	if !ok {
		return w, err
	}
	refused.Workflow = file
	if l.partial {
		refused.Problems = l.unsaid(refused.Problems)
		w = nil
	}
	return w, refused
}

// unsaid leaves out what is about a node that only stands for ones that are not
// known: why they are not is said of the same line.
func (l *loader) unsaid(problems []teff.Problem) []teff.Problem {
	told := len(l.unsupported)
	return append(problems[:told:told], slices.DeleteFunc(problems[told:], func(p teff.Problem) bool {
		return slices.ContainsFunc(l.unsupported, func(said teff.Problem) bool {
			return said.Position.File == p.Position.File && said.Position.Line == p.Position.Line
		})
	})...)
}

// workflow compiles a document whose includes are resolved, in teff's order of
// checks.
func (l *loader) workflow(doc *py.Dict, file string) (*teff.Workflow, error) {
	flow := l.looksLikeFlow(get(doc, "steps"))
	if err := l.python(doc, file); err != nil {
		return nil, err
	}
	if err := l.validate(doc, flow); err != nil {
		return nil, err
	}
	steps, edges := items(get(doc, "steps")), items(get(doc, "edges"))
	if flow {
		var err error
		if steps, edges, err = l.expandFlow(doc); err != nil {
			return nil, err
		}
	}
	w := &teff.Workflow{Name: text(doc, "name"), Description: text(doc, "description")}
	var err error
	if w.Graph, err = l.graph(steps, edges, ""); err != nil {
		return nil, err
	}
	for _, tool := range items(get(doc, "tools")) {
		w.Tools = append(w.Tools, text(tool.(*py.Dict), "type"))
	}
	if err := l.providers(doc); err != nil {
		return nil, err
	}
	if w.Initial, w.Reducers, err = l.state(doc); err != nil {
		return nil, err
	}
	return w, nil
}

// pythonFiles are the modules of a folder that teff would import.
func pythonFiles(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".py") {
			names = append(names, e.Name())
		}
	}
	return names, err
}
