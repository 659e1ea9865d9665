package viewer

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff"
)

// Workflow is one that runs of teff's may go on with.
type Workflow struct {
	File string
	*teff.Workflow
	// Err is why it cannot be used, or, a [teff.UnsupportedError] beside a
	// Workflow, why it cannot be run here.
	Err error
}

// workflowHint says how the workflow of a run of teff's is given: its rows do
// not name it.
const workflowHint = "give the workflow file of the run with --flow FILE"

const misfitHint = "give the file that the run was started with, with --flow FILE"

// workflow is one that runs of teff's go on with.
type workflow struct {
	*teff.Workflow
	file        string
	err         error
	unsupported error // why it cannot be run here
}

// workflows are those that were given, read once: at least one, or an error.
func (s *Service) workflows() ([]workflow, error) {
	s.teffOnce.Do(func() {
		if s.o.Workflows == nil {
			s.teffErr = Problem{Code: codeRefused, Message: teff.ErrNoWorkflow.Error(), Hint: workflowHint}
			return
		}
		given, err := s.o.Workflows()
		if err == nil && len(given) == 0 {
			err = Problem{Code: codeRefused, Message: teff.ErrNoWorkflow.Error(), Hint: workflowHint}
		}
		s.teffErr = err
		for _, g := range given {
			w := workflow{Workflow: g.Workflow, file: g.File, err: g.Err}
			switch _, unsupported := errors.AsType[*teff.UnsupportedError](g.Err); {
			case unsupported && g.Workflow != nil: // an answer can be stored all the same
				w.unsupported, w.err = g.Err, nil
			case g.Err == nil:
				w.unsupported = teff.Check(g.Workflow)
			}
			s.teff = append(s.teff, w)
		}
	})
	return s.teff, s.teffErr
}

// theWorkflow is the one that was given, where no row tells which is meant.
func (s *Service) theWorkflow() workflow {
	all, err := s.workflows()
	switch {
	case err != nil:
		return workflow{err: err}
	case len(all) > 1:
		return workflow{err: Problem{Code: codeRefused, Message: fmt.Sprintf("%d workflows were given", len(all)), Hint: "name the one that is meant, and no other, with --flow"}}
	}
	return all[0]
}

// workflowOf is the one workflow of those that were given which can be that of
// the run, as far as its row tells. Its err is why there is none, or that there
// are several.
func (s *Service) workflowOf(f facts) workflow {
	all, err := s.workflows()
	if err != nil {
		return workflow{err: err}
	}
	if len(all) == 1 {
		w := all[0]
		if why := w.misfit(f); why != "" {
			w.err = Problem{Code: codeRefused, Message: why, Hint: misfitHint}
		}
		return w
	}
	var fit, unread []workflow
	for _, w := range all {
		switch {
		case w.err != nil:
			unread = append(unread, w)
		case w.misfit(f) == "":
			fit = append(fit, w)
		}
	}
	switch {
	case len(fit) == 1 && len(unread) > 0 && !f.final() && f.foreign.Parent == "": // its own may be among them
		return workflow{err: Problem{
			Code: codeRefused, Message: fmt.Sprintf("the workflow of the run may be one that does not load: %s (%s)", listedFiles(unread), explain(unread[0].err).Message),
			Hint: "mend that file, or name the one that the run was started with, and no other, with --flow FILE",
		}}
	case len(fit) == 1 || len(fit) > 1 && (f.final() || f.foreign.Parent != ""): // which none is needed for
		return fit[0]
	case len(fit) > 1:
		return workflow{err: Problem{
			Code: codeRefused, Message: "its row does not tell which of these workflows is that of the run: " + listedFiles(fit),
			Hint: "name the one that it was started with, and no other, with --flow FILE",
		}}
	}
	return workflow{err: noneFits(all, f)}
}

// noneFits says what is looked for in vain.
func noneFits(all []workflow, f facts) error {
	p := Problem{Code: codeRefused, Hint: misfitHint}
	node, does := f.stands()
	p.Message = fmt.Sprintf("the workflow of the run is missing: none that was given has a node %s, where the run %s", node, does)
	if f.paused() && f.foreign.Key != "" {
		p.Message += fmt.Sprintf(" for %q", f.foreign.Key)
	}
	var unread []workflow
	for _, w := range all {
		if w.err != nil {
			unread = append(unread, w)
		}
	}
	if len(unread) > 0 {
		p.Message += fmt.Sprintf("; it may be one that does not load: %s (%s)", listedFiles(unread), explain(unread[0].err).Message)
	}
	return p
}

// listedFiles names files, the first few of many.
func listedFiles(list []workflow) string {
	const most = 4
	var names []string
	for _, w := range list[:min(len(list), most)] {
		name := filepath.Base(w.file)
		alike := func(o workflow) bool { return o.file != w.file && filepath.Base(o.file) == name }
		if slices.ContainsFunc(list, alike) {
			name = w.file
		}
		names = append(names, name)
	}
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return listed(names)
}

// stands is the node where a run of teff's stands and what it does there, "" for
// none.
func (f facts) stands() (node, does string) {
	switch {
	case f.paused():
		return f.foreign.Node, "waits"
	case f.running() && len(f.at) > 0:
		return f.at[0], "goes on"
	}
	return "", ""
}

// misfit is why the workflow cannot be that of the run, as far as a row tells,
// "" for no reason. A workflow of another run that has a node of the same name,
// which asks for the same, passes.
func (w workflow) misfit(f facts) string {
	if w.err != nil || f.foreign.Parent != "" { // of a nested run it is the parent's
		return ""
	}
	node, does := f.stands()
	n := w.Graph.Node(node)
	if n != nil && n.Type == "interrupt" && f.paused() && f.foreign.Nested == "" && f.foreign.Key != "" {
		if key, ok := n.Config.GetOr("key", nil).(string); ok && key != f.foreign.Key {
			return fmt.Sprintf("the workflow %s is not that of the run: its node %s asks for %q, the run waits for %q", w.Name, node, key, f.foreign.Key)
		}
	}
	if node == "" || n != nil {
		return ""
	}
	return fmt.Sprintf("the workflow %s is not that of the run: it has no node %s, where the run %s", w.Name, node, does)
}

// called is how plans call the workflow that a run goes on with.
func (w workflow) called() string {
	if w.err == nil && w.Name != "" {
		return "the workflow " + w.Name
	}
	return "its workflow"
}

// noWorkflow is why a workflow is not there, as a reason why nothing can be done.
func (s *Service) noWorkflow(err error) string {
	if err == nil {
		return ""
	}
	p := explain(err)
	if p.Hint == workflowHint && !s.o.NoCommand { // what to do comes first: the end may be cut
		return "start flowtui with --flow FILE, the workflow of the run: " + p.Message
	}
	return p.Message
}
