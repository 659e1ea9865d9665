package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// spoiling is a store whose rows were tampered with between it and the reader:
// what SQL does to a database, for a store that has none.
type spoiling struct {
	full
	checkpoint func(*stores.Checkpoint)
	calls      func([]stores.Call) []stores.Call
	head       func(*stores.Head)
}

func (s *spoiling) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	rows, err := s.full.History(ctx, k, q)
	for i := range rows {
		if s.checkpoint != nil {
			s.checkpoint(&rows[i])
		}
	}
	return slices.DeleteFunc(rows, func(c stores.Checkpoint) bool { return c.Step < 0 }), err
}

func (s *spoiling) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	rows, err := s.full.Calls(ctx, k, since)
	if s.calls != nil {
		rows = s.calls(rows)
	}
	return rows, err
}

func (s *spoiling) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	h, err := s.full.Head(ctx, k)
	if s.head != nil {
		s.head(&h)
	}
	return h, err
}

// Scenario 38 on every store, memory included: the verdict does not depend on
// where the rows lie.
func TestScenario38OnEveryStore(t *testing.T) {
	tests := []struct {
		name  string
		spoil spoiling
		want  string
	}{
		{"state changed", spoiling{checkpoint: func(c *stores.Checkpoint) {
			if c.Step == 2 {
				c.Payload = bytes.ReplaceAll(c.Payload, []byte("Hamlet"), []byte("Macbeth"))
			}
		}}, "checkpoint step=2 n=0 forged"},
		{"owner changed", spoiling{checkpoint: func(c *stores.Checkpoint) {
			if c.Step == 2 {
				c.Owner = "eve"
			}
		}}, "checkpoint step=2 n=0 forged"},
		{"step left out", spoiling{checkpoint: func(c *stores.Checkpoint) {
			if c.Step == 1 {
				c.Step = -1
			}
		}}, "checkpoint step=1 n=0 gap"},
		{"call record left out", spoiling{calls: func(rows []stores.Call) []stores.Call {
			return slices.DeleteFunc(rows, func(c stores.Call) bool { return c.N == 3 })
		}}, "call step=1 n=3 gap"},
		{"call records swapped", spoiling{calls: func(rows []stores.Call) []stores.Call {
			for i := range rows {
				if rows[i].N == 4 {
					rows[i].Node, rows[i].Tool = "send", "email_tickets"
				}
			}
			return rows
		}}, "call step=1 n=4 forged"},
		{"head put back", spoiling{head: func(h *stores.Head) { h.Step = 1 }}, "head step=1 n=0 forged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everyStore(t, func(t *testing.T, s full) {
				w := newWorld()
				if _, err := runner(t, s, w.ticketTools()).Run(ctx, tickets(), start("a")); err != nil {
					t.Fatal(err)
				}
				spoiled := tt.spoil
				spoiled.full = s
				rep, err := engine.Verify(ctx, &spoiled, testKeys(t), key("a"))
				if err != nil || len(rep.Findings) != 1 {
					t.Fatalf("%+v, %v", rep, err)
				}
				f := rep.Findings[0]
				if got := fmt.Sprintf("%s step=%d n=%d %s", f.Record, f.Step, f.N, f.Verdict); got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
				_, err = runner(t, &spoiled, w.ticketTools()).Recover(ctx, tickets(), key("a"), engine.RecoverOptions{RerunInDoubt: true, Takeover: true})
				if !errors.Is(err, engine.ErrCheckpointStoreCorrupt) {
					t.Errorf("recover: %v", err)
				}
				verified(t, s, "a")
			})
		})
	}
}

// Scenario 43 on every store: a run that was begun under one key and went on
// under the next verifies with both.
func TestScenario43OnEveryStore(t *testing.T) {
	everyStore(t, func(t *testing.T, s full) {
		ring := func(names ...string) *seal.Keyring {
			var keys []seal.Key
			for _, n := range names {
				k, err := seal.NewKey([]byte(strings.Repeat(n, 32)))
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, k)
			}
			return seal.NewKeyring(keys[0], keys[1:]...)
		}
		w := newWorld()
		tools := tool.NewRegistry(w.tool("hold_seats"), w.tool("charge_card", needsOK), w.tool("email_tickets"))
		with := func(r *seal.Keyring) *engine.Runner {
			return runner(t, s, tools, func(c *engine.Config) { c.Keys = r })
		}
		if _, err := with(ring("1")).Run(ctx, tickets(), start("a")); err != nil {
			t.Fatal(err)
		}
		approve := engine.Decide{Type: engine.DecideApprove, By: "ana"}
		if _, err := with(ring("2")).Resume(ctx, tickets(), key("a"), approve); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("with the new key only: %v", err)
		}
		if _, err := with(ring("2", "1")).Resume(ctx, tickets(), key("a"), approve); err != nil {
			t.Fatal(err)
		}
		for want, r := range map[engine.Verdict]*seal.Keyring{
			engine.Verified: ring("2", "1"), engine.UnknownKey: ring("2"), engine.NoKey: nil,
		} {
			if rep, err := engine.Verify(ctx, s, r, key("a")); err != nil || rep.Verdict != want {
				t.Errorf("%s, %v, want %s", rep.Verdict, err, want)
			}
		}
	})
}

// fleeting is a store whose run is deleted whenever its list entry or its newest
// checkpoint is asked for, and there again when its rows are read.
type fleeting struct{ full }

func (fleeting) Latest(context.Context, stores.Key) (stores.Checkpoint, error) {
	return stores.Checkpoint{}, stores.ErrNotFound
}

func (fleeting) Head(context.Context, stores.Key) (stores.Head, error) {
	return stores.Head{}, stores.ErrNotFound
}

// A run that comes and goes while it is read is not called tampered with.
func TestARunThatComesAndGoes(t *testing.T) {
	s := newStore()
	if _, err := runner(t, s, newWorld().ticketTools()).Run(ctx, tickets(), start("a")); err != nil {
		t.Fatal(err)
	}
	if r, err := engine.Verify(ctx, fleeting{s}, testKeys(t), key("a")); !errors.Is(err, engine.ErrCheckpointConflict) {
		t.Errorf("%+v, %v", r, err)
	}
}
