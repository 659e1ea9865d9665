package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// shell is another program's connection to the store's file.
func shell(t testing.TB, s *Store) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", fileURI(s.file)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// TestOthersWriteBetween: a store that knows its last checkpoint sees whatever
// another connection has done to the run since, and refuses as one that reads.
func TestOthersWriteBetween(t *testing.T) {
	p := placeOf("r")
	segment2 := func(c *stores.Checkpoint) { c.Segment, c.Base = 2, 1 }
	record := func(s *Store, step int64) error {
		return s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 1, func(c *stores.Call) { c.Step = step })})
	}
	save := func(s *Store, n int64) error { return s.Save(t.Context(), storetest.Step(p, n)) }
	for name, tt := range map[string]struct {
		between string // by SQL, or "" for what the other store does
		other   func(s *Store) error
		act     func(s *Store) error
		want    error
	}{
		"took the step":               {other: func(s *Store) error { return save(s, 2) }, act: func(s *Store) error { return save(s, 2) }, want: stores.ErrConflict},
		"took the step, and we go on": {other: func(s *Store) error { return save(s, 2) }, act: func(s *Store) error { return save(s, 3) }},
		"claimed the run":             {other: func(s *Store) error { return s.Save(t.Context(), storetest.Step(p, 2, segment2)) }, act: func(s *Store) error { return record(s, 1) }, want: stores.ErrConflict},
		"recorded the call":           {other: func(s *Store) error { return record(s, 1) }, act: func(s *Store) error { return record(s, 1) }, want: stores.ErrConflict},
		"deleted the run":             {other: func(s *Store) error { return s.Delete(t.Context(), p.Key) }, act: func(s *Store) error { return save(s, 2) }, want: stores.ErrConflict},
		"deleted it, and we log":      {other: func(s *Store) error { return s.Delete(t.Context(), p.Key) }, act: func(s *Store) error { return record(s, 1) }, want: stores.ErrNotFound},
		"ended it":                    {between: `UPDATE checkpoints SET status = 'done'`, act: func(s *Store) error { return save(s, 2) }, want: stores.ErrConflict},
		"spoiled it":                  {between: `UPDATE checkpoints SET flow = x'00'`, act: func(s *Store) error { return save(s, 2) }, want: stores.ErrUnreadable},
		"took the newest row":         {between: `DELETE FROM checkpoints WHERE step = 1`, act: func(s *Store) error { return save(s, 2) }, want: stores.ErrConflict},
		"added a trigger": {
			between: `CREATE TRIGGER swallow BEFORE INSERT ON events BEGIN SELECT raise(IGNORE); END`,
			act:     func(s *Store) error { return save(s, 2) }, want: stores.ErrUnreadable,
		},
		"added a trigger that edits": {
			between: `CREATE TRIGGER edit AFTER INSERT ON checkpoints BEGIN UPDATE checkpoints SET status = 'done'; END`,
			act:     func(s *Store) error { return save(s, 2) }, want: stores.ErrUnreadable,
		},
		"added a table": {between: `CREATE TABLE notes (text)`, act: func(s *Store) error { return save(s, 2) }},
		"did nothing":   {between: `SELECT 1`, act: func(s *Store) error { return save(s, 2) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t, Options{Synchronous: "NORMAL"})
			for n := range int64(2) {
				if err := save(s, n); err != nil {
					t.Fatal(err)
				}
			}
			if _, knows := s.writer.runs[p.Key]; !knows {
				t.Fatal("it does not know what it saved")
			}
			if tt.other != nil {
				other, err := Open(t.Context(), s.file, Options{Synchronous: "NORMAL"})
				if err != nil {
					t.Fatal(err)
				}
				defer other.Close()
				if err := tt.other(other); err != nil {
					t.Fatal(err)
				}
			} else if _, err := shell(t, s).Exec(tt.between); err != nil {
				t.Fatal(err)
			}
			if err := tt.act(s); !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// TestOwnWritesAreKnown: what the store itself does besides saving and logging
// is not forgotten either.
func TestOwnWritesAreKnown(t *testing.T) {
	p := placeOf("r")
	for name, tt := range map[string]struct {
		do   func(s *Store) error
		step int64
		want error
	}{
		"deleted":          {func(s *Store) error { return s.Delete(t.Context(), p.Key) }, 2, stores.ErrConflict},
		"deleted and anew": {func(s *Store) error { return s.Delete(t.Context(), p.Key) }, 0, nil},
		"edited": {func(s *Store) error {
			return s.write(t.Context(), "edit", p.Key, func(x tx) error { return x.run(`UPDATE checkpoints SET status = 'failed'`) })
		}, 2, stores.ErrConflict},
		"edited beside a transaction": {func(s *Store) error {
			_, err := s.writer.conn.ExecContext(t.Context(), `UPDATE checkpoints SET status = 'failed'`)
			return err
		}, 2, stores.ErrConflict},
		"leased": {func(s *Store) error {
			_, err := s.Acquire(t.Context(), p.Key, "w", time.Minute, false)
			return err
		}, 2, nil},
		"failed half way": {func(s *Store) error {
			w := storetest.Step(p, 2)
			w.Events = []stores.Event{storetest.Event(p, 1), storetest.Event(p, 1)}
			if err := s.Save(t.Context(), w); !errors.Is(err, stores.ErrConflict) {
				return fmt.Errorf("an event's number that is taken: %v", err)
			}
			return nil
		}, 2, nil},
		"failed half way, then skipped": {func(s *Store) error {
			w := storetest.Step(p, 2)
			w.Events = []stores.Event{storetest.Event(p, 1), storetest.Event(p, 1)}
			if s.Save(t.Context(), w) == nil {
				return errors.New("it was saved")
			}
			return nil
		}, 3, stores.ErrConflict},
		"panicked": {func(s *Store) (err error) {
			defer func() {
				if recover() == nil {
					err = errors.New("no panic came through")
				}
			}()
			return s.write(t.Context(), "panic", p.Key, func(x tx) error {
				if err := save(x, storetest.Step(p, 2)); err != nil {
					return err
				}
				panic("here")
			})
		}, 3, stores.ErrConflict},
	} {
		t.Run(name, func(t *testing.T) {
			s := create(t, Options{Synchronous: "NORMAL"})
			for n := range int64(2) {
				if err := s.Save(t.Context(), storetest.Step(p, n)); err != nil {
					t.Fatal(err)
				}
			}
			if err := tt.do(s); err != nil {
				t.Fatal(err)
			}
			err := s.Save(t.Context(), storetest.Step(p, tt.step))
			if !errors.Is(err, tt.want) || (tt.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if !strings.HasPrefix(name, "edited") {
				storetest.Check(t, s)
			}
		})
	}
}

// TestKnownAsRead: what a store knows of a checkpoint is what it would read, and
// it knows none that cannot be followed.
func TestKnownAsRead(t *testing.T) {
	s := create(t, Options{Synchronous: "NORMAL"})
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\xff", "é"}))
	number := rapid.OneOf(rapid.Int64Range(0, 9), rapid.SampledFrom([]int64{math.MaxInt64}))
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		w := storetest.Step(placeOf(fmt.Sprint("run ", n)), 0, func(c *stores.Checkpoint) {
			c.Flow, c.User, c.KeyID = text.Draw(rt, "flow"), text.Draw(rt, "user"), text.Draw(rt, "key id")
			c.Calls, c.Events = number.Draw(rt, "calls"), number.Draw(rt, "events")
			if rapid.Bool().Draw(rt, "late") {
				c.Time = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			c.Prev = rapid.SampledFrom([][]byte{nil, {}, {1, 2}}).Draw(rt, "prev")
		})
		if err := s.Save(t.Context(), w); err != nil {
			rt.Fatal(err)
		}
		run, ok := s.writer.runs[w.Checkpoint.Key]
		err := s.write(t.Context(), "read", w.Checkpoint.Key, func(x tx) error {
			read, err := readNewest(x, w.Checkpoint.Key)
			read.Size = 0 // is not known
			if ok != (read.Bad == "") {
				rt.Fatalf("known: %v, read %q", ok, read.Bad)
			}
			if ok {
				if diff := cmp.Diff(&read, run.newest, cmpopts.EquateEmpty()); diff != "" {
					rt.Fatalf("read (-) and known (+):\n%s", diff)
				}
			}
			return err
		})
		if err != nil {
			rt.Fatal(err)
		}
		next := storetest.Step(w.Checkpoint.Place, 1)
		err = s.Save(t.Context(), next)
		if ok != (err == nil) || !ok && !errors.Is(err, stores.ErrUnreadable) {
			rt.Fatalf("known: %v, followed: %v", ok, err)
		}
	})
}

// TestOpenCallsAreCounted: whatever records come, late, twice or of another
// step, and whatever another process writes meanwhile, the head says what the
// contract says.
func TestOpenCallsAreCounted(t *testing.T) {
	s := create(t, Options{Synchronous: "NORMAL"})
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := shell(t, s)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		p := placeOf(fmt.Sprint("run ", run))
		step, base, segment := int64(-1), int64(0), int64(1)
		status := stores.StatusRunning
		save := func() {
			step++
			err := s.Save(t.Context(), storetest.Step(p, step, func(c *stores.Checkpoint) { c.Base, c.Segment, c.Status = base, segment, status }))
			if err != nil {
				rt.Fatal(err)
			}
		}
		save()
		var all []stores.Call
		numbers := map[int64]int64{}
		for range rapid.IntRange(1, 25).Draw(rt, "operations") {
			switch rapid.IntRange(0, 8).Draw(rt, "operation") {
			case 8:
				if _, err := other.Exec(`UPDATE meta SET value = value`); err != nil {
					rt.Fatal(err)
				}
			case 0: // a superstep, a pause or a claim
				status = rapid.SampledFrom([]stores.Status{stores.StatusRunning, stores.StatusRunning, stores.StatusPaused}).Draw(rt, "status")
				if rapid.Bool().Draw(rt, "superstep") {
					base = step + 1
				} else {
					segment++
				}
				save()
			default:
				c := storetest.Record(p, rapid.Int64Range(max(1, segment-1), segment).Draw(rt, "segment"), 0, func(c *stores.Call) {
					numbers[c.Segment]++
					c.N, c.Step, c.Ordinal = numbers[c.Segment], rapid.Int64Range(max(0, base-1), base+1).Draw(rt, "step"), rapid.Int64Range(1, 2).Draw(rt, "ordinal")
					c.Status = rapid.SampledFrom([]stores.CallStatus{stores.CallStarted, stores.CallDone, stores.CallUnrecordable, stores.CallPending}).Draw(rt, "status")
					c.Idempotent = rapid.IntRange(0, 3).Draw(rt, "idempotent") == 0
				})
				if err := s.RecordCall(t.Context(), stores.CallWrite{Call: c}); errors.Is(err, stores.ErrConflict) {
					numbers[c.Segment]-- // of a cut-off worker
					continue
				} else if err != nil {
					rt.Fatal(err)
				}
				all = append(all, c)
			}
			h, err := s.Head(t.Context(), p.Key)
			if want := stores.OpenCalls(h, all); err != nil || h.Open != want {
				rt.Fatalf("%d calls are open, want %d (%v)", h.Open, want, err)
			}
		}
	})
}

