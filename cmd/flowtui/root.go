package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
)

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "flowtui [STORE...]",
		Short: "See durable runs, why they stand still, and bring them on",
		Long: `flowtui opens checkpoint stores in a terminal. A STORE is a path, a URL (sqlite:PATH)
or a context of the config file; with none, the default context is opened.
Every screen and action is also a command.

Exit codes: 0 done or clean, 1 failed, 2 usage, 3 not found, 4 conflict,
5 needs a decision, 6 corrupt or forged, 7 refused.`,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,

		SuggestionsMinimumDistance: 2,
		Version:                    version(),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := noEmptyFlags(cmd); err != nil {
				return err
			}
			for _, flow := range a.global.flow {
				if err := a.takePipe(cmd.Context(), flow); err != nil {
					return err
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.open(cmd, args)
		},
	}
	root.SetVersionTemplate("flowtui {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return problem("usage", "see "+cmd.CommandPath()+" --help; what begins with - and is no flag, like an id, comes last, behind --", "%v", err)
	})
	a.addGlobalFlags(root)
	root.AddCommand(
		newLsCommand(a), newShowCommand(a), newStateCommand(a), newCallsCommand(a), newEventsCommand(a),
		newVerifyCommand(a), newPlanCommand(a),
		newApproveCommand(a), newDenyCommand(a), newAnswerCommand(a), newResolveCommand(a),
		newRecoverCommand(a), newRecoverAllCommand(a), newRunCommand(a), newChatCommand(a), newWorkerCommand(a), newDemoCommand(a),
		newPruneCommand(a), newDeleteCommand(a), newDoctorCommand(a),
		newExportCommand(a), newImportCommand(a), newLintCommand(a), newGraphCommand(a),
	)
	addExamples(root)
	root.SetHelpCommand(newHelpCommand())
	return root
}

// newHelpCommand is cobra's, but that a command that does not exist is an error.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about any command",
		Example: "  flowtui help run",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				word := strings.Join(args, " ")
				return problem("usage", nearCommands(cmd, word), "%q is no command", word)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// nearCommands is a hint at the commands that may be meant.
func nearCommands(cmd *cobra.Command, word string) string {
	if near := cmd.Root().SuggestionsFor(word); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return "see flowtui --help"
}

// version is that of the module, with the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// mayBeEmpty are the flags for which nothing is a value.
var mayBeEmpty = []string{"note", "value", "message", "query", "cursor"}

// noEmptyFlags refuses a flag that is given with nothing: mostly that is a
// variable of a script that is not set, and never means "as if left out".
func noEmptyFlags(cmd *cobra.Command) error {
	var empty []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if slices.Contains(values, "") && !slices.Contains(mayBeEmpty, f.Name) {
			empty = append(empty, "--"+f.Name)
		}
	})
	if len(empty) > 0 {
		return usagef("given, but empty: %s", strings.Join(empty, ", "))
	}
	return nil
}

// open shows the screens on the stores, or on the default context.
func (a *app) open(cmd *cobra.Command, specs []string) error {
	if len(specs) == 0 {
		name, err := a.defaultContext()
		if err != nil {
			return err
		}
		if name == "" {
			return cmd.Help()
		}
		specs = []string{name}
	}
	targets, err := a.targets(specs)
	if err != nil {
		return err
	}
	if err := mistyped(cmd, targets[0]); err != nil {
		return err
	}
	s, err := a.attachTargets(cmd.Context(), false, targets)
	if err != nil {
		return err
	}
	defer s.Close()
	if !isTerminal(a.stdin) || !isTerminal(a.stdout) {
		return refuse("flowtui ls "+specs[0]+" prints the runs", "the viewer needs a terminal")
	}
	return a.view(cmd.Context(), s)
}

// defaultContext is the context that is meant when no store is named, "" for none.
func (a *app) defaultContext() (string, error) {
	conf, err := a.config()
	return conf.Default.text, err
}

// mistyped tells a command that does not exist from a store: a single word that
// is nothing else.
func mistyped(cmd *cobra.Command, t target) error {
	word := t.spec
	if t.named() || isURL(word) || exists(word) || filepath.Base(word) != word || filepath.Ext(word) != "" {
		return nil
	}
	return problem("usage", nearCommands(cmd, word), "%q is no command, no context and no store", word)
}

// view runs the screens. They end with the context, and restore the terminal.
// Of runs that were worked on until then it says how they are brought on.
func (a *app) view(ctx context.Context, s *session) error {
	out, _ := a.stdout.(*os.File) // it is a terminal
	err := views.Run(ctx, views.Deps{
		Backend:   s.Service,
		Clock:     time.Now,
		ASCII:     ascii(runtime.GOOS, os.Getenv),
		Clipboard: views.TerminalClipboard(out, os.Getenv),
		Stderr:    textWriter{a.stderr},
	})
	if cut, ok := errors.AsType[*views.CutError](err); ok {
		for _, run := range cut.Runs {
			if run.Works { // its lease lives, so nothing of it is in doubt yet
				a.report(viewer.Problem{Code: "failed", Run: run.Run, Message: run.String(), Hint: "its lease runs out by itself; until then resolve and recover are a conflict"})
				continue
			}
			if err := a.cutOff(ctx, s, run.Ref, cmp.Or(context.Cause(ctx), errLeft)); !isExit(err) {
				a.report(a.explain(ctx, err))
			}
		}
		return exit(1)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// errLeft is why work was told to stop when nobody sent a signal.
var errLeft = errors.New("the screens were left")
