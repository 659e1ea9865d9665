package viewer

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// present reports why what is at the store's place is no longer the store that
// was attached: it is gone, was emptied, or another one was put there. Without
// that question its runs would silently be none, or others. What the header
// says of the store is brought up to date.
func (s *Service) present(ctx context.Context, a *attachment) error {
	info, err := a.store.Info(ctx)
	if err == nil {
		err = a.adopt(info)
	}
	key := s.keyState(ctx, a)
	a.mu.Lock()
	a.key = key
	place := a.info.Location
	a.mu.Unlock()
	if errors.Is(err, stores.ErrNotFound) {
		return Problem{Code: codeNotFound, Message: "the store is gone: there is nothing at " + place + " any more", Hint: "put it back, or open the one that you mean"}
	}
	return err
}

// adopt takes what a store says of itself, if it is the one that was attached.
func (a *attachment) adopt(info stores.Info) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.info.ID == "" || a.info.ID == info.ID {
		a.info = info
		return nil
	}
	what := "another store"
	if info.ID == "" {
		what = "an empty one"
	}
	return Problem{
		Code: codeFailed, Message: fmt.Sprintf("the store at %s was replaced by %s", a.info.Location, what),
		Hint: "open it again to look at what is there now",
	}
}

// absent says which run is not there, or that its whole store is not.
func (s *Service) absent(ctx context.Context, a *attachment, k stores.Key, err error) error {
	if !errors.Is(err, stores.ErrNotFound) && !errors.Is(err, engine.ErrCheckpointNotFound) {
		return err
	}
	if gone := s.present(ctx, a); gone != nil {
		return gone
	}
	if errors.Is(err, engine.ErrCheckpointNotFound) {
		return err
	}
	// That there is no checkpoint is all that the store's own error would add.
	return engine.NotFound(k)
}

// damaged reports an error of reading that is about stored rows: asking again
// does not help, and says nothing about the runs beside.
func damaged(err error) bool {
	for _, passing := range []error{
		engine.ErrCheckpointNotFound, context.Canceled, context.DeadlineExceeded, stores.ErrNotFound, stores.ErrBusy, stores.ErrUnavailable, stores.ErrClosed, stores.ErrReadOnly,
	} {
		if errors.Is(err, passing) {
			return false
		}
	}
	_, told := errors.AsType[Problem](err) // by present
	_, may := forbidden(err)
	return err != nil && !told && !may
}

// unreadableRows is what a run is while a part of it cannot be read.
func unreadableRows(k stores.Key, step int64, err error) checked {
	record := engine.RecordCheckpoint
	what := "its history"
	if e, ok := errors.AsType[*stores.OpError](err); ok {
		if e.Err != nil {
			err = e.Err
		}
		switch e.Op {
		case "calls":
			record, what = engine.RecordCall, "its call log"
		case "events":
			record, what = engine.RecordEvent, "its events"
		case "head":
			record, what = engine.RecordHead, "its list entry"
		}
	}
	reason := fmt.Sprintf("%s cannot be read: %v", what, err)
	return checked{verdict: Unreadable, reason: reason, all: []Finding{{k.Owner, k.Run, record, step, 0, Unreadable, reason}}, passing: true}
}
