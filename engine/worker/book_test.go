package worker

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"
)

// book keeps what was logged.
type book struct {
	mu    sync.Mutex
	lines []line
}

type line struct {
	level slog.Level
	msg   string
	at    time.Time
	attrs map[string]slog.Value
}

func (b *book) Enabled(context.Context, slog.Level) bool { return true }
func (b *book) WithAttrs([]slog.Attr) slog.Handler       { return b }
func (b *book) WithGroup(string) slog.Handler            { return b }
func (b *book) Handle(_ context.Context, r slog.Record) error {
	l := line{r.Level, r.Message, time.Now(), map[string]slog.Value{}}
	r.Attrs(func(a slog.Attr) bool { l.attrs[a.Key] = a.Value; return true })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, l)
	return nil
}

// about returns the lines of a run ("" for those of none) from a level on.
func (b *book) about(run string, level slog.Level) []line {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []line
	for _, l := range b.lines {
		if l.level >= level && l.attrs["run"].String() == valueOf(run) {
			out = append(out, l)
		}
	}
	return out
}

func valueOf(run string) string {
	if run == "" {
		return slog.Value{}.String() // of an attribute that is not there
	}
	return run
}

func msgs(lines []line) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, l.msg)
	}
	return out
}

// wantMsgs compares the messages about a run, from info on.
func (b *book) wantMsgs(t testing.TB, run string, want ...string) {
	t.Helper()
	if got := msgs(b.about(run, slog.LevelInfo)); !slices.Equal(got, want) {
		t.Errorf("%q: logged %q, want %q", run, got, want)
	}
}
