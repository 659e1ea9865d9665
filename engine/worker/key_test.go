package worker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// Of each run that its key does not fit a worker says so, once, and writes nothing
// to it: not to one of another key, nor to one that another key went on with.
func TestAKeyThatDoesNotFitWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		tools := tool.NewRegistry(w.tool("hold_seats", needsOK), w.tool("charge_card"), w.tool("email_tickets"))
		old, theirs := secret(t, "use-a-secret-from-your-vault-32b"), secret(t, strings.Repeat("another secret ", 3))
		approved := func(run string, keys *seal.Keyring) { // and nobody spent it yet
			t.Helper()
			r, err := engine.New(engine.Config{Store: s, Keys: keys, Tools: tools, Worker: "first"})
			if err != nil {
				t.Fatal(err)
			}
			if run == "rotated" {
				_, err = r.Recover(context.Background(), tickets(), key(run), engine.RecoverOptions{})
			} else {
				_, err = r.Run(context.Background(), tickets(), engine.Start{Key: key(run)})
			}
			if err == nil {
				_, err = r.Record(context.Background(), key(run), engine.Decide{Type: engine.DecideApprove, By: "ana"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		approved("own", seal.NewKeyring(old))
		approved("theirs", seal.NewKeyring(theirs))
		crash(t, s, tools, "rotated", afterStart, true)
		approved("rotated", seal.NewKeyring(theirs, old))
		before := map[string]string{"theirs": allOf(t, s, "theirs"), "rotated": allOf(t, s, "rotated")}
		sw, log := sweeper(t, s, tools) // its key is the old one
		defer running(t, sw)()
		time.Sleep(time.Hour)
		w.home(t, s, "own")
		for run, was := range before {
			log.wantMsgs(t, run, "key does not fit")
			l := log.about(run, slog.LevelWarn)[0]
			if text := l.attrs["error"].String(); !strings.Contains(text, run) || !strings.Contains(text, "key "+theirs.ID()+", which was not given") || l.attrs["hint"].String() == "" {
				t.Errorf("%s: %s", run, text)
			}
			if is := allOf(t, s, run); is != was {
				t.Errorf("%s was written to:\n%s\nwas\n%s", run, is, was)
			}
		}
	})
}

func secret(t *testing.T, text string) seal.Key {
	t.Helper()
	k, err := seal.NewKey([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// allOf is all that a store has of a run.
func allOf(t *testing.T, s *flaky, run string) string {
	t.Helper()
	ctx, k := context.Background(), key(run)
	history, err := s.History(ctx, k, stores.HistoryQuery{})
	calls, calling := s.Calls(ctx, k, 0)
	events, logging := s.Events(ctx, k, 0, 0)
	h, heading := s.Head(ctx, k)
	text, marshalling := json.Marshal([]any{history, calls, events, h})
	if err := errors.Join(err, calling, logging, heading, marshalling); err != nil {
		t.Fatal(err)
	}
	return string(text)
}
