package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/viewer"
)

// exit ends the command with a code and says nothing more: all was said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func isExit(err error) bool {
	_, quiet := errors.AsType[exit](err)
	return quiet
}

func problem(code, hint, format string, args ...any) error {
	return viewer.Problem{Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

func usagef(format string, args ...any) error { return problem("usage", "", format, args...) }

func refuse(hint, format string, args ...any) error { return problem("refused", hint, format, args...) }

// finish reports how a command ended and returns its exit code.
func (a *app) finish(ctx context.Context, err error) int {
	code := 0
	switch e, quiet := errors.AsType[exit](err); {
	case quiet:
		code = int(e)
	case err != nil:
		p := a.explain(ctx, err)
		a.report(p)
		code = p.Exit()
	}
	for _, w := range a.warned {
		fmt.Fprintf(textWriter{a.stderr}, "flowtui: %s\n", w)
	}
	return code
}

func (a *app) explain(ctx context.Context, err error) viewer.Problem {
	_, known := errors.AsType[viewer.Problem](err)
	_, flow := errors.AsType[*flowfile.Error](err)
	switch {
	case known:
	case flow:
		return viewer.Problem{Code: "failed", Message: err.Error(), Hint: mendFlow} // a line for each thing that is wrong
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return viewer.Problem{Code: "failed", Message: fmt.Sprintf("stopped: %v", context.Cause(ctx))}
	case errors.Is(err, fs.ErrNotExist):
		return viewer.Problem{Code: "not-found", Message: err.Error(), Hint: "check the path"}
	}
	return new(viewer.Service).Explain(err) // one that is not attached explains what went wrong before
}

// failure is an error as scripts get it.
type failure struct {
	Error    viewer.Problem `json:"error"`
	Warnings []string       `json:"warnings,omitempty"`
}

// report tells a problem on stderr.
func (a *app) report(p viewer.Problem) {
	if a.global.json {
		_ = writeJSON(a.stderr, failure{p, a.warned}) // nobody is left to tell
		a.warned = nil
		return
	}
	w := textWriter{a.stderr}
	fmt.Fprintf(w, "flowtui: %s\n", p.Message)
	hint(w, p.Hint)
}

func hint(w io.Writer, text string) {
	if text != "" {
		fmt.Fprintf(w, "hint: %s\n", text)
	}
}

// warnf says what should not be so. Scripts get it behind the result, or as a
// part of the error, which is the only object on stderr.
func (a *app) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if a.global.json {
		a.warned = append(a.warned, text)
		return
	}
	fmt.Fprintf(textWriter{a.stderr}, "flowtui: %s\n", text)
}
