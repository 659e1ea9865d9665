package flowfile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// counted is a tool "work" that counts its calls by their argument "job".
type counted struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *counted) tools() *tool.Registry {
	return tool.NewRegistry(tool.Tool{Name: "work", Run: func(_ context.Context, in tool.Input) (any, error) {
		var args struct{ Job string }
		if err := json.Unmarshal(in.Args, &args); err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls[args.Job]++
		return "did " + args.Job, nil
	}})
}

// once checks that each job was done once and that no other was.
func (c *counted) once(t *testing.T, jobs ...string) {
	t.Helper()
	want := map[string]int{}
	for _, job := range jobs {
		want[job] = 1
	}
	if diff := cmp.Diff(want, c.calls); diff != "" {
		t.Error(diff)
	}
}

// A containerCase is a flow file whose calls and questions are in a container.
type containerCase struct {
	steps string
	// asked are the questions' ids, in the order in which they are answered with
	// "yes".
	asked []string
	jobs  []string // done by the end
	state engine.State
}

func work(job string) string {
	return fmt.Sprintf("{type: call, config: {tool: work, args: {job: %q}, into: did}}", job)
}

var containerCases = map[string]containerCase{
	"subflow": {
		steps: `
  - id: sub
    type: subflow
    config:
      input_map: {name: who}
      output_map: {did: result, sure: sure}
      graph:
        steps:
          - {id: one, type: call, config: {tool: work, args: {job: "one {who}"}}}
          - {id: ask, type: interrupt, config: {key: sure, prompt: "{who}?"}}
          - {id: two, type: call, config: {tool: work, args: {job: "two {who}"}, into: did}}
          - {id: no, type: transform, config: {action: value, value: never, output_key: did}}
        edges:
          - {from: one, to: ask}
          - {from: ask, to: two, condition: sure=yes}
          - {from: ask, to: no}
          - {from: two, to: no, condition: __error__}`,
		asked: []string{"sub/ask#1"}, jobs: []string{"one ann", "two ann"},
		state: engine.State{"result": "did two ann", "sure": "yes"},
	},
	"parallel": {
		steps: `
  - id: fan
    type: parallel
    config:
      branches:
        - ` + work("left") + `
        - [` + work("right") + `, {id: ask, type: interrupt, config: {key: sure}}, ` + work("right again") + `]
        - {type: subflow, config: {graph: {steps: [{id: deep, type: call, config: {tool: work, args: {job: deep}, into: did}}, {id: ask, type: interrupt, config: {key: deeply}}], edges: [{from: deep, to: ask}]}}}`,
		asked: []string{"fan/ask#1", "fan/branch3/ask#1"}, jobs: []string{"left", "right", "right again", "deep"},
		state: engine.State{"did": "did deep", "sure": "yes", "deeply": "yes"},
	},
	"map": {
		steps: `
  - id: all
    type: map
    config:
      input_keys: [items, sizes]
      output_key: results
      max_concurrency: 1
      result_key: text
      processor:
        - {type: call, tool: work, args: {job: "{items}-{sizes}"}}
        - {id: ask, type: interrupt, config: {key: sure, prompt: "{items}?"}}
        - {type: transform, config: {action: render, template: "{items} {sure}", output_key: text}}`,
		asked: []string{"all/1/ask#1", "all/0/ask#1"}, jobs: []string{"a-1", "b-2"},
		state: engine.State{"results": []any{"a yes", "b yes"}},
	},
	"loop": {
		steps: `
  - id: again
    type: loop
    config:
      key: sure
      until: "yes"
      body:
        - {type: call, config: {tool: work, args: {job: before}}}
        - {type: parallel, config: {branches: [` + work("beside") + `, {id: ask, type: interrupt, config: {key: sure}}]}}`,
		asked: []string{"again:body2/ask#1"}, jobs: []string{"before", "beside"},
		state: engine.State{"did": "did beside", "sure": "yes", "again_rounds": json.Number("1")},
	},
}

