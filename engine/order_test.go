package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// backwards are steps that ask in turn, the last first.
type backwards []chan struct{}

func newBackwards(n int) backwards {
	b := make(backwards, n+1)
	for i := range b {
		b[i] = make(chan struct{})
	}
	close(b[n])
	return b
}

func (b backwards) ask(i int) engine.Node {
	return engine.NodeFunc(func(ctx context.Context, _ engine.State) (engine.State, error) {
		<-b[i+1]
		raw, err := engine.Ask(ctx, engine.Question{Key: fmt.Sprintf("q%d", i)})
		select {
		case <-b[i]: // it is asked again
		default:
			close(b[i])
		}
		return engine.State{fmt.Sprintf("q%d", i): string(raw)}, err
	})
}

// What is asked side by side is listed by the order of the items, the branches
// and the flow, whichever came first.
func TestOpenQuestionsAreListedInTheOrderOfTheFlow(t *testing.T) {
	const n = 12
	items, each := []any{}, newBackwards(n)
	for i := range n {
		items = append(items, i)
	}
	one := engine.NewFlow("one").Step("ask", engine.NodeFunc(func(ctx context.Context, s engine.State) (engine.State, error) {
		i, err := s["item"].(json.Number).Int64()
		if err != nil {
			return nil, err
		}
		return each.ask(int(i)).Run(ctx, s)
	}))
	wide, branches := newBackwards(n), engine.Parallel{Flow: engine.NewFlow("branches")}
	inner, deep := engine.NewFlow("inner").Step("begin", engine.NodeFunc(nothing)), newBackwards(n)
	for i := range n {
		id := fmt.Sprintf("b%d", i)
		branches.Flow.Node(id, wide.ask(i))
		branches.Branches = append(branches.Branches, id)
		inner.Node(id, deep.ask(i)).Edge("begin", id)
	}
	for name, c := range map[string]struct {
		flow *engine.Flow
		id   string
	}{
		"map":      {engine.NewFlow("f").Map("m", engine.Map{Over: "items", As: "item", Flow: one, Pick: "item", Into: "out"}), "m/%d/ask#1"},
		"parallel": {engine.NewFlow("f").Parallel("p", branches), "p/b%d#1"},
		"subflow":  {engine.NewFlow("f").Subflow("s", engine.Subflow{Flow: inner}), "s/b%d#1"},
	} {
		s := newStore()
		r := runner(t, s, nil)
		res, err := r.Execute(ctx, c.flow, engine.Execution{Key: key("a"), State: engine.State{"items": items}})
		if err != nil || res.Status != stores.StatusPaused {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		var got, want []string
		for i, w := range res.Waiting {
			got, want = append(got, w.ID), append(want, fmt.Sprintf(c.id, i))
		}
		if len(got) != n || !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
		answer := engine.Decide{Type: engine.DecideAnswer, ID: want[3], Value: json.RawMessage(`"x"`), By: "ana"}
		if res, err = r.Resume(ctx, c.flow, key("a"), answer); err != nil || len(res.Waiting) != n-1 || res.Waiting[3].ID != want[4] {
			t.Errorf("%s: %+v, %v", name, res.Waiting, err)
		}
	}
}
