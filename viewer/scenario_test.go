package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// Scenario 9, 28: an action is bound to the run and the version that was seen.
func TestScenario09ChangedSinceYouLooked(t *testing.T) {
	b := newBench(t)
	b.crash("mail", "order-7")
	b.start("tickets", "order-9")
	s := b.service()
	seen := map[string][]string{}
	for _, run := range []string{"order-7", "order-9"} {
		p := get[Plan](t)(s.Plan(t.Context(), s.Find(run, ""), false))
		seen[run] = []string{p.Version, p.Row.Version}
	}
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("order-7", ""), Action: Resolve, Target: "send.1", NotRun: true}, nil))
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("order-9", ""), Action: Approve, Version: seen["order-9"][1]}, nil))
	for run, versions := range seen {
		for _, v := range versions {
			for _, a := range []Action{Recover, Approve} {
				if run == "order-7" && a == Approve {
					continue
				}
				_, err := s.Act(t.Context(), Request{Ref: s.Find(run, ""), Action: a, Version: v}, nil)
				if p := s.Explain(err); p.Exit() != 4 || p.Run != run {
					t.Errorf("%s of %s at %s: %+v", a, run, v, p)
				}
			}
		}
	}
	if b.hits["email_tickets"] != 2 || b.hits["charge_card"] != 1 {
		t.Errorf("hits %v", b.hits)
	}
}

func TestScenario28TheRunThatWasNamed(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "a")
	b.start("tickets", "b")
	s := b.service()
	rows := get[Page](t)(s.List(t.Context(), Query{})).Rows
	b.start("tickets", "c") // the rows move
	o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: rows[1].Ref, Action: Approve, Target: rows[1].Waiting[0].ID}, nil))
	if o.Run != rows[1].Run || o.Run != "a" {
		t.Errorf("acted on %s", o.Run)
	}
	_, err := s.Act(t.Context(), Request{Ref: Ref{"mem", "default", "gone"}, Action: Approve}, nil)
	if p := s.Explain(err); p.Exit() != 3 || p.Run != "gone" {
		t.Errorf("%+v", p)
	}
	_, err = s.Act(t.Context(), Request{Ref: rows[0].Ref, Action: Approve, Target: "other.1"}, nil)
	if s.Explain(err).Exit() != 4 {
		t.Errorf("%v", err)
	}
}

// Scenario 44: what is secret in a run leaves on no way but reveal.
func TestScenario44Secrets(t *testing.T) {
	b := newBench(t)
	b.flow(engine.NewFlow("leaky").
		Node("a", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
			return engine.State{"password": "CANARY1", "note": "use sk-CANARY0123456789abcdef", "deep": []any{map[string]any{"userToken": "CANARY2"}}}, nil
		})).
		Node("b", engine.Call{Tool: "charge_card", Args: func(engine.State) (any, error) {
			return map[string]any{"secret": "CANARY3", "url": "https://u:CANARY4@x.example/"}, nil
		}}).
		Node("c", engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) {
			return nil, errors.New("dial postgres://app:CANARY5@db: refused")
		})).
		Edge("a", "b").Edge("b", "c"))
	b.start("leaky", "x")
	for _, raw := range []bool{false, true} {
		s := b.service(func(o *Options) { o.Raw = raw })
		ref := s.Find("x", "")
		look := func() {
			for _, v := range []any{
				get[Page](t)(s.List(t.Context(), Query{Check: true})), get[Detail](t)(s.Show(t.Context(), ref)), get[Plan](t)(s.Plan(t.Context(), ref, false)),
				get[Plan](t)(s.Plan(t.Context(), ref, false)).Review, get[[]Call](t)(s.Calls(t.Context(), ref, false)),
				get[[]Event](t)(s.Events(t.Context(), ref, 0)), get[StateView](t)(s.State(t.Context(), ref, -1, false)),
			} {
				if text := asText(t, v); strings.Contains(text, "CANARY") {
					t.Errorf("a secret is shown: %s", text)
				}
			}
		}
		look()
		if st := get[StateView](t)(s.State(t.Context(), ref, -1, false)); st.Masked != 3 {
			t.Errorf("%d masked", st.Masked)
		}
		if st := get[StateView](t)(s.State(t.Context(), ref, -1, true)); !strings.Contains(string(st.JSON), "CANARY1") || st.Masked != 0 {
			t.Errorf("reveal: %s", st.JSON)
		}
		if p := get[Plan](t)(s.Plan(t.Context(), ref, true)); !raw && !strings.Contains(string(p.Review[0].Args), "CANARY3") {
			t.Errorf("reveal: %s", p.Review[0].Args)
		}
		if raw {
			o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve}, nil))
			if strings.Contains(o.Outcome, "CANARY") || o.Status != "failed" {
				t.Errorf("%+v", o)
			}
			look()
		}
	}
}

