package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// work sweeps once and returns what became of the runs, and the log.
func work(t *testing.T, s *Service, o WorkOptions) (map[string]RecoverAllResult, string) {
	t.Helper()
	var log bytes.Buffer
	o.Once, o.Log = true, slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{ReplaceAttr: s.LogAttr}))
	return get[map[string]RecoverAllResult](t)(s.Work(t.Context(), "", o)), log.String()
}

func TestWorkOnce(t *testing.T) {
	b := newBench(t)
	b.abandon("left")
	b.crash("tickets", "doubtful")
	b.start("tickets", "paused")
	results, log := work(t, b.service(), WorkOptions{})
	if len(results) != 2 || results["default/left"].Outcome.Status != "done" || results["default/doubtful"].Problem.Exit() != 5 {
		t.Errorf("%s\n%s", asText(t, results), log)
	}
}

// Flows bring their own tools, though these have the same names.
func TestWorkTakesTheFlowsOwnTools(t *testing.T) {
	b := newBench(t)
	flows := toolsOf{}
	for _, name := range []string{"one", "two"} {
		f := engine.NewFlow(name).Node("say", engine.Call{Tool: "say", Into: "said"})
		if _, err := b.runner("first").Run(t.Context(), f, engine.Start{Key: stores.Key{Run: name}}); !errors.Is(err, engine.ErrRefused) {
			t.Fatal(err)
		}
		flows[name] = flowMap{flows: map[string]*engine.Flow{name: f}, tools: tool.NewRegistry(toolOf("say", func(context.Context) (any, error) { return name, nil }))}
	}
	s := b.service(func(o *Options) { o.Flows = flows })
	if results, log := work(t, s, WorkOptions{}); len(results) != 2 {
		t.Fatalf("%s\n%s", asText(t, results), log)
	}
	for name := range flows {
		c := get[stores.Checkpoint](t)(b.store.Latest(t.Context(), stores.Key{Owner: "default", Run: name}))
		if body := get[engine.Checkpoint](t)(engine.DecodeCheckpoint(c)); string(body.State) != fmt.Sprintf(`{"said":%q}`, name) {
			t.Errorf("%s: %s", name, body.State)
		}
	}
}

type toolsOf map[string]flowMap

func (m toolsOf) Flow(name string) (*engine.Flow, *tool.Registry, error) { return m[name].Flow(name) }
func (m toolsOf) Names() []string                                        { return nil }

// What may not be written, or cannot be verified, is refused before anything runs.
func TestWorkRefuses(t *testing.T) {
	b := newBench(t)
	b.abandon("left")
	s := b.service(func(o *Options) { o.ReadOnly = true })
	if _, err := s.Work(t.Context(), "", WorkOptions{}); s.Explain(err).Exit() != 7 {
		t.Errorf("read-only: %v", err)
	}
	for name, keys := range map[string]*seal.Keyring{"another key": seal.NewKeyring(key(t, "o")), "no key, in one process": nil} {
		results, _ := work(t, b.service(func(o *Options) { o.Keys = keys }), WorkOptions{})
		if p := results["default/left"].Problem; p == nil || p.Exit() != 7 {
			t.Errorf("%s: %s", name, asText(t, results))
		}
	}
}

// A worker acts for its own principal, and for the users of all runs.
func TestWorkActsForItsPrincipal(t *testing.T) {
	b := newBench(t)
	for run, id := range map[string]stores.Identity{"none": {User: "ann"}, "own": {User: "bob", Principal: "team-a"}, "other": {Principal: "team-b"}} {
		ctx, cancel := context.WithCancel(t.Context())
		f := engine.NewFlow("plain").Node("one", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
			cancel()
			return nil, nil
		}))
		if _, err := b.runner("first").Run(ctx, f, engine.Start{Key: stores.Key{Run: run}, Identity: id}); err == nil {
			t.Fatal("the worker did not die")
		}
		cancel()
	}
	s := b.service(func(o *Options) { o.Identity = stores.Identity{User: "ada", Principal: "team-a"} })
	results, log := work(t, s, WorkOptions{})
	if len(results) != 2 || results["default/none"].Outcome == nil || results["default/own"].Outcome == nil || !strings.Contains(log, `principal \"team-b\"`) {
		t.Errorf("%s\n%s", asText(t, results), log)
	}
}

// A run that was seen at a later step is not done again; and what the worker
// reached itself counts as seen.
func TestWorkRefusesWhatWasSetBack(t *testing.T) {
	b := newBench(t)
	b.abandon("left")
	n := notes{}
	s := b.service(func(o *Options) { o.Memory = n })
	if results, _ := work(t, s, WorkOptions{}); results["default/left"].Outcome == nil {
		t.Fatal(asText(t, results))
	}
	last := get[stores.Checkpoint](t)(b.store.Latest(t.Context(), stores.Key{Owner: "default", Run: "left"}))
	if got := n[last.Incarnation+"/left"]; got != last.Step || last.Step < 2 {
		t.Errorf("step %d is remembered, the run is done at step %d", got, last.Step)
	}
	b.abandon("set-back")
	early := get[stores.Checkpoint](t)(b.store.Latest(t.Context(), stores.Key{Owner: "default", Run: "set-back"}))
	n[early.Incarnation+"/set-back"] = 42
	results, log := work(t, s, WorkOptions{})
	if p := results["default/set-back"].Problem; p == nil || p.Exit() != 6 || !strings.Contains(log, "--forget-seen") {
		t.Errorf("%s\n%s", asText(t, results), log)
	}
	if now := get[stores.Checkpoint](t)(b.store.Latest(t.Context(), early.Key)); now.Step != early.Step {
		t.Errorf("a run that was set back went on to step %d", now.Step)
	}
}

