package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/viewer/draw"
)

// The dialects of flow files.
const (
	dialectAuto = "auto"
	dialectFlow = "flow" // our own
	dialectTeff = "teff"
)

// flowProblem is one thing wrong with a flow file; the JSON of `flowtui lint`.
type flowProblem struct {
	File   string `json:"file"`
	Line   int    `json:"line"` // from 1, 0: the file as a whole
	Column int    `json:"column"`
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

// lintReport is what was found in one file.
type lintReport struct {
	File     string        `json:"file"`
	Dialect  string        `json:"dialect"`
	OK       bool          `json:"ok"`
	Problems []flowProblem `json:"problems"`

	graph *draw.Graph // nil when it cannot be drawn
}

func newLintCommand(a *app) *cobra.Command {
	var dialect string
	cmd := &cobra.Command{
		Use:   "lint (FLOW | DIR)...",
		Short: "Check flow files and list everything that is wrong with them",
		Long: `Check flow files, those of our own or workflow documents of teff, and list everything
that is wrong or cannot be run here, each as FILE:LINE: NODE: REASON. Of a folder those
in it are checked. A file that cannot be read hides no other. The exit code is 2 when
anything is wrong, and that of the file that cannot be read when there is one.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("flowtui lint needs FLOW")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.lint(cmd.Context(), args, dialect) },
	}
	addDialect(cmd, &dialect)
	return cmd
}

func addDialect(cmd *cobra.Command, dialect *string) {
	cmd.Flags().StringVar(dialect, "dialect", dialectAuto, "`DIALECT` of the file: flow (our own), teff, or auto, by what it holds")
}

func (a *app) lint(ctx context.Context, files []string, dialect string) error {
	reports := []lintReport{}
	wrong := false
	var unread []error // each hides no other file
	for _, arg := range files {
		found, err := flowFilesAt(arg)
		if err != nil {
			unread = append(unread, err)
		}
		for _, file := range found {
			r, err := a.readFlow(ctx, file, dialect)
			if p, _ := errors.AsType[viewer.Problem](err); ctx.Err() != nil || p.Code == "usage" {
				return err
			}
			if err != nil {
				unread = append(unread, err)
				continue
			}
			reports = append(reports, r)
			wrong = wrong || !r.OK
		}
	}
	err := a.result(reports, func(w io.Writer) {
		for _, r := range reports {
			for _, p := range r.Problems {
				fmt.Fprintln(w, p)
			}
			if r.OK {
				fmt.Fprintf(w, "%s: nothing is wrong with this %s\n", viewer.Scrub(r.File), kindOf(r.Dialect))
			}
		}
	})
	if err == nil && len(unread) > 0 {
		for _, u := range unread[1:] {
			a.warnf("%s", a.explain(ctx, u).Message)
		}
		return unread[0]
	}
	if err == nil && wrong {
		return exit(viewer.Problem{Code: "usage"}.Exit())
	}
	return err
}

// flowFilesAt are the flow files that an argument names: the file, or those that
// --flows finds in a folder.
func flowFilesAt(arg string) ([]string, error) {
	if info, err := os.Stat(arg); err != nil || !info.IsDir() {
		return []string{arg}, nil
	}
	entries, err := os.ReadDir(arg)
	var found []string
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		file := e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0 // a pipe would block
		if file && (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(e.Name(), ".") {
			found = append(found, filepath.Join(arg, e.Name()))
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, refuse("ask for the permission, or be a user who has it", "no permission to read the folder %s", arg)
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, problem("not-found", "give a flow file, or the folder that has some", "there are no flow files (*.yaml, *.yml) in the folder %s", arg)
	}
	return found, nil
}

// kindOf says what a file was read as.
func kindOf(dialect string) string {
	if dialect == dialectTeff {
		return "document of teff"
	}
	return "flow file"
}

// String is the line for a problem; no name in it can make another.
func (p flowProblem) String() string {
	line := viewer.Scrub(p.File)
	if p.Line > 0 {
		line += fmt.Sprintf(":%d", p.Line)
	}
	if p.Node != "" {
		line += ": " + viewer.Scrub(p.Node)
	}
	return line + ": " + viewer.Scrub(p.Reason)
}

// readFlow reads a flow file of either dialect and says what is wrong with it.
func (a *app) readFlow(ctx context.Context, file, dialect string) (lintReport, error) {
	if err := a.takePipe(ctx, file); err != nil {
		return lintReport{}, err
	}
	switch _, piped := a.piped[file]; dialect {
	case dialectFlow:
		return a.readOwnFlow(file)
	case dialectTeff:
		if piped {
			return lintReport{}, usagef("a document of teff is read from a regular file, and %s is a pipe", file)
		}
		return a.readTeffFlow(file)
	case dialectAuto:
	default:
		return lintReport{}, usagef("--dialect is auto, flow or teff, not %q", dialect)
	}
	if document.Marked(file) {
		return a.readTeffFlow(file)
	}
	return a.readOwnFlow(file) // also one that teff would take: it lets pass what it does not know
}

func (a *app) readOwnFlow(file string) (lintReport, error) {
	r := lintReport{File: file, Dialect: dialectFlow}
	f, err := a.ownFlow(file)
	if err == nil {
		g, err := draw.Flow(f.Flow)
		r.OK, r.graph = err == nil, &g
		return r, err
	}
	found := flowErrors(err)
	if len(found) == 0 {
		return r, unreadable(file, err)
	}
	for _, e := range found {
		r.Problems = append(r.Problems, ofFlow(file, e))
	}
	return r, nil
}

// ofFlow is a problem of a flow file, or of a part that it includes.
func ofFlow(file string, e *flowfile.Error) flowProblem {
	if e.File != filepath.Base(file) {
		file = filepath.Join(filepath.Dir(file), e.File)
	}
	return flowProblem{file, e.Line, e.Column, e.Node, e.Message}
}

// ownFlow reads a file as a flow file of our own.
func (a *app) ownFlow(file string) (*flowfile.File, error) {
	opts := flowfile.Options{Models: a.openModel, Env: a.workflowEnv}
	if data, piped := a.piped[file]; piped {
		return parsePiped(opts, file, data)
	}
	return opts.LoadOwn(file)
}

// flowErrors are the problems that an error joins.
func flowErrors(err error) []*flowfile.Error {
	if e, ok := err.(*flowfile.Error); ok {
		return []*flowfile.Error{e}
	}
	var all []*flowfile.Error
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			all = append(all, flowErrors(e)...)
		}
	}
	return all
}

// refusedHere is why a document that teff takes does not run on a store of our own.
func (a *app) refusedHere(file string) (problems []flowProblem, err error) {
	_, err = flowfile.Options{Env: a.workflowEnv}.LoadTeff(file)
	for _, e := range flowErrors(err) {
		p := ofFlow(file, e)
		p.Reason = "on a store of flowtui's: " + p.Reason
		problems = append(problems, p)
	}
	if err != nil && len(problems) == 0 {
		return nil, unreadable(file, err)
	}
	return problems, nil
}

func (a *app) readTeffFlow(file string) (lintReport, error) {
	r := lintReport{File: file, Dialect: dialectTeff}
	w, err := document.Load(file, a.workflowEnv)
	if w != nil && w.Graph != nil && len(w.Graph.Nodes) > 0 {
		g := draw.Workflow(w)
		r.graph = &g
	}
	var problems []teff.Problem
	if e, ok := errors.AsType[*document.Error](err); ok {
		problems = e.Problems
	} else if e, ok := errors.AsType[*teff.UnsupportedError](err); ok {
		problems = e.Problems
	} else if err != nil {
		return r, unreadable(file, err)
	}
	if err == nil && r.graph == nil {
		problems = []teff.Problem{{Reason: "it has no steps"}}
	}
	for _, p := range problems {
		at := p.Position
		if at.File == "" {
			at.File = file
		}
		r.Problems = append(r.Problems, flowProblem{at.File, at.Line, at.Column, p.Node, p.Reason})
	}
	slices.SortStableFunc(r.Problems, func(a, b flowProblem) int {
		if a.File != b.File {
			return 0 // those of a part stay where they are
		}
		return a.Line - b.Line
	})
	if err = nil; len(problems) == 0 {
		r.Problems, err = a.refusedHere(file)
	}
	r.OK = err == nil && len(r.Problems) == 0
	return r, err
}
