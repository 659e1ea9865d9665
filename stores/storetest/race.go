package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/flowtui/flowtui/stores"
)

var raceCases = []testCase{
	{"saves of one run", raceSaves},
	{"first saves", raceFirst},
	{"call numbers", raceNumbers},
	{"saves of many runs", raceRuns},
	{"readers beside a writer", raceReaders},
	{"auditors beside writers", raceAuditors},
	{"readers of rows beside deletes", raceRows},
}

// racers is how many goroutines race.
const racers = 40

// race lets n goroutines start f at the same moment.
func race(n int, f func(i int)) {
	var ready, finished sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		ready.Add(1)
		finished.Go(func() {
			ready.Done()
			<-start
			f(i)
		})
	}
	ready.Wait()
	close(start)
	finished.Wait()
}

// one reports an error unless err is nil once and ErrConflict else.
type one struct {
	s    *suite
	wins atomic.Int64
}

func (o *one) note(err error) {
	switch {
	case err == nil:
		o.wins.Add(1)
	case !errors.Is(err, stores.ErrConflict):
		o.s.Errorf("a loser got %v", err)
	}
}

func (o *one) check(what string) {
	o.s.Helper()
	if n := o.wins.Load(); n != 1 {
		o.s.Errorf("%s: %d writers won, want 1", what, n)
	}
}

// raceSaves: of all workers that save a step, one wins, and its rows stay.
func raceSaves(s *suite) {
	p := s.steps("r", 0)
	for n := range int64(10) {
		o := one{s: s}
		race(racers, func(i int) {
			w := Step(p, n+1, func(c *stores.Checkpoint) { c.Payload = fmt.Append(nil, i) })
			w.Head.Payload = fmt.Append(nil, i)
			w.Events = []stores.Event{Event(p, n+1)}
			w.Events[0].Payload = fmt.Append(nil, i)
			o.note(s.Save(s.ctx, w))
		})
		o.check(fmt.Sprintf("step %d", n+1))
		r := s.whole(p.Key)
		if winner := string(r.last.Payload); string(r.head.Payload) != winner || string(r.events[n].Payload) != winner {
			s.Errorf("step %d is a mix: checkpoint %q, head %q, event %q", n+1, winner, r.head.Payload, r.events[n].Payload)
		}
	}
}

func raceFirst(s *suite) {
	o := one{s: s}
	race(racers, func(i int) {
		p := s.place("r")
		p.Incarnation = fmt.Sprint(i)
		o.note(s.Save(s.ctx, Step(p, 0)))
	})
	o.check("step 0")
}

func raceNumbers(s *suite) {
	p := s.steps("r", 0)
	for n := range int64(10) {
		o := one{s: s}
		race(racers, func(i int) {
			c := Record(p, 1, n+1, func(c *stores.Call) { c.Payload = fmt.Append(nil, i) })
			o.note(s.RecordCall(s.ctx, stores.CallWrite{Call: c}))
		})
		o.check(fmt.Sprintf("call record %d", n+1))
	}
	s.open(p.Key, 10)
}

// raceRuns: writers of different runs do not hinder one another.
func raceRuns(s *suite) {
	race(racers, func(i int) {
		p := s.place(fmt.Sprint(i))
		for n := range int64(5) {
			w := Step(p, n)
			w.Events = []stores.Event{Event(p, n+1)}
			if err := s.Save(s.ctx, w); err != nil {
				s.Errorf("run %d, step %d: %v", i, n, err)
			}
		}
	})
	n, err := s.Count(s.ctx, anyRun)
	s.ok(err)
	if n.ByStatus[stores.StatusRunning] != racers {
		s.Errorf("counted %+v", n)
	}
}

// raceReaders: a reader sees whole saves, and never an older one than before.
func raceReaders(s *suite) {
	p := s.steps("r", 0)
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for newest := int64(0); !stop.Load(); {
				last, err := s.Latest(s.ctx, p.Key)
				if err != nil || last.Step < newest || string(last.Payload) != fmt.Sprintf(`{"step": %d}`, last.Step) {
					s.Errorf("after step %d: %+v, %v", newest, last, err)
					return
				}
				newest = last.Step
			}
		})
	}
	for n := range int64(100) {
		if err := s.Save(s.ctx, Step(p, n+1)); err != nil {
			s.Errorf("step %d: %v", n+1, err)
			break
		}
	}
	stop.Store(true)
	readers.Wait()
}

// raceAuditors: a run that is created, saved or deleted just now is neither
// damaged nor without its list entry.
func raceAuditors(s *suite) {
	var stop atomic.Bool
	var auditors sync.WaitGroup
	for range 3 {
		auditors.Go(func() {
			for !stop.Load() {
				if lost, err := s.Orphans(s.ctx, stores.AnyOwner); err != nil || len(lost) > 0 {
					s.Errorf("without a list entry: %v, %v", lost, err)
					return
				}
			}
		})
	}
	race(4, func(i int) {
		for round := range 15 {
			p := s.place(fmt.Sprint(i))
			p.Incarnation = fmt.Sprint(round)
			for n := range int64(10) {
				if err := s.Save(s.ctx, Step(p, n)); err != nil {
					s.Errorf("run %d, step %d: %v", i, n, err)
				}
				if last, err := s.Latest(s.ctx, p.Key); err != nil || last.Bad != "" || last.Step != n {
					s.Errorf("run %d, step %d: %+v, %v", i, n, last, err)
				}
			}
			if err := s.Delete(s.ctx, p.Key); err != nil {
				s.Errorf("run %d: delete: %v", i, err)
			}
		}
	})
	stop.Store(true)
	auditors.Wait()
}

// raceRows: a run that is deleted and started anew while its rows are read has
// no row that cannot be read.
func raceRows(s *suite) {
	k := s.place("r").Key
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for !stop.Load() {
				steps, err1 := s.History(s.ctx, k, stores.HistoryQuery{Payload: true})
				events, err2 := s.Events(s.ctx, k, 0, 0)
				if err := errors.Join(err1, err2); err != nil && !errors.Is(err, stores.ErrNotFound) {
					s.Errorf("read: %v", err)
					return
				}
				for _, c := range steps {
					if c.Bad != "" {
						s.Errorf("step %d: %s", c.Step, c.Bad)
						return
					}
				}
				for _, e := range events {
					if e.Bad != "" {
						s.Errorf("event %d: %s", e.N, e.Bad)
						return
					}
				}
			}
		})
	}
	for round := range 40 {
		p := s.place("r")
		p.Incarnation = fmt.Sprint(round)
		for n := range int64(5) {
			w := Step(p, n)
			w.Events = []stores.Event{Event(p, n+1)}
			if err := s.Save(s.ctx, w); err != nil {
				s.Errorf("step %d: %v", n, err)
			}
		}
		if err := s.Delete(s.ctx, k); err != nil {
			s.Errorf("delete: %v", err)
		}
	}
	stop.Store(true)
	readers.Wait()
}