// Nothing leaves in a log that would not leave in a list.
func TestLogAttr(t *testing.T) {
	b := newBench(t)
	for _, raw := range []bool{false, true} {
		s := b.service(func(o *Options) { o.Raw = raw })
		var log bytes.Buffer
		l := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{ReplaceAttr: s.LogAttr}))
		l.Info("told", "run", "a\u202eb", "error", errors.New("password=hunter2canary \x1b[2J"), "replayed", []string{"x\u202e"}, "n", 7)
		var line struct {
			Run, Error string
			Replayed   []string
			N          int
		}
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line.Error, "canary") || line.N != 7 {
			t.Errorf("raw %t: %s", raw, &log)
		}
		if hostile := strings.ContainsAny(line.Run+line.Error+line.Replayed[0], "\u202e\x1b"); hostile != raw {
			t.Errorf("raw %t: %+v", raw, line)
		}
	}
}

// Whether a store that cannot be opened may come back is not lost, though only
// what may be told of it is.
func TestAttachKeepsTheClassOfAnError(t *testing.T) {
	refused := Format{
		Name:  "far",
		Sniff: func(context.Context, string) (bool, string, error) { return true, "", nil },
		Open: func(context.Context, string, bool) (stores.Store, error) {
			return nil, &stores.OpError{Op: "open", Store: "db?password=canary-hunter2", Class: stores.ErrUnavailable}
		},
	}
	_, err := Attach(t.Context(), []string{"x"}, Options{Formats: Registry{refused}})
	if !errors.Is(err, stores.ErrUnavailable) || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
	if p := new(Service).Explain(err); p.Exit() != 1 || strings.Contains(p.Message, "canary") || p.Hint == "" {
		t.Errorf("%+v", p)
	}
}

// A worker with the wrong key says so at once, also when there is nothing to do;
// a row that was changed says nothing about the key.
func TestWorkSaysThatTheKeyDoesNotFit(t *testing.T) {
	b := newBench(t)
	b.start("plain", "done")
	if _, log := work(t, b.service(), WorkOptions{}); strings.Contains(log, "does not fit") {
		t.Errorf("the right key: %s", log)
	}
	other := seal.NewKeyring(key(t, "x"))
	s := b.service(func(o *Options) { o.Keys = other })
	if _, log := work(t, s, WorkOptions{}); !strings.Contains(log, `"level":"WARN","msg":"key does not fit","why":"the key does not fit the store: its runs are signed with key `+b.keys.ID()+`, and this is key `+other.ID()+`","hint":"give the key`) {
		t.Errorf("another key: %s", log)
	}
	if i := s.Stores()[0]; !i.Unfit || !strings.HasSuffix(i.Key, "does not fit") {
		t.Errorf("%+v", i)
	}
	s, w := b.tampered()
	w.head = func(h *stores.Head) { h.Step++ }
	get[Page](t)(s.List(t.Context(), Query{}))
	if i := s.Stores()[0]; i.Unfit || i.Key != "key "+b.keys.ID()[:4] {
		t.Errorf("a changed row: %+v", i)
	}
	if _, log := work(t, s, WorkOptions{}); strings.Contains(log, "does not fit") {
		t.Errorf("a changed row: %s", log)
	}
}

// Nobody asked for a run that is held at a call that is not idempotent when all
// are recovered; by its name it is tried again.
func TestRecoverAllLeavesWhatIsHeld(t *testing.T) {
	b := newBench(t)
	f := engine.NewFlow("held").Node("load", engine.Call{Tool: "fetch"}).HoldOnError()
	b.flow(f)
	if _, err := b.runner("worker-1").Run(t.Context(), f, engine.Start{Key: stores.Key{Owner: "default", Run: "h-1"}}); !errors.Is(err, engine.ErrHeld) {
		t.Fatal(err)
	}
	s := b.service()
	for _, opts := range []RecoverAllOptions{{}, {Shown: map[Ref]string{s.Find("h-1", ""): b.row(s, "h-1").Version}}} {
		all := get[map[string]RecoverAllResult](t)(s.RecoverAll(t.Context(), "", "", opts))
		if p := all["h-1"].Problem; p == nil || !strings.Contains(p.Message, "held at load.1") || !strings.Contains(p.Hint, "recover this run by name") || b.hits["fetch"] != 1 {
			t.Errorf("%+v, tried %d times", p, b.hits["fetch"])
		}
	}
	if _, err := s.Act(t.Context(), Request{Ref: s.Find("h-1", ""), Action: Recover}, nil); !errors.Is(err, engine.ErrHeld) || b.hits["fetch"] != 2 {
		t.Errorf("by name: %v, tried %d times", err, b.hits["fetch"])
	}
}