func (c containerCase) file(t *testing.T, tools *tool.Registry) *flowfile.File {
	t.Helper()
	text := "name: f\nstate: {initial: {name: ann, items: [a, b], sizes: [1, 2]}}\nsteps:" + c.steps + "\n"
	f, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func memoryRunner(t *testing.T, s stores.Store, f *flowfile.File) *engine.Runner {
	t.Helper()
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: s, Keys: seal.NewKeyring(key), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func waiting(res engine.Result) (ids []string) {
	for _, w := range res.Waiting {
		ids = append(ids, w.ID)
	}
	slices.Sort(ids)
	return ids
}

// An interrupt in a container is resumed inside of it, each time by a new
// worker with a flow that was read anew: no call that is done is made again.
func TestContainersResumeInside(t *testing.T) {
	for name, c := range containerCases {
		t.Run(name, func(t *testing.T) {
			done, store, k := counted{calls: map[string]int{}}, memory.New(memory.Options{}), stores.Key{Owner: stores.DefaultOwner, Run: "r"}
			f := c.file(t, done.tools())
			res, err := memoryRunner(t, store, f).Run(t.Context(), f.Flow, engine.Start{Key: k})
			for i, id := range c.asked {
				if open := slices.Sorted(slices.Values(c.asked[i:])); err != nil || !slices.Equal(waiting(res), open) {
					t.Fatalf("asked is %v, want %v: %+v, %v", waiting(res), open, res, err)
				}
				f = c.file(t, done.tools())
				res, err = memoryRunner(t, store, f).Resume(t.Context(), f.Flow, k,
					engine.Decide{Type: engine.DecideAnswer, ID: id, Value: json.RawMessage(`"yes"`), By: "ann"})
			}
			if err != nil || res.Status != stores.StatusDone {
				t.Fatalf("%+v, %v", res, err)
			}
			done.once(t, c.jobs...)
			want := engine.State{"name": "ann", "items": []any{"a", "b"}, "sizes": []any{json.Number("1"), json.Number("2")}}
			for key, v := range c.state {
				want[key] = v
			}
			if diff := cmp.Diff(want, res.State); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// dying is a store whose worker is gone at its save number at.
type dying struct {
	*memory.Store
	at int
}

func (d *dying) Save(ctx context.Context, s stores.Save) error {
	if d.at--; d.at < 0 {
		return fmt.Errorf("the worker is gone")
	}
	return d.Store.Save(ctx, s)
}

// The same with a worker that dies at one of its saves, each in turn: what is
// done stays done.
func TestContainersResumeInsideAfterACrash(t *testing.T) {
	for name, c := range containerCases {
		t.Run(name, func(t *testing.T) {
			at := 0
			for c.crashes(t, at) {
				at++
			}
			if at < 3 { // a start, a pause, an answer and the end are more
				t.Errorf("only %d saves were tried", at)
			}
		})
	}
}

// crashes runs the case to its end with a worker that dies at a save, and
// another one after it. It is false when the first one lived.
func (c containerCase) crashes(t *testing.T, at int) bool {
	t.Helper()
	done, store, k := counted{calls: map[string]int{}}, memory.New(memory.Options{}), stores.Key{Owner: stores.DefaultOwner, Run: "r"}
	bring := func(s stores.Store) (engine.Result, error) {
		f := c.file(t, done.tools())
		r := memoryRunner(t, s, f)
		res, err := r.Execute(t.Context(), f.Flow, engine.Execution{Key: k})
		for err == nil && res.Status == stores.StatusPaused {
			res, err = r.Execute(t.Context(), f.Flow, engine.Execution{Key: k, Resume: map[string]any{res.Waiting[0].ID: "yes"}})
		}
		return res, err
	}
	if _, err := bring(&dying{store, at}); err == nil {
		return false
	}
	res, err := bring(store)
	if err != nil || res.Status != stores.StatusDone {
		t.Fatalf("after a crash at save %d: %+v, %v", at, res, err)
	}
	done.once(t, c.jobs...)
	return true
}
