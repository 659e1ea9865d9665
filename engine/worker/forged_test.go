package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// forging is a store in which somebody changed a run's rows, until they are put back.
type forging struct {
	*flaky
	run string
}

func (f *forging) change(c stores.Checkpoint, err error) (stores.Checkpoint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Run == f.run && err == nil {
		c.Payload = append(slices.Clone(c.Payload), ' ')
	}
	return c, err
}

func (f *forging) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	return f.change(f.flaky.Latest(ctx, k))
}

func (f *forging) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	rows, err := f.flaky.History(ctx, k, q)
	for i := range rows {
		rows[i], _ = f.change(rows[i], nil)
	}
	return rows, err
}

func (f *forging) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	return f.change(f.flaky.At(ctx, k, step))
}

// A forged run is told as an error once, and looked at again now and then:
// somebody may put the rows back.
func TestForged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := &forging{flaky: newFlaky(), run: "forged"}, newWorld()
		defer s.Close()
		crash(t, s.flaky, w.tickets(), "forged", saved(1), true)
		sw, log := sweeper(t, s, w.tickets())
		defer running(t, sw)()
		time.Sleep(time.Hour)
		lines := log.about("forged", slog.LevelInfo)
		if len(lines) != 1 || lines[0].level != slog.LevelError || lines[0].msg != "does not verify" {
			t.Fatalf("logged %+v", lines)
		}
		if n := len(log.about("forged", slog.LevelDebug)); n < 6 || n > 12 {
			t.Errorf("looked at %d times in an hour, want every 5 to 10 minutes", n)
		}
		if c := latest(t, s.flaky, "forged"); c.Segment != 1 {
			t.Errorf("a forged run was claimed: %d", c.Segment)
		}
		s.mu.Lock()
		s.run = ""
		s.mu.Unlock()
		time.Sleep(11 * time.Minute)
		w.home(t, s, "forged")
	})
}

// badList is a store whose list has an entry of the run that cannot be read, beside
// the sound one.
type badList struct{ *flaky }

func (b badList) ListUnfinished(ctx context.Context, owner string) ([]stores.Head, error) {
	heads, err := b.flaky.ListUnfinished(ctx, owner)
	bad := stores.Head{Bad: "step is a text"}
	bad.Key = key("order-1")
	return append(heads, bad), err
}

func (badList) Orphans(context.Context, string) ([]stores.Key, error) {
	return []stores.Key{key("headless")}, nil
}

func TestListEntriesThatAreBadOrMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := badList{newFlaky()}, newWorld()
		defer s.Close()
		crash(t, s, w.tickets(), "order-1", saved(1), true)
		sw, log := sweeper(t, s, w.tickets())
		stop := running(t, sw)
		time.Sleep(time.Hour)
		stop()
		got := msgs(log.about("order-1", slog.LevelInfo))
		slices.Sort(got)
		if !slices.Equal(got, []string{"does not verify", "recovered"}) {
			t.Errorf("logged %q", got)
		}
		log.wantMsgs(t, "headless", "does not verify")
		w.home(t, s, "order-1")

		once, _ := sweeper(t, s, w.tickets())
		all, err := once.Sweep(t.Context())
		if err != nil || len(all) != 2 || !errors.Is(all[0].Err, engine.ErrCheckpointStoreCorrupt) || !errors.Is(all[1].Err, engine.ErrCheckpointStoreCorrupt) {
			t.Errorf("one sweep: %+v, %v", all, err)
		}
	})
}
