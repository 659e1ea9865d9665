package views_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

const payoutKey = "use-a-secret-from-your-vault-32b"

var payout = stores.Key{Owner: stores.DefaultOwner, Run: "payout-7"}

// TestOperatorProgramApproves runs the example in a terminal: it shows a run
// that a worker left waiting, and brings it on with its own flow and tool.
func TestOperatorProgramApproves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, r := payoutWorker(t, dir)
	flow := engine.NewFlow("payout").Node("pay", engine.Call{Tool: "pay", Into: "receipt"})
	res, err := r.Run(t.Context(), flow, engine.Start{Key: payout})
	if err != nil || res.Status != stores.StatusPaused {
		t.Fatal(res.Status, err)
	}
	x := openTerminalIn(t, dir, "operator")
	x.Sees("payout-7")
	x.Keys("a")
	x.Sees("wants your approval")
	time.Sleep(time.Second) // a sheet takes no key before it was seen
	x.Keys("\r")
	x.Sees("approved; the run is done") // not only saved: a key would come while it is under way
	x.Keys("\x03")
	if err := x.restored(); err != nil {
		t.Error(err)
	}
	if strings.Contains(x.Text(), payoutKey) {
		t.Error("the key was printed")
	}
	if strings.Contains(x.Text(), "flowtui approve") {
		t.Error("it shows a command line that does not have its flows")
	}
	last, err := store.Latest(t.Context(), payout)
	if err != nil || last.Status != stores.StatusDone {
		t.Fatal(last.Status, err)
	}
	b, err := engine.DecodeCheckpoint(last)
	if err != nil || !bytes.Contains(b.State, []byte(`"receipt":"receipt `)) {
		t.Errorf("%s %v", b.State, err)
	}
}

func TestOperatorProgramNeedsItsKey(t *testing.T) {
	t.Parallel()
	x := openTerminalIn(t, t.TempDir(), "operator")
	stuck := time.AfterFunc(10*time.Second, func() { _ = x.Cmd.Process.Kill() })
	defer stuck.Stop()
	if err := x.Cmd.Wait(); err == nil {
		t.Error("it ran without its key file")
	}
	x.Sees("payouts.key: no such file")
}

// payoutWorker is a worker on a new store, whose tool must not run.
func payoutWorker(t *testing.T, dir string) (*sqlite.Store, *engine.Runner) {
	t.Helper()
	path := filepath.Join(dir, "payouts.key")
	if err := os.WriteFile(path, []byte(payoutKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := seal.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "payouts.db"), sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	never := func(context.Context, tool.Input) (any, error) { return nil, errors.New("the worker ran the tool") }
	r, err := engine.New(engine.Config{Store: store, Keys: keys, Tools: tool.NewRegistry(tool.Tool{Name: "pay", Approval: tool.ApprovalRequired, Run: never})})
	if err != nil {
		t.Fatal(err)
	}
	return store, r
}