// Scenario 15: a result that cannot be kept is a call in doubt that says why.
func TestScenario15Unrecordable(t *testing.T) {
	b := newBench(t)
	b.flow(engine.NewFlow("odd").Node("a", engine.Call{Tool: "odd"}))
	if err := b.tools.Add(toolOf("odd", func(context.Context) (any, error) { return func() {}, nil })); err != nil {
		t.Fatal(err)
	}
	_, err := b.runner("worker-1").Run(t.Context(), b.flows.flows["odd"], engine.Start{Key: stores.Key{Run: "x"}})
	s := b.service()
	if s.Explain(err).Exit() != 5 {
		t.Fatal(err)
	}
	p := agree(t, s, "x", InDoubt, Verified)
	if !strings.Contains(p.Row.Why, "odd may have run, but its result could not be kept: json: unsupported type") {
		t.Errorf("%q", p.Row.Why)
	}
	_, err = s.Act(t.Context(), Request{Ref: p.Row.Ref, Action: Recover}, nil)
	if s.Explain(err).Exit() != 5 {
		t.Errorf("%v", err)
	}
}

// A call whose record says that it ran is not asked about as if it might not have.
func TestACallThatRanIsAskedForItsResult(t *testing.T) {
	b := newBench(t)
	b.flow(engine.NewFlow("odd").Node("a", engine.Call{Tool: "odd"}))
	if err := b.tools.Add(toolOf("odd", func(context.Context) (any, error) {
		return nil, &tool.ResultError{Tool: "odd", Reason: "stdout is not one JSON value"}
	})); err != nil {
		t.Fatal(err)
	}
	_, err := b.runner("worker-1").Run(t.Context(), b.flows.flows["odd"], engine.Start{Key: stores.Key{Run: "x"}})
	s := b.service()
	if p := s.Explain(err); p.Exit() != 5 || strings.Contains(p.Message, "may have run") {
		t.Fatal(p)
	}
	p := agree(t, s, "x", InDoubt, Verified)
	if w := p.Row.Waiting; len(w) != 1 || !w[0].Ran || w[0].Doubt() != "what did odd return?" {
		t.Errorf("%+v", w)
	}
	if strings.Contains(p.Undecided, "may or may not") || !p.InDoubt[0].Ran || !strings.Contains(p.Review[0].IfNo, "a second time") {
		t.Errorf("%q, %+v", p.Undecided, p.Review)
	}
}

