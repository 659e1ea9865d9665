package testwriter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// Place is the place of a run of the default owner.
func Place(run string) stores.Place {
	return stores.Place{Key: stores.Key{Owner: stores.DefaultOwner, Run: run}, Store: "test", Incarnation: "first"}
}

// writeForever goes on with a run, step after step with two call records each,
// until its standard input ends. It says each step after its commit.
func writeForever(open storetest.Opener, path, run string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	pause, err := time.ParseDuration(os.Getenv(writerPause))
	if err != nil {
		return err
	}
	s, err := open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	w := writer{s: s.(logged), place: Place(run)}
	if err := w.resume(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := w.step(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		fmt.Println(w.next - 1)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

type logged interface {
	stores.Store
	stores.EventLog
}

// writer writes the steps of one run.
type writer struct {
	s                   logged
	place               stores.Place
	next, calls, events int64
}

func (w *writer) resume(ctx context.Context) error {
	last, err := w.s.Latest(ctx, w.place.Key)
	if errors.Is(err, stores.ErrNotFound) {
		return nil
	}
	calls, err2 := w.s.Calls(ctx, w.place.Key, 0)
	events, err3 := w.s.Events(ctx, w.place.Key, 0, 1<<30)
	w.next, w.calls, w.events = last.Step+1, int64(len(calls)), int64(len(events))
	return errors.Join(err, err2, err3)
}

func (w *writer) step(ctx context.Context) error {
	save := storetest.Step(w.place, w.next)
	save.Events = []stores.Event{storetest.Event(w.place, w.events+1)}
	save.Graph = []byte("graph")
	if err := w.s.Save(ctx, save); err != nil {
		return err
	}
	w.next++
	w.events++
	for _, status := range []stores.CallStatus{stores.CallStarted, stores.CallDone} {
		r := storetest.Record(w.place, 1, w.calls+1, func(c *stores.Call) {
			c.Step, c.Ordinal, c.Status = save.Checkpoint.Step, 1, status
		})
		if err := w.s.RecordCall(ctx, stores.CallWrite{Call: r}); err != nil {
			return err
		}
		w.calls++
	}
	return nil
}
