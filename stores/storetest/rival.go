package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Opener opens the store at a path or URL, which the first write may create.
type Opener func(ctx context.Context, at string) (stores.Store, error)

// A test binary is also the other process of [Processes]: these say that it is,
// on which store, and under which name.
const (
	rivalStore = "FLOWTUI_TEST_RIVAL_STORE"
	rivalName  = "FLOWTUI_TEST_RIVAL_NAME"
)

// Rival is for the TestMain of a driver that runs [Processes]: in the processes
// that this starts it does their work and ends them, else it does nothing.
func Rival(open Opener) {
	at := os.Getenv(rivalStore)
	if at == "" {
		return
	}
	if err := rivalry(open, at, os.Getenv(rivalName)); err != nil {
		fmt.Fprintf(os.Stderr, "process %s: %v\n", os.Getenv(rivalName), err)
		os.Exit(1)
	}
	os.Exit(0)
}

// rival is one process. It says what it has done, after the store has
// acknowledged it.
type rival struct {
	All
	name  string
	ctx   context.Context
	round int64
}

// rivalry goes on until standard input ends, and ends between two operations.
func rivalry(open Opener, at, name string) error {
	told := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(told)
	}()
	ctx := context.Background()
	s, err := open(ctx, at)
	if err != nil {
		return err
	}
	r := rival{All: s.(All), name: name, ctx: ctx}
	for ; ; r.round++ {
		for what, do := range map[string]func() error{ // in any order
			"own run": r.own, "common step": r.step, "call": r.call, "lease": r.lease, "deletion": r.delete,
		} {
			if err := do(); err != nil {
				return errors.Join(fmt.Errorf("%s, round %d: %w", what, r.round, err), s.Close())
			}
		}
		select {
		case <-told:
			return s.Close()
		default:
		}
	}
}

func (r *rival) say(what string, n int64, of string) { fmt.Println(what, n, of) }

func rivalPlace(run, incarnation string) stores.Place {
	return stores.Place{Key: stores.Key{Owner: stores.DefaultOwner, Run: run}, Store: "rivals", Incarnation: incarnation}
}

func common() stores.Place { return rivalPlace("common", "first") }

func leased(n int64) stores.Place { return rivalPlace(fmt.Sprint("leased ", n), "first") }

func own(name string) stores.Place { return rivalPlace("own "+name, "first") }

func passing(round int64, incarnation string) stores.Place {
	return rivalPlace(fmt.Sprint("passing ", round), incarnation)
}

// lost is nil when another process was faster.
func lost(err error) error {
	if errors.Is(err, stores.ErrConflict) || errors.Is(err, stores.ErrNotFound) {
		return nil
	}
	return err
}

func (r *rival) own() error {
	w := Step(own(r.name), r.round)
	w.Events = []stores.Event{Event(own(r.name), r.round+1)}
	err := r.Save(r.ctx, w)
	if err == nil {
		r.say("own", r.round, r.name)
	}
	return err
}

// next is the save that goes on with a run, signed by this process. Every tenth
// one takes the run over and fences off what the others have in hand.
func (r *rival) next(p stores.Place) (stores.Save, error) {
	n, segment := int64(0), int64(1)
	last, err := r.Latest(r.ctx, p.Key)
	if err == nil {
		n, segment = last.Step+1, last.Segment
	} else if !errors.Is(err, stores.ErrNotFound) {
		return stores.Save{}, err
	}
	if n > 0 && n%10 == 0 {
		segment++
	}
	w := Step(p, n, func(c *stores.Checkpoint) { c.Payload, c.Segment = []byte(r.name), segment })
	w.Events = []stores.Event{Event(p, n+1)}
	return w, nil
}

func (r *rival) step() error {
	w, err := r.next(common())
	if err == nil {
		err = r.Save(r.ctx, w)
	}
	if err == nil {
		r.say("step", w.Checkpoint.Step, r.name)
	}
	return lost(err)
}

// callNumber is a record's segment and number in one.
func callNumber(c stores.Call) int64 { return c.Segment<<32 | c.N }

func (r *rival) call() error {
	last, err := r.Latest(r.ctx, common().Key)
	if err != nil {
		return lost(err)
	}
	calls, err := r.Calls(r.ctx, last.Key, 0)
	if err != nil {
		return lost(err)
	}
	n := int64(1)
	for _, c := range calls {
		if c.Segment == last.Segment {
			n++
		}
	}
	c := Record(common(), last.Segment, n, at(last.Step), func(c *stores.Call) { c.Payload = []byte(r.name) })
	if err := r.RecordCall(r.ctx, stores.CallWrite{Call: c}); err != nil {
		return lost(err)
	}
	r.say("call", callNumber(c), r.name)
	return nil
}

// leasedRuns is more than there are processes: a killed one keeps its lease.
const leasedRuns = 7

// lease goes on with a run whose lease it has: nobody else may.
func (r *rival) lease() error {
	p := leased(r.round % leasedRuns)
	if _, err := r.Latest(r.ctx, p.Key); errors.Is(err, stores.ErrNotFound) {
		return lost(r.Save(r.ctx, Step(p, 0))) // it can be leased in a later round
	} else if err != nil {
		return err
	}
	if _, err := r.Acquire(r.ctx, p.Key, r.name, time.Hour, false); err != nil {
		return lost(err)
	}
	w, err := r.next(p)
	w.Events = nil
	if err == nil {
		err = r.Save(r.ctx, w)
	}
	if err != nil {
		return fmt.Errorf("with the lease of %q: %w", p.Run, err)
	}
	l, err := r.Lease(r.ctx, p.Key)
	if err != nil || l == nil || l.Holder != r.name || !l.Live {
		return fmt.Errorf("the lease of %q that this process holds is %+v, %v", p.Run, l, err)
	}
	return r.Release(r.ctx, p.Key, r.name)
}

// delete lets all processes create a run, each as another life, and delete
// whichever life they see.
func (r *rival) delete() error {
	p := passing(r.round, r.name)
	err := r.Save(r.ctx, Step(p, 0))
	if err == nil {
		r.say("born", r.round, r.name)
	} else if err := lost(err); err != nil {
		return err
	}
	last, err := r.Latest(r.ctx, p.Key)
	if err != nil {
		return lost(err)
	}
	r.say("deleting", r.round, last.Incarnation)
	if err := r.DeleteAt(r.ctx, p.Key, last.Incarnation, 0); err != nil {
		return lost(err)
	}
	r.say("deleted", r.round, last.Incarnation)
	return nil
}
