package teff_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// Every recorded way of resuming a recorded run, on a store that holds what
// the recorded store held: outcome, exception, pause, turn and rows must be
// those that teff left. None is refused.
func TestRecordedRunsResumeAsInTeff(t *testing.T) {
	all, same := 0, 0
	for _, r := range dicts(readCases(t, "expected.json.gz").GetOr("runs", nil)) {
		for _, way := range dicts(r.GetOr("resumes", nil)) {
			all++
			name := fmt.Sprintf("%s/%s/%s", text(r, "store"), text(r, "case"), text(way, "name"))
			if t.Run(name, func(t *testing.T) { resumeRecorded(t, r, way) }) {
				same++
			}
		}
	}
	t.Logf("%d of %d recorded ways to resume end as in teff", same, all)
	if all != 436 {
		t.Errorf("there are %d recorded ways to resume, want 436", all)
	}
}

// A model that they do not come to changes nothing of what runs leave.
func TestRecordedRunsResumeBesideAModel(t *testing.T) {
	n := 0
	for _, r := range dicts(readCases(t, "expected.json.gz").GetOr("runs", nil)) {
		if text(r, "store") != "sqlite_history" {
			continue
		}
		for _, way := range dicts(r.GetOr("resumes", nil)) {
			store := recordedStore(t, r)
			w := loadWorkflow(t, text(r, "workflow"))
			w.Graph.Nodes = append(w.Graph.Nodes, &teff.Node{ID: "model", Type: "llm_chat", Config: py.NewDict()})
			for _, want := range dicts(way.GetOr("results", nil)) {
				action := dict(want, "action")
				if action.Has("message") { // which is refused: the next one may come to it
					break
				}
				n++
				got := perform(t, w, store, text(r, "id"), action)
				if (got.err != nil) != (text(want, "outcome") == "error") || got.err == nil && got.word != text(want, "outcome") {
					t.Errorf("%s, %s: %s, %v", text(r, "case"), exact(t, action), got.word, got.err)
				}
				if rows := recordedRows(t, store, r); rows != exact(t, want.GetOr("saved", nil)) {
					t.Errorf("%s, %s: the store holds\n%s\nteff left\n%s", text(r, "case"), exact(t, action), rows, exact(t, want.GetOr("saved", nil)))
				}
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d actions were done", n)
	}
}

func resumeRecorded(t *testing.T, r, way *py.Dict) {
	w := loadWorkflow(t, text(r, "workflow"))
	store := recordedStore(t, r)
	for i, want := range dicts(way.GetOr("results", nil)) {
		got := perform(t, w, store, text(r, "id"), dict(want, "action"))
		compareOutcome(t, got, want)
		if rows := recordedRows(t, store, r); rows != exact(t, want.GetOr("saved", nil)) {
			t.Fatalf("after action %d %s the store holds\n%s\nteff left\n%s", i, exact(t, dict(want, "action")),
				rows, exact(t, want.GetOr("saved", nil)))
		}
	}
}

// outcome is how one action ended.
type outcome struct {
	word  string
	err   error
	pause *teff.Interrupt
	turn  *teff.TurnResult
	state *py.Dict
}

func perform(t *testing.T, w *teff.Workflow, store teff.Checkpointer, id string, action *py.Dict) outcome {
	t.Helper()
	r := teff.Runner{Workflow: w, Store: store, MaxIterations: 200}
	if most, ok := action.GetOr("max_iterations", nil).(int64); ok {
		r.MaxIterations = most
	}
	ctx := t.Context()
	if message, ok := action.GetOr("message", nil).(string); ok {
		c := teff.Conversation{Runner: r}
		c.TransientKeys = strs(action.GetOr("transient_keys", nil))
		turn, err := c.Turn(ctx, id, message)
		o := outcome{word: "completed", err: err, turn: &turn, state: turn.State}
		if turn.Waiting {
			o.word = "paused"
		}
		return o
	}
	if values := dict(action, "update_state"); values != nil {
		return outcome{word: "updated", err: teff.UpdateState(ctx, store, id, values)}
	}
	res, err := r.Run(ctx, id, dict(action, "start"), dict(action, "resume"))
	o := outcome{word: "completed", err: err, pause: res.Interrupt, state: res.State}
	if res.Interrupt != nil {
		o.word = "paused"
	}
	return o
}

func strs(v py.Value) []string {
	var all []string
	if l, ok := v.(*py.List); ok {
		for _, item := range l.Items {
			all = append(all, item.(string))
		}
	}
	return all
}

func compareOutcome(t *testing.T, got outcome, want *py.Dict) {
	t.Helper()
	action := exact(t, dict(want, "action"))
	if got.err != nil {
		got.word = "error"
	}
	if got.word != text(want, "outcome") {
		t.Fatalf("%s: %s (%v), teff: %s", action, got.word, got.err, text(want, "outcome"))
	}
	sameError(t, action, want, got.err)
	if raised := dict(want, "raised"); raised != nil {
		if got.pause == nil {
			t.Fatalf("%s: no pause", action)
		}
		if p := exact(t, pauseDict(got.pause)); p != exact(t, raised) {
			t.Errorf("%s: raised %s, teff: %s", action, p, exact(t, raised))
		}
	}
	if turn := dict(want, "turn"); turn != nil {
		d := py.NewDict(py.Entry{Key: "reply", Value: got.turn.Reply}, py.Entry{Key: "waiting", Value: got.turn.Waiting},
			py.Entry{Key: "prompt"}, py.Entry{Key: "key"})
		if got.turn.Waiting {
			d.Set("prompt", got.turn.Prompt)
			d.Set("key", got.turn.Key)
		}
		if exact(t, d) != exact(t, turn) {
			t.Errorf("%s: turn %s, teff: %s", action, exact(t, d), exact(t, turn))
		}
	}
	if saved := dict(want, "saved"); got.word == "completed" && saved != nil {
		returned := want.GetOr("returned_state", saved.GetOr("state", nil))
		if !py.Equal(got.state, returned) && exact(t, sorted(got.state)) != exact(t, sorted(returned)) {
			t.Errorf("%s: returned %s, teff: %s", action, exact(t, got.state), exact(t, returned))
		}
	}
}

func pauseDict(p *teff.Interrupt) *py.Dict {
	d := py.NewDict(py.Entry{Key: "key", Value: p.Key}, py.Entry{Key: "prompt", Value: p.Prompt},
		py.Entry{Key: "node_id", Value: p.NodeID}, py.Entry{Key: "checkpoint_id", Value: p.CheckpointID},
		py.Entry{Key: "nested_checkpoint_id"})
	if p.NestedCheckpointID != nil {
		d.Set("nested_checkpoint_id", *p.NestedCheckpointID)
	}
	return d
}

// recorded is a store of one recorded kind: a file store cannot keep "/" in a
// name, and Postgres has its own order of keys and numbers.
type recorded struct {
	*memory
	files bool
}

func (s *recorded) name(id string) string {
	if s.files {
		return strings.ReplaceAll(id, "/", "_")
	}
	return id
}

func (s *recorded) Load(ctx context.Context, id string) (teff.Checkpoint, bool, error) {
	return s.memory.Load(ctx, s.name(id))
}

func (s *recorded) Save(ctx context.Context, id string, c teff.Checkpoint) error {
	return s.memory.Save(ctx, s.name(id), c)
}

func (s *recorded) Delete(ctx context.Context, id string) error {
	return s.memory.Delete(ctx, s.name(id))
}

// newRecorded is an empty store of a run's kind.
func newRecorded(r *py.Dict) *recorded {
	s := &recorded{memory: newMemory(), files: text(r, "backend") == "file"}
	if strings.HasPrefix(text(r, "backend"), "pg") {
		s.alter = jsonb
	}
	return s
}

func recordedStore(t *testing.T, r *py.Dict) *recorded {
	t.Helper()
	s := newRecorded(r)
	saved := dict(r, "saved")
	s.put(t, text(r, "id"), saved)
	if children := dict(saved, "children"); children != nil {
		for id, row := range children.All() {
			s.put(t, id, row.(*py.Dict))
		}
	}
	return s
}

// put places a row, as it was recorded, and its history.
func (s *recorded) put(t *testing.T, id string, saved *py.Dict) {
	t.Helper()
	state := dict(saved, "state").Copy()
	if pause := saved.GetOr("interrupt", nil); pause != nil {
		state.Set(teff.InterruptKey, pause)
	}
	c := teff.Checkpoint{State: []byte(exact(t, state)), Iteration: saved.GetOr("iteration", nil).(int64)}
	if next, ok := saved.GetOr("next_node_id", nil).(string); ok {
		c.Next = &next
	}
	s.rows[s.name(id)] = c
	past := map[int64]teff.Checkpoint{}
	if history, ok := saved.GetOr("history", nil).(*py.List); ok {
		for _, item := range history.Items {
			pair := item.(*py.List).Items
			row := teff.Checkpoint{Iteration: pair[0].(int64)}
			if next, ok := pair[1].(string); ok {
				row.Next = &next
			}
			past[row.Iteration] = row
		}
	}
	s.history[s.name(id)] = past
}

// recordedRows describes the rows of a run as they were recorded.
func recordedRows(t *testing.T, s *recorded, r *py.Dict) string {
	t.Helper()
	id := s.name(text(r, "id"))
	d := s.describe(t, id)
	children := py.NewDict()
	for _, other := range slices.Sorted(maps.Keys(s.rows)) {
		if strings.HasPrefix(other, id+":sub:") {
			children.Set(other, s.describe(t, other))
		}
	}
	if children.Len() > 0 {
		d.Set("children", children)
	}
	if strings.HasSuffix(text(r, "backend"), "history") {
		d.Set("history", s.past(id))
	}
	return exact(t, d)
}

func (s *recorded) describe(t *testing.T, id string) *py.Dict {
	t.Helper()
	c, ok := s.rows[id]
	if !ok {
		t.Fatalf("there is no row %s", id)
	}
	v, err := py.Loads(c.State)
	if err != nil {
		t.Fatal(err)
	}
	state := v.(*py.Dict)
	pause := state.GetOr(teff.InterruptKey, nil)
	state.Delete(teff.InterruptKey)
	status := "unfinished"
	switch {
	case pause != nil:
		status = "paused"
	case c.Next == nil:
		status = "completed"
	}
	d := py.NewDict(py.Entry{Key: "status", Value: status}, py.Entry{Key: "next_node_id"},
		py.Entry{Key: "iteration", Value: c.Iteration}, py.Entry{Key: "interrupt", Value: pause},
		py.Entry{Key: "state", Value: state})
	if c.Next != nil {
		d.Set("next_node_id", *c.Next)
	}
	return d
}

func (s *recorded) past(id string) *py.List {
	l := py.NewList()
	for _, iteration := range slices.Sorted(maps.Keys(s.history[id])) {
		var next py.Value
		if n := s.history[id][iteration].Next; n != nil {
			next = *n
		}
		l.Items = append(l.Items, py.NewList(iteration, next))
	}
	return l
}

// jsonb is what Postgres makes of a JSON text: keys by length and bytes,
// numbers as numerics, so that a float with an exponent and no fraction comes
// back as an int.
func jsonb(state []byte) ([]byte, error) {
	v, err := py.Loads(state)
	if err != nil {
		return nil, err
	}
	return py.Dumps(numeric(v))
}

func numeric(v py.Value) py.Value {
	switch v := v.(type) {
	case *py.List:
		l := py.NewList()
		for _, item := range v.Items {
			l.Items = append(l.Items, numeric(item))
		}
		return l
	case *py.Dict:
		if v.Has("$string") { // stands for a text
			return v
		}
		keys := v.Keys()
		slices.SortFunc(keys, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return bytes.Compare([]byte(a), []byte(b))
		})
		d := py.NewDict()
		for _, key := range keys {
			d.Set(key, numeric(v.GetOr(key, nil)))
		}
		return d
	case float64:
		if v == 0 {
			return 0.0
		}
		f, ok := new(big.Rat).SetString(py.Str(v))
		if ok && strings.Contains(py.Str(v), "e") && f.IsInt() {
			return py.NewInt(f.Num())
		}
	}
	return v
}

// sorted makes the order of keys not count.
func sorted(v py.Value) py.Value {
	switch v := v.(type) {
	case *py.List:
		l := py.NewList()
		for _, item := range v.Items {
			l.Items = append(l.Items, sorted(item))
		}
		return l
	case *py.Dict:
		d := py.NewDict()
		for _, key := range slices.Sorted(slices.Values(v.Keys())) {
			d.Set(key, sorted(v.GetOr(key, nil)))
		}
		return d
	}
	return v
}