// A row's JSON is the contract of the command line.
func TestRowJSON(t *testing.T) {
	r := Row{
		Store: "demo.db", Owner: "default", Run: "order-7", Flow: "tickets", Kind: "flow", Status: "running", Badges: []Badge{InDoubt, Recovered},
		Verdict: Verified, Step: 2, Segment: 1, At: []string{"send"}, Waiting: []Waiting{{Type: WaitInDoubt, ID: "send.1", Tool: "email_tickets", Why: "…"}},
		Why: "one line: why it is not moving", Updated: epoch, Next: "x", Version: "x", Actions: []Offer{{}},
	}
	got, err := json.Marshal(r)
	want := `{"store":"demo.db","owner":"default","run":"order-7","flow":"tickets","kind":"flow","status":"running",` +
		`"badges":["in-doubt","recovered"],"verdict":"verified","step":2,"segment":1,"at":["send"],` +
		`"waiting":[{"type":"in-doubt","id":"send.1","tool":"email_tickets","why":"…"}],` +
		`"why":"one line: why it is not moving","updated":"2026-01-02T03:04:05.678Z","lease":null}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}

func TestVerifyCancelsAndTellsProgress(t *testing.T) {
	b := newBench(t)
	b.many(20, "r")
	s := b.service()
	last := 0
	rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{Progress: func(done, total int) {
		if done != last+1 || total != 20 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}}))
	if rep.Runs != 20 || rep.Verified != 20 || rep.Findings == nil || len(rep.Rows) != 20 {
		t.Errorf("%+v", rep)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.Verify(ctx, VerifyRequest{Progress: func(int, int) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestRecoverAllAndStart(t *testing.T) {
	b := newBench(t)
	b.crash("mail", "doubt")
	b.abandon("cut")
	b.start("tickets", "paused")
	s := b.service()
	all := func(o RecoverAllOptions) map[string]RecoverAllResult {
		return get[map[string]RecoverAllResult](t)(s.RecoverAll(t.Context(), "mem", "*", o))
	}
	res := all(RecoverAllOptions{})
	if len(res) != 3 || res["default/cut"].Outcome.Status != "done" || res["default/paused"].Outcome.Status != "paused" || res["default/doubt"].Problem.Exit() != 5 {
		t.Errorf("%s", asText(t, res))
	}
	if res := all(RecoverAllOptions{RerunInDoubt: true}); len(res) != 2 || res["default/doubt"].Outcome.Status != "done" {
		t.Errorf("%s", asText(t, res))
	}
	start := StartRequest{Run: "new", Flow: b.flows.flows["plain"], State: json.RawMessage(`{"n":9007199254740993}`)}
	o := get[Outcome](t)(s.Start(t.Context(), start, nil))
	if o.Status != "done" || o.Run != "new" {
		t.Errorf("%+v", o)
	}
	if st := get[StateView](t)(s.State(t.Context(), s.Find("new", ""), 0, false)); string(st.JSON) != `{"n":9007199254740993}` {
		t.Errorf("%s", st.JSON)
	}
	if _, err := s.Start(t.Context(), start, nil); s.Explain(err).Exit() != 4 {
		t.Errorf("%v", err)
	}
}

// Scenario 36: what is shown scrubbed can still be acted on.
func TestScenario36HostileNames(t *testing.T) {
	b := newBench(t)
	b.flow(engine.NewFlow("evil").
		Node("p\x1b[2J", engine.Call{Tool: "charge_card", Args: func(engine.State) (any, error) { return map[string]any{"a\u202e": "\x1b]52;c;x\a"}, nil }}).
		Node("q\u009b", engine.Interrupt{Key: "k\x07", Choices: []string{"y\x1b", "n"}, Prompt: func(engine.State) (string, error) { return "\x1b[10A really?", nil }}).
		Edge("p\x1b[2J", "q\u009b"))
	b.start("evil", "r\u202e")
	s := b.service()
	ref := s.Find("r\u202e", "")
	act := func(r Request) Outcome {
		t.Helper()
		row := get[Page](t)(s.List(t.Context(), Query{})).Rows[0]
		p := get[Plan](t)(s.Plan(t.Context(), ref, false))
		d := get[Detail](t)(s.Show(t.Context(), ref))
		for _, v := range []any{row, p, p.Review, row.Actions, d, d.Flow} {
			if text := asText(t, v); strings.ContainsAny(text, "\x1b\u009b\u202e\a") || strings.Contains(text, `\u001b`) {
				t.Errorf("hostile: %s", text)
			}
		}
		r.Ref, r.Target = row.Ref, row.Waiting[0].ID
		return get[Outcome](t)(s.Act(t.Context(), r, nil))
	}
	if o := act(Request{Action: Approve}); o.Status != "paused" {
		t.Errorf("%+v", o)
	}
	if o := act(Request{Action: Answer, Value: json.RawMessage(`"y␛"`)}); o.Status != "done" {
		t.Errorf("%+v", o)
	}
	if st := get[stores.Checkpoint](t)(b.store.Latest(t.Context(), stores.Key{Owner: "default", Run: "r\u202e"})); !strings.Contains(string(st.Payload), `"y\u001b"`) {
		t.Errorf("the stored answer is %s", st.Payload)
	}
}
