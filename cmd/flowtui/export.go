package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newExportCommand(a *app) *cobra.Command {
	var file, text, note string
	cmd := &cobra.Command{
		Use:   "export STORE (RUN... | --query Q) -o FILE",
		Short: "Copy whole runs into one signed file that opens like a store",
		Long: `Copy runs into a bundle: one signed file with every row of them as it is, which
flowtui opens like a store, read-only, and import takes into another store. With -
the run ids are read from stdin. The store is only read; FILE must not be there yet.`,
		Args: func(cmd *cobra.Command, args []string) error {
			return arguments("STORE")(cmd, args[:min(len(args), 1)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case file == "":
				return usagef("say where the bundle goes, with -o FILE")
			case file == "-":
				return problem("usage", "give the name of a file; ./- is one that is named -", "a bundle is not written to stdout: it opens like a store, which is a file")
			case len(args) == 1 && !cmd.Flags().Changed("query"):
				return usagef("%s needs RUN... or --query; --query '' is every run", cmd.CommandPath())
			case len(args) > 1 && cmd.Flags().Changed("query"):
				return usagef("give run ids or --query, not both")
			}
			return a.export(cmd.Context(), args, text, file, note)
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "the `FILE` to make")
	cmd.Flags().StringVar(&text, "query", "", "the runs that fit the query `Q`, as for ls")
	cmd.Flags().StringVar(&note, "note", "", "what the bundle is for, as `TEXT` that is kept in it")
	return cmd
}

func (a *app) export(ctx context.Context, args []string, text, file, note string) error {
	words, err := parseQuery(text)
	if err != nil {
		return err
	}
	s, err := a.attach(ctx, false, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	var refs []viewer.Ref
	if len(args) > 1 {
		refs, err = a.named(s, args[1:])
	} else {
		refs, err = s.fitting(ctx, words)
	}
	if err != nil {
		return err
	}
	req := viewer.ExportRequest{Refs: refs, Note: note, Create: func(store string, created time.Time, by, note string) (viewer.BundleWriter, error) {
		w, err := createBundle(file, store, created, by, note)
		if errors.Is(err, stores.ErrConflict) {
			return nil, problem("conflict", "give another name with -o: a bundle is never written over a file", "there is a file %s already", file)
		}
		if dir := filepath.Dir(file); errors.Is(err, fs.ErrNotExist) {
			return nil, problem("not-found", "make it first, or give another name with -o", "there is no folder %s", dir)
		}
		return w, err
	}}
	e, err := s.Export(ctx, req, nil)
	if err != nil {
		return err
	}
	if err := a.result(exported{file, e}, func(w io.Writer) { exportText(w, file, e) }); err != nil {
		return err
	}
	for _, f := range e.Failed {
		return exit(f.Error.Exit())
	}
	return nil
}

// exported is a bundle as JSON has it.
type exported struct {
	File string `json:"file"`
	viewer.Exported
}

func exportText(w io.Writer, file string, e viewer.Exported) {
	for _, f := range e.Failed {
		fmt.Fprintf(w, "left out: run %s of %s: %s\n", f.Run, f.Owner, oneLine(f.Error.Message))
	}
	for _, r := range e.Runs {
		if r.Verdict != viewer.Verified {
			fmt.Fprintf(w, "copied as it is, %s: run %s of %s\n", r.Verdict, r.Run, r.Owner)
		}
	}
	fmt.Fprintf(w, "%s in %s\n", plural(len(e.Runs), "run"), file)
}

// fitting are all runs that a query is for.
func (s *session) fitting(ctx context.Context, words query) ([]viewer.Ref, error) {
	refs := []viewer.Ref{}
	q := viewer.Query{Tab: words.tab(), Text: words.text, Owner: words.owner, Limit: stores.MaxLimit}
	for {
		page, err := s.list(ctx, q, words)
		if err != nil {
			return nil, err
		}
		for _, p := range page.Problems {
			return nil, p.Problem
		}
		for _, row := range page.Rows {
			if !slices.Contains(refs, row.Ref) { // it was updated meanwhile, and listed again
				refs = append(refs, row.Ref)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return refs, nil
		}
	}
}
