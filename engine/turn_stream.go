package engine

import (
	"context"
	"encoding/json"
	"iter"
	"sync"

	"github.com/flowtui/flowtui/stores"
)

// The events that end a stream of a turn. Their question is the one of
// [TurnResult].
const (
	EventInterrupt = "interrupt" // key, prompt, question, and choices if there are some: the turn waits
	EventReply     = "reply"     // reply ("" when the turn gave none), question: the turn is over
)

// TurnEvent is one event of a turn: what the run's log got, and what ends the
// stream.
type TurnEvent struct {
	Type string
	Data json.RawMessage // an object
}

// StreamTurn is [Runner.Turn] that tells what happens while it happens: the
// events of the run, after each was stored, then [EventInterrupt] when the turn
// waits for a person, or [EventReply]. An error is the last that it yields. A
// loop that breaks stops the worker and leaves the run recoverable.
func (r *Runner) StreamTurn(ctx context.Context, f *Flow, t Turn) iter.Seq2[TurnEvent, error] {
	return func(yield func(TurnEvent, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		q := queue{more: make(chan struct{}, 1)}
		teller := *r
		teller.sink = func(e stores.Event) {
			r.sink(e)
			q.put(TurnEvent{e.Type, json.RawMessage(e.Payload)})
		}
		var res TurnResult
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			res, err = teller.Turn(ctx, f, t)
		}()
		defer func() {
			stop()
			<-done
		}()
		for over := false; !over; {
			select {
			case <-q.more:
			case <-done:
				over = true
			}
			for _, e := range q.take() {
				if !yield(e, nil) {
					return
				}
			}
		}
		if err != nil {
			yield(TurnEvent{}, err)
			return
		}
		last, err := res.event()
		yield(last, err)
	}
}

// event is how a turn ends.
func (t TurnResult) event() (TurnEvent, error) {
	if t.Waiting {
		data := map[string]any{"key": t.Key, "prompt": t.Prompt, "question": t.Question}
		if len(t.Choices) > 0 {
			data["choices"] = t.Choices
		}
		raw, err := marshal(data)
		return TurnEvent{EventInterrupt, raw}, err
	}
	reply := ""
	if t.Replied {
		reply = t.Reply
	}
	raw, err := marshal(map[string]any{"reply": reply, "question": t.Question})
	return TurnEvent{EventReply, raw}, err
}

// queue holds events for a reader that may be slow: the worker never waits for it.
type queue struct {
	mu   sync.Mutex
	list []TurnEvent
	more chan struct{}
}

func (q *queue) put(e TurnEvent) {
	q.mu.Lock()
	q.list = append(q.list, e)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *queue) take() []TurnEvent {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list = nil
	return list
}
