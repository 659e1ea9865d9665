package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/views"
)

// app is one invocation of the program: its streams and its global flags.
type app struct {
	stdin      io.Reader
	stdout     io.Writer
	stderr     io.Writer
	global     globals
	exact      bool                        // the result is printed as it is stored, also for people
	rings      map[keySource]*seal.Keyring // of what is read once
	exposedKey string                      // who else has the key file, once that is told
	piped      map[string][]byte           // flow files that came through pipes, by path
	warned     []string                    // what scripts are told with the error, if there is one
}

// globals are the flags that every command has.
type globals struct {
	flows     []string
	flow      []string
	keys      keySource
	owner     string
	user      string
	principal string
	readOnly  bool
	json      bool
	yes       bool
	config    string
	lease     time.Duration // 0: the engine's default
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRootCommand(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && slices.Contains(args, "--json") {
		a.global.json = true // also when the flags could not be parsed
	}
	return a.finish(ctx, err)
}

func (a *app) addGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	g := &a.global
	f.StringArrayVar(&g.flows, "flows", nil, "folder `DIR` of flow files, found by their names (repeatable)")
	f.StringArrayVar(&g.flow, "flow", nil, "flow `NAME|FILE` of the run, where the store does not name it (repeatable)")
	f.StringVar(&g.keys.file, "key-file", "", "read the checkpoint key from `FILE` (or FLOWTUI_KEY_FILE)")
	f.StringVar(&g.keys.env, "key-env", "", "read the checkpoint key from the environment variable `NAME`")
	f.StringVar(&g.keys.cmd, "key-cmd", "", "read the checkpoint key from the output of `CMD`, run without a shell")
	f.StringVar(&g.owner, "owner", "", "owner `O` of the runs, * for all when listing (default \"default\")")
	f.StringVar(&g.user, "user", "", "`U` who acts, for the log (default: who runs flowtui)")
	f.StringVar(&g.principal, "principal", "", "principal `P` for whom the run acts")
	f.BoolVar(&g.readOnly, "read-only", false, "refuse every write")
	f.BoolVar(&g.json, "json", false, "results as JSON")
	f.BoolVar(&g.yes, "yes", false, "do not ask before a write")
	f.DurationVar(&g.lease, "lease", 0, "how long (`TIME`) a run counts as held after its worker's last sign of life (default 15s)")
	f.StringVar(&g.config, "config", "", "use this config `FILE` (or FLOWTUI_CONFIG)")
}

// text is where results for people go.
func (a *app) text() io.Writer { return textWriter{a.stdout} }

// now is the time that ages are counted from.
func (a *app) now() time.Time { return time.Now() }

// result prints v as JSON, or with the function for people.
func (a *app) result(v any, people func(io.Writer)) error {
	if a.global.json {
		return writeJSON(a.stdout, v)
	}
	var b strings.Builder
	people(&b)
	_, err := io.WriteString(a.text(), b.String())
	return err
}

// note says something on stderr to people; scripts do not get it.
func (a *app) note(format string, args ...any) {
	if !a.global.json {
		fmt.Fprintf(textWriter{a.stderr}, format+"\n", args...)
	}
}

// isTerminal reports whether a stream is one.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// ascii reports whether the locale has only ASCII.
func ascii(goos string, getenv func(string) string) bool {
	return views.ASCIIOnly(goos, getenv)
}

// width is how many cells a line of the terminal has, 0 when results do not go to one.
func (a *app) width() int { return widthOf(a.stdout) }

// widthOf is how many cells a line of the terminal has that a stream is, 0 of none.
func widthOf(stream any) int {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return max(0, width)
}

// ellipsis stands for what was cut.
func (a *app) ellipsis() string {
	if ascii(runtime.GOOS, os.Getenv) {
		return "~"
	}
	return "…"
}

// arguments checks the number of positional arguments, which are named as in
// the usage line; those in [brackets] may be left out.
func arguments(names ...string) cobra.PositionalArgs {
	least := 0
	for _, n := range names {
		if !strings.HasPrefix(n, "[") {
			least++
		}
	}
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 && len(args) < least && names[0] == "STORE" {
			return problem("usage", "name the STORE first: only flowtui and flowtui ls take the default context for it",
				"%s needs %s: %q is taken for the STORE", cmd.CommandPath(), strings.Join(names[len(args):least], " and "), args[0])
		}
		if len(args) < least {
			return usagef("%s needs %s", cmd.CommandPath(), strings.Join(names[len(args):least], " and "))
		}
		if len(args) > len(names) {
			return usagef("%s takes %s, not also %q", cmd.CommandPath(), strings.Join(names, " "), args[len(names)])
		}
		return nil
	}
}
