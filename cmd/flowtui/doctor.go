package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/viewer"
)

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor STORE",
		Short: "Look at a store: what it is, whether the key fits, what may be done",
		Long: `Look at a store and write nothing: its format and version, whether the key fits its
newest runs, how far its clock is off, how fast it answers, and what may be done with
it and why not. The exit code is 1 when something is wrong. Of what is no store it
says what was looked for and what was found.`,
		Args: arguments("STORE"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.doctor(cmd.Context(), args[0]) },
	}
}

func (a *app) doctor(ctx context.Context, store string) error {
	h, err := a.examine(ctx, store)
	if err != nil {
		return err
	}
	if a.exposedKey != "" {
		h.Facts = append(h.Facts, viewer.HealthFact{Name: "key file", Value: a.exposedKey})
	}
	if err := a.result(h, func(w io.Writer) { a.health(w, h) }); err != nil {
		return err
	}
	if !h.OK {
		return exit(1)
	}
	return nil
}

// examine also makes a store that cannot be opened a finding.
func (a *app) examine(ctx context.Context, store string) (viewer.Health, error) {
	s, err := a.attach(ctx, false, store)
	if err == nil {
		defer s.Close()
		return s.Examine(ctx)
	}
	p := a.explain(ctx, err)
	if ctx.Err() != nil || p.Code == "usage" {
		return viewer.Health{}, err
	}
	h := viewer.Health{Store: store, Runs: map[string]int64{}, Problems: []string{p.Message}}
	if isServer(store) {
		h.Store = "" // the URL may have a password, and the message names it without
	}
	if p.Hint != "" {
		h.Problems[0] += " (" + p.Hint + ")"
	}
	return h, nil
}

func (a *app) health(w io.Writer, h viewer.Health) {
	var t table
	add := func(name, format string, args ...any) { t.add(name, oneLine(fmt.Sprintf(format, args...))) }
	if h.Format != "" {
		add("store", "%s, %s format %d", h.Location, h.Format, h.Version)
		add("id", "%s", dash(h.ID))
		if h.Writable {
			add("access", "it can be read and written")
		} else {
			add("access", "it can be read, not written: %s", h.Why)
		}
		var runs []string
		for _, status := range []string{"running", "paused", "failed", "done"} {
			runs = append(runs, fmt.Sprintf("%d %s", h.Runs[status], status))
		}
		add("runs", "%s", strings.Join(runs, ", "))
		if h.Bytes != nil {
			add("size", "%d bytes", *h.Bytes)
		}
		add("key", "%s", keyUse(h))
		if h.Clock != nil {
			add("clock", "%+.0f ms against this machine's, give or take %.0f", h.Clock.Ahead, h.Clock.Within)
		}
		if h.Latency.Reads > 0 {
			add("latency", "%.1f ms at best, %.1f ms in the middle of %d reads", h.Latency.Min, h.Latency.Median, h.Latency.Reads)
		}
		for _, f := range h.Facts {
			add(f.Name, "%s", f.Value)
		}
	}
	for _, m := range h.May {
		if m.Why == "" {
			add("may", "%s", m.What)
		}
	}
	for _, m := range h.May {
		if m.Why != "" {
			add("may not", "%s: %s", m.What, m.Why)
		}
	}
	for _, p := range h.Problems {
		add("WRONG", "%s", p)
	}
	t.write(w)
	nothing := "nothing is wrong"
	if a.exposedKey != "" {
		nothing = "nothing else is wrong"
	}
	switch {
	case h.OK && len(h.Keys) > 0: // of the runs themselves nothing was read
		fmt.Fprintln(w, nothing+" with what was looked at; flowtui verify checks every row of every run")
	case h.OK:
		fmt.Fprintln(w, nothing)
	}
}

func keyUse(h viewer.Health) string {
	text := "none was given"
	if h.Key != "" {
		text = "signs with " + h.Key
	}
	for _, k := range h.Keys {
		text += fmt.Sprintf("; of the newest runs' list entries %d name %s: %s", k.Rows, k.Key, k.Result)
	}
	return text
}
