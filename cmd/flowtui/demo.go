package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/fixtures/demo"
)

func newDemoCommand(a *app) *cobra.Command {
	var dir, store string
	var noOpen bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Make a demo store with every kind of run and open the viewer on it",
		Long: `Make DIR/demo.db, DIR/demo.key and DIR/flows with every kind of run, and open the
viewer on it. The runs are real: flows run, workers are killed in the middle of
calls, and a few rows are tampered with. DIR/teff.db is a copy of a store that teff
wrote, DIR/teff-flows has the workflows of its runs. Without --dir a new temporary folder is
made. With --store the runs go to another store, of any kind, which must be empty.
Nothing leaves this machine, unless that store is elsewhere.`,
		Args: arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd, dir, store, noOpen) },
	}
	cmd.Flags().StringVar(&store, "store", "", "make it on this empty `STORE`, a path or a URL (default: DIR/demo.db)")
	cmd.Flags().StringVar(&dir, "dir", "", "folder `DIR` to make the demo in (default: a new temporary one)")
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "do not open the viewer, print how to attach")
	return cmd
}

func (a *app) demo(cmd *cobra.Command, dir, store string, noOpen bool) error {
	if a.global.readOnly {
		return refuse("leave --read-only out", "--read-only refuses to make a demo")
	}
	if !noOpen && (!isTerminal(a.stdin) || !isTerminal(a.stdout)) {
		return refuse("make it with --no-open", "the viewer needs a terminal")
	}
	if store != "" {
		if err := creatable(store); err != nil {
			return err
		}
	}
	own := dir == ""
	dir, err := demoFolder(dir)
	if err != nil {
		return err
	}
	files, err := demo.Make(cmd.Context(), demo.Options{
		Dir: dir, Store: store, Open: createStore, Worker: itself,
		Begins: func() { a.note("making a demo in %s: real flows, real crashes, a few seconds", dir) },
	})
	if err != nil {
		if own { // nobody was told that it is there, and half a demo is of no use
			err = errors.Join(err, os.RemoveAll(dir))
		}
		return err
	}
	shown := files.Store
	if isServer(shown) {
		shown = maskedURL(shown)
	}
	open := fmt.Sprintf("flowtui %s --key-file %s --flows %s --owner '*'", quote(shown), quote(files.Key), quote(files.Flows))
	// A row of teff does not name its workflow: this one is of the runs of orion and of обзор.
	foreign := fmt.Sprintf("flowtui %s --flow release-review --flows %s --owner '*'", quote(files.Teff), quote(files.TeffFlows))
	if noOpen {
		made := map[string]string{"store": shown, "key_file": files.Key, "flows": files.Flows, "teff": files.Teff, "teff_flows": files.TeffFlows}
		return a.result(made, func(w io.Writer) {
			fmt.Fprintf(w, "open it:  %s\n", open)
			fmt.Fprintf(w, "list it:  flowtui ls %s --key-file %s --owner '*'\n", quote(shown), quote(files.Key))
			fmt.Fprintf(w, "a store that teff wrote, with one of its workflows:  %s\n", foreign)
		})
	}
	a.global.keys, a.global.flows, a.global.owner = keySource{file: files.Key}, []string{files.Flows}, "*"
	defer a.note("open it again:  %s\na store that teff wrote:  %s", open, foreign)
	return a.open(cmd, []string{files.Store})
}

func demoFolder(dir string) (string, error) {
	if dir == "" {
		return os.MkdirTemp("", "flowtui-demo-")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return filepath.Clean(dir), nil
}

// itself is this program with other arguments: a worker for the demo to kill.
func itself(ctx context.Context, args ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return exec.CommandContext(ctx, exe, args...)
}