// TestSpoiledCallDoesNotStopTheRun: a record whose step is no number is passed
// over by what counts the calls.
func TestSpoiledCallDoesNotStopTheRun(t *testing.T) {
	s := create(t, Options{Synchronous: "NORMAL"})
	p := placeOf("r")
	save := func(n int64) {
		t.Helper()
		if err := s.Save(t.Context(), storetest.Step(p, n, func(c *stores.Checkpoint) { c.Base = n })); err != nil {
			t.Fatal(err)
		}
	}
	record := func(n, step int64) {
		t.Helper()
		r := storetest.Record(p, 1, n, func(c *stores.Call) { c.Step, c.Status = step, stores.CallStarted })
		if err := s.RecordCall(t.Context(), stores.CallWrite{Call: r}); err != nil {
			t.Fatal(err)
		}
	}
	save(0)
	record(1, 0)
	if _, err := shell(t, s).Exec(`UPDATE calls SET step = 'odd'`); err != nil {
		t.Fatal(err)
	}
	save(1)
	save(2)
	record(2, 2)
	if h, err := s.Head(t.Context(), p.Key); err != nil || h.Open != 1 {
		t.Errorf("%d calls are open, want 1 (%v)", h.Open, err)
	}
}

// TestCountingUsesTheIndex: what a save and a record count does not grow with
// the calls of the run.
func TestCountingUsesTheIndex(t *testing.T) {
	s := create(t, Options{})
	for name, query := range map[string]string{"head": upsertHead, "changed head": updateHead, "one more": oneMoreOpen, "one less": oneLessOpen} {
		args := make([]any, strings.Count(query, "?"))
		plan := explain(t, s, query, args...)
		if strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN") || !strings.Contains(plan, "step=?") {
			t.Errorf("%s: the plan is\n%s", name, plan)
		}
	}
	if plan := explain(t, s, selectLastCall, "o", "r"); strings.Contains(plan, "TEMP B-TREE") || !strings.Contains(plan, "COVERING INDEX calls_step (owner=? AND run=?)") {
		t.Errorf("the last call: the plan is\n%s", plan)
	}
}
