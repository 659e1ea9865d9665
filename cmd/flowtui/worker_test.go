package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Only what may go away by itself is waited for.
func TestDown(t *testing.T) {
	for err, want := range map[error]bool{
		stores.ErrUnavailable: true, stores.ErrBusy: true, context.DeadlineExceeded: true,
		stores.ErrNotFound: false, stores.ErrTooNew: false, stores.ErrNotStore: false, errors.New("other"): false,
	} {
		if got := down(fmt.Errorf("open: %w", err)); got != want {
			t.Errorf("%v: waited for %t, want %t", err, got, want)
		}
	}
}

// A store that does not answer when the worker starts is waited for, less and
// less often; any other error ends it, and so does a stop.
func TestAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		begin, tries := time.Now(), 0
		want := &session{}
		got, err := awaited(ctx, slog.New(slog.NewTextHandler(&log, nil)), func() (*session, error) {
			if tries++; tries < 8 {
				return nil, fmt.Errorf("open: %w", stores.ErrUnavailable)
			}
			return want, nil
		})
		if got != want || err != nil || time.Since(begin) != (1+2+4+8+16+30+30)*time.Second || strings.Count(log.String(), "store does not answer") != 7 {
			t.Errorf("%v, %v after %s\n%s", got, err, time.Since(begin), &log)
		}
		if _, err := awaited(ctx, slog.New(slog.DiscardHandler), func() (*session, error) { return nil, stores.ErrTooNew }); !errors.Is(err, stores.ErrTooNew) {
			t.Errorf("a store that is too new: %v", err)
		}
		time.AfterFunc(time.Hour, cancel)
		if got, err := awaited(ctx, slog.New(slog.DiscardHandler), func() (*session, error) { return nil, stores.ErrBusy }); got != nil || err != nil {
			t.Errorf("stopped: %v, %v", got, err)
		}
	})
}
