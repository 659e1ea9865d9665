package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxResult = 16 << 20 // bytes of a command's stdout
	maxStderr = 4 << 10  // bytes of its stderr that an error keeps

	// pipeGrace is how long a process that is gone may leave its pipes open:
	// a grandchild that inherited them must not hang the call.
	pipeGrace = 2 * time.Second
)

// CommandSpec describes a tool that is a program. It is run directly, not by a
// shell, gets [Input] as JSON on stdin and answers with one JSON value on stdout.
type CommandSpec struct {
	Name       string
	Command    []string // the program and its arguments
	Idempotent bool
	Approval   Approval
	Timeout    time.Duration // 0: none
	Dir        string        // working directory; "" is the process's own
	Env        []string      // "NAME=value", added to the inherited environment
	Hide       []string      // names of further variables that are not inherited
}

// ExitError says that a command ran to its end and failed.
type ExitError struct {
	Tool   string
	Code   int
	Stderr string // the last of it, trimmed
}

func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("%s: exit code %d", e.Tool, e.Code)
	}
	return fmt.Sprintf("%s: exit code %d: %s", e.Tool, e.Code, e.Stderr)
}

// ResultError says that a call ran but that its result cannot be kept. It
// wraps [ErrOutcomeUnknown]: running the call again would repeat its effect.
type ResultError struct {
	Tool   string
	Reason string
}

func (e *ResultError) Error() string {
	return fmt.Sprintf("%s: the call ran, but its result cannot be kept: %s", e.Tool, e.Reason)
}

// Unwrap is [ErrOutcomeUnknown].
func (e *ResultError) Unwrap() error { return ErrOutcomeUnknown }

// Command returns a tool that runs a program. Variables whose name starts with
// FLOWTUI_ are not inherited, since they may hold keys. The program is looked
// up when it is called: a flow can be read where its tools are not installed.
func Command(spec CommandSpec) (Tool, error) {
	if err := spec.check(); err != nil {
		return Tool{}, err
	}
	spec.Command = slices.Clone(spec.Command)
	spec.Env, spec.Hide = slices.Clone(spec.Env), slices.Clone(spec.Hide)
	return Tool{
		Name:       spec.Name,
		Idempotent: spec.Idempotent,
		Approval:   spec.Approval,
		Timeout:    spec.Timeout,
		Run: func(ctx context.Context, in Input) (any, error) {
			raw, err := spec.run(ctx, in)
			if err != nil {
				return nil, err
			}
			return raw, nil
		},
	}, nil
}

func (s CommandSpec) check() error {
	switch {
	case s.Name == "":
		return errors.New("tool has no name")
	case len(s.Command) == 0 || s.Command[0] == "":
		return fmt.Errorf("tool %q has no command", s.Name)
	case slices.ContainsFunc(s.Command, func(a string) bool { return strings.ContainsRune(a, 0) }):
		return fmt.Errorf("tool %q: a NUL byte cannot be part of a command", s.Name)
	case s.Timeout < 0:
		return fmt.Errorf("tool %q: timeout is negative", s.Name)
	}
	return nil
}

func (s CommandSpec) run(ctx context.Context, in Input) (json.RawMessage, error) {
	if in.Args == nil {
		in.Args = json.RawMessage("null")
	}
	stdin, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("%s: arguments: %w", s.Name, err)
	}
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Timeout, fmt.Errorf("no answer within %s: %w", s.Timeout, context.DeadlineExceeded))
		defer cancel()
	}
	stdout, stderr := &head{limit: maxResult}, &tail{limit: maxStderr}
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	cmd.Dir, cmd.Env = s.Dir, append(inherited(s.Hide), s.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), stdout, stderr
	cmd.WaitDelay = pipeGrace
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", s.Name, ErrNotStarted, err)
	}
	if err := s.outcome(ctx, cmd, cmd.Wait(), stderr); err != nil {
		return nil, err
	}
	return s.result(stdout)
}

// outcome says what the end of the process means for the call.
func (s CommandSpec) outcome(ctx context.Context, cmd *exec.Cmd, err error, stderr *tail) error {
	code := cmd.ProcessState.ExitCode()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // killed by us, or too close to it to tell
		return fmt.Errorf("%s: %w: %w", s.Name, ErrOutcomeUnknown, context.Cause(ctx))
	case code > 0:
		return &ExitError{Tool: s.Name, Code: code, Stderr: stderr.text()}
	case code == 0 && errors.Is(err, exec.ErrWaitDelay):
		return nil // the program is done; something it started holds its pipes
	}
	return fmt.Errorf("%s: %w: %w", s.Name, ErrOutcomeUnknown, err) // a signal, a broken pipe
}

func (s CommandSpec) result(stdout *head) (json.RawMessage, error) {
	out := bytes.Trim(stdout.data, " \t\r\n")
	switch {
	case stdout.overflow:
		return nil, &ResultError{s.Name, fmt.Sprintf("stdout is larger than %d MiB", maxResult>>20)}
	case len(out) == 0:
		return json.RawMessage("null"), nil
	case !utf8.Valid(out):
		return nil, &ResultError{s.Name, "stdout is not UTF-8"}
	case !json.Valid(out):
		return nil, &ResultError{s.Name, "stdout is not one JSON value; stdout was: " + excerpt(out)}
	}
	return out, nil
}

// excerpt is how output begins that is no JSON, without quotes: with them a text
// would look like the JSON that it is not. What cannot be printed is escaped.
func excerpt(b []byte) string {
	const limit = 80
	end := ""
	if r, _ := utf8.DecodeRune(b); unicode.IsLetter(r) {
		end = " (a text needs quotes)"
	}
	if len(b) > limit {
		b, end = b[:limit], "…"+end
	}
	var out strings.Builder
	for _, r := range strings.ToValidUTF8(string(b), "") {
		if unicode.IsPrint(r) {
			out.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			out.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return out.String() + end
}

func inherited(hide []string) []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		hidden := func(h string) bool { return strings.EqualFold(h, name) } // names ignore case on Windows
		return strings.HasPrefix(strings.ToUpper(name), "FLOWTUI_") || slices.ContainsFunc(hide, hidden)
	})
}
