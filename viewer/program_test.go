package viewer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// program is a program of one's own on the bench's store.
func (b *bench) program(flows ...string) Program {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "prod.key")
	if err := os.WriteFile(path, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		b.t.Fatal(err)
	}
	p := Program{
		Open:    func(context.Context, bool) (stores.Store, error) { return b.store, nil },
		KeyFile: path, Tools: b.tools,
	}
	for _, name := range flows {
		p.Flows = append(p.Flows, b.flows.flows[name])
	}
	return p
}

func TestProgramActsWithItsOwnFlowsAndTools(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.start("approval", "trip-2")
	p := b.program("tickets")
	p.Production = true
	s := get[*Service](t)(p.Attach(t.Context()))
	if st := s.Stores(); len(st) != 1 || !st[0].Production || st[0].ReadOnly || !strings.HasSuffix(st[0].Key, " ok") {
		t.Errorf("%+v", st)
	}
	r := Request{Ref: s.Find("order-9", ""), Action: Approve}
	if line := s.Command(r); line != "" {
		t.Errorf("a command line that would not find the flows: %q", line)
	}
	o := get[Outcome](t)(s.Act(t.Context(), r, nil))
	if o.Status != "done" || b.hits["charge_card"] != 1 {
		t.Errorf("%+v, %d charges", o, b.hits["charge_card"])
	}
	events := asText(t, get[[]Event](t)(s.Events(t.Context(), r.Ref, 0)))
	if who := systemUser(); who == "" || !strings.Contains(events, `"by": "`+who+`"`) {
		t.Errorf("the log does not name %q: %s", who, events)
	}

	other := Request{Ref: s.Find("trip-2", ""), Action: Answer, Value: []byte(`"yes"`)}
	_, err := s.Act(t.Context(), other, nil)
	problem := s.Explain(err)
	if problem.Code != "refused" || problem.Message != `run "trip-2": this program does not have flow "approval"` || problem.Hint != "open the store with a program that has it" {
		t.Errorf("%+v", problem)
	}
	plan := get[Plan](t)(s.Plan(t.Context(), other.Ref, false))
	if plan.Blocked == nil || "run \"trip-2\": "+*plan.Blocked != problem.Message || plan.Hint != problem.Hint {
		t.Errorf("%+v", plan.Blocked)
	}
}

func TestProgramThatOnlyLooks(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	p := b.program("tickets")
	asked := false
	p.ReadOnly = true
	p.Open = func(_ context.Context, readOnly bool) (stores.Store, error) { asked = readOnly; return b.store, nil }
	s := get[*Service](t)(p.Attach(t.Context()))
	_, err := s.Act(t.Context(), Request{Ref: s.Find("order-9", ""), Action: Approve}, nil)
	if problem := s.Explain(err); problem.Code != "refused" || !strings.Contains(problem.Message, "this program only looks") {
		t.Errorf("%+v", problem)
	}
	if !asked || b.hits["charge_card"] != 0 {
		t.Error("the store was opened for writing, or the tool ran")
	}

	p = b.program("tickets")
	p.KeyFile = ""
	s = get[*Service](t)(p.Attach(t.Context()))
	if _, err := s.Act(t.Context(), Request{Ref: s.Find("order-9", ""), Action: Approve}, nil); s.Explain(err).Code != "refused" {
		t.Error("without a key:", err)
	}
	if r := b.row(s, "order-9"); !slices.Contains(r.Badges, NoKey) {
		t.Errorf("%v", r.Badges)
	}
}

// downStore cannot be read, and tells when it is closed.
type downStore struct {
	stores.Store
	info   error
	closed bool
}

func (c *downStore) Info(context.Context) (stores.Info, error) { return stores.Info{}, c.info }
func (c *downStore) Close() error                              { c.closed = true; return nil }

func TestProgramsThatCannotWork(t *testing.T) {
	b := newBench(t)
	down := errors.New("the store is down")
	broken := &downStore{info: down}
	for name, c := range map[string]struct {
		change func(*Program)
		want   string
	}{
		"no store":        {func(p *Program) { p.Open = nil }, "set Program.Open"},
		"two keys":        {func(p *Program) { p.KeyEnv = "X" }, "KeyFile or Program.KeyEnv"},
		"no key file":     {func(p *Program) { p.KeyFile = filepath.Join(t.TempDir(), "none") }, "no such file"},
		"no variable":     {func(p *Program) { p.KeyFile, p.KeyEnv = "", "FLOWTUI_TEST_NO_SUCH_KEY" }, "FLOWTUI_TEST_NO_SUCH_KEY: it is not set"},
		"a flow twice":    {func(p *Program) { p.Flows = append(p.Flows, p.Flows[0]) }, `two flows are called "tickets"`},
		"no flow at all":  {func(p *Program) { p.Flows = append(p.Flows, engine.NewFlow("empty")) }, "it has no nodes"},
		"an open failed":  {func(p *Program) { p.Open = func(context.Context, bool) (stores.Store, error) { return nil, down } }, "the store is down"},
		"a store is down": {func(p *Program) { p.Open = func(context.Context, bool) (stores.Store, error) { return broken, nil } }, "the store is down"},
	} {
		p := b.program("tickets")
		c.change(&p)
		s, err := p.Attach(t.Context())
		if err == nil || s != nil {
			t.Errorf("%s: attached", name)
			continue
		}
		if problem, ok := errors.AsType[Problem](err); ok {
			err = errors.New(problem.Message + " " + problem.Hint)
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if !broken.closed {
		t.Error("a store that could not be used was left open")
	}
}

func TestPlanSaysThatTheStateDoesNotFit(t *testing.T) {
	type trip struct {
		Seats int `json:"seats"`
	}
	b := newBench(t)
	flow := func() *engine.Flow { return engine.NewFlow("trip").Node("ask", engine.Interrupt{Key: "seats"}) }
	b.flow(flow().Initial(engine.State{"seats": "two"}))
	b.start("trip", "trip-9")
	b.flow(flow().State(trip{}))
	s := b.service()
	plan := get[Plan](t)(s.Plan(t.Context(), s.Find("trip-9", ""), false))
	want := `its state does not fit the state type viewer.trip of flow "trip": seats: want a whole number (int), found a string`
	if plan.Blocked == nil || *plan.Blocked != want || plan.Hint == "" {
		t.Errorf("%v, want %s", plan.Blocked, want)
	}
}
