package flowfile_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// tickets is the example with its programs replaced by Go tools.
func tickets(t *testing.T, charge error) (*engine.Runner, *engine.Flow) {
	t.Helper()
	data, err := os.ReadFile("testdata/tickets_go.yaml")
	if err != nil {
		t.Fatal(err)
	}
	echo := func(_ context.Context, in tool.Input) (any, error) { return in.Args, nil }
	pay := func(_ context.Context, in tool.Input) (any, error) { return in.Args, charge }
	f, err := flowfile.Parse("tickets.yaml", data, flowfile.Options{Tools: tool.NewRegistry(
		tool.Tool{Name: "hold_seats", Run: echo}, tool.Tool{Name: "charge_card", Run: pay}, tool.Tool{Name: "email_tickets", Run: echo},
	)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: memory.New(memory.Options{}), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	return r, f.Flow
}

func TestTicketsRun(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		charge error
		log    []any
		paid   bool
	}{
		"sold":     {`"yes"`, nil, []any{"sold 2"}, true},
		"refused":  {`"no"`, nil, []any{"not sold"}, false},
		"declined": {`"yes"`, errors.New("card declined"), []any{"not sold"}, false},
	} {
		r, f := tickets(t, c.charge)
		k := stores.Key{Owner: stores.DefaultOwner, Run: "r1"}
		res, err := r.Run(t.Context(), f, engine.Start{Key: k})
		if err != nil || res.Status != stores.StatusPaused || len(res.Waiting) != 1 || res.Waiting[0].Prompt != "Sell 2 seats to ann@example.org?" {
			t.Fatalf("%s: start: %+v, %v", name, res, err)
		}
		res, err = r.Resume(t.Context(), f, k, engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(c.answer), By: "ann"})
		if err != nil || res.Status != stores.StatusDone {
			t.Fatalf("%s: answer: %+v, %v", name, res, err)
		}
		if !reflect.DeepEqual(res.State["log"], c.log) {
			t.Errorf("%s: log is %v, want %v", name, res.State["log"], c.log)
		}
		payment, paid := res.State["payment"]
		if paid != c.paid {
			t.Errorf("%s: payment is %v", name, payment)
		}
		if want := map[string]any{"buyer": "ann@example.org", "hold": map[string]any{"seats": json.Number("2")}, "note": "2 seats"}; paid && !reflect.DeepEqual(payment, want) {
			t.Errorf("%s: payment is %v, want %v", name, payment, want)
		}
	}
}
