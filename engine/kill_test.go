package engine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// The test binary is a worker when it is called as `worker STORE FILE RUN`.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "worker" {
		if err := worker(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func worker(path, file, run string) error {
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := engine.New(engine.Config{Store: s, Keys: testKeys(&testing.T{}), Tools: fileTools(file), LeaseTTL: time.Minute})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = r.Run(ctx, tickets(), start(run))
	fmt.Println("finished")
	return err
}

// fileTools append what they did to a file, the world that outlives a worker.
func fileTools(file string) *tool.Registry {
	reg := tool.NewRegistry()
	for _, name := range []string{"hold_seats", "charge_card", "email_tickets"} {
		t := tool.Tool{Name: name, Run: func(_ context.Context, in tool.Input) (any, error) {
			f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			_, err = fmt.Fprintf(f, "%s %s\n", in.Run, name)
			return name + " did it", errors.Join(err, f.Close())
		}}
		if err := reg.Add(t); err != nil {
			panic(err)
		}
	}
	return reg
}

// A worker process is killed with SIGKILL at random moments of the tickets
// flow. Each run is then brought home; in doubt, the file says what happened.
// No tool acts twice for a run, and every run ends done and verifies.
func TestKillWorkers(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	dir := t.TempDir()
	path, file := filepath.Join(dir, "runs.db"), filepath.Join(dir, "world.txt")
	s, err := sqlite.Open(ctx, path, sqlite.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	span := time.Hour
	for i := range 5 {
		span = min(span, runWorker(t, path, file, fmt.Sprint("whole-", i), 0))
	}
	seen := map[string]int{}
	for i := range kills {
		run := fmt.Sprint("order-", i)
		runWorker(t, path, file, run, max(1, rand.N(2*span)))
		seen[home(t, s, file, run)]++
	}
	t.Logf("%d kills within %s: %v", kills, span, seen)
	if hit := seen["recovered"] + seen["resolved"]; hit < kills/10 {
		t.Errorf("only %d kills hit a run in the middle: the test showed little", hit)
	}
	world, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range kills {
		for _, name := range []string{"hold_seats", "charge_card", "email_tickets"} {
			if n := strings.Count(string(world), fmt.Sprintf("order-%d %s\n", i, name)); n != 1 {
				t.Errorf("order-%d: %s acted %d times, want once", i, name, n)
			}
		}
	}
}

// runWorker runs a worker process and kills it after the delay, counted from
// when it starts to work; 0 lets it finish. It returns how long it worked.
func runWorker(t *testing.T, path, file, run string, after time.Duration) time.Duration {
	t.Helper()
	cmd := exec.Command(os.Args[0], "worker", path, file, run)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("worker: %q, %v, %s", line, err, &stderr)
	}
	begin := time.Now()
	if after > 0 {
		timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
		defer timer.Stop()
	}
	_, _ = lines.ReadString('\n') // until it has finished, or was killed
	worked := time.Since(begin)
	if err := cmd.Wait(); err != nil && after == 0 {
		t.Fatalf("worker: %v, %s", err, &stderr)
	}
	return worked
}

// home brings one run home and says how.
func home(t *testing.T, s full, file, run string) string {
	t.Helper()
	r := runner(t, s, fileTools(file), named("second"))
	how := "recovered"
	expireLease(t, s, run)
	_, err := r.Recover(ctx, tickets(), key(run), engine.RecoverOptions{})
	var e *engine.Error
	switch {
	case errors.Is(err, engine.ErrCheckpointNotFound):
		how = "not started"
		_, err = r.Run(ctx, tickets(), start(run))
	case errors.Is(err, engine.ErrRecoveryNeedsDecision) && errors.As(err, &e):
		how = "resolved"
		for _, c := range e.Calls {
			res := engine.Resolution{Call: c.ID, By: "olga", NotRun: true}
			if world, _ := os.ReadFile(file); strings.Contains(string(world), run+" "+c.Tool+"\n") {
				res.NotRun, res.Result = false, json.RawMessage(fmt.Sprintf("%q", c.Tool+" did it"))
			}
			if err := r.Resolve(ctx, key(run), res); err != nil {
				t.Fatal(err)
			}
		}
		_, err = r.Recover(ctx, tickets(), key(run), engine.RecoverOptions{})
	case errors.Is(err, engine.ErrCheckpointConflict) && strings.Contains(err.Error(), "it has ended"):
		how, err = "finished before", nil
	}
	if err != nil {
		t.Fatalf("%s: %v", run, err)
	}
	c, b := mustLatest(t, s, run)
	want := `{"charge":"charge_card did it","mail":"email_tickets did it","note":"hold_seats did it","seats":2,"show":"Hamlet"}`
	if c.Status != stores.StatusDone || string(b.State) != want {
		t.Errorf("%s is %s with %s", run, c.Status, b.State)
	}
	verified(t, s, run)
	return how
}
