package flowfile

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

const teffData = "../../fixtures/teff/"

// recordedRuns are what teff itself did with the recorded workflows.
func recordedRuns(t *testing.T) []*py.Dict {
	t.Helper()
	f, err := os.Open(teffData + "expected.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	v, err := py.Loads(text)
	if err != nil {
		t.Fatal(err)
	}
	return dictsOf(unmarked(v).(*py.Dict), "runs")
}

// unmarked replaces the marks of floats that JSON has no number for.
func unmarked(v py.Value) py.Value {
	switch v := v.(type) {
	case *py.List:
		for i := range v.Items {
			v.Items[i] = unmarked(v.Items[i])
		}
	case *py.Dict:
		if word, ok := v.GetOr("$float", nil).(string); ok && v.Len() == 1 {
			return map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[word]
		}
		for _, key := range v.Keys() {
			v.Set(key, unmarked(v.GetOr(key, nil)))
		}
	}
	return v
}

func dictsOf(d *py.Dict, key string) (all []*py.Dict) {
	if l, ok := d.GetOr(key, nil).(*py.List); ok {
		for _, item := range l.Items {
			all = append(all, item.(*py.Dict))
		}
	}
	return all
}

func dictOf(d *py.Dict, key string) *py.Dict {
	inner, _ := d.GetOr(key, nil).(*py.Dict)
	return inner
}

func textOf(d *py.Dict, key string) string {
	s, _ := d.GetOr(key, nil).(string)
	return s
}

// native is one run of a recorded workflow on a store of our own. Each action is
// done by a new worker with a flow that was read anew.
type native struct {
	workflow string
	load     func(path string) (*File, error)
	talks    bool // it is run by messages
	store    *memory.Store
	key      stores.Key
	initial  engine.State
}

// outcome is how one action ended.
type outcome struct {
	engine.Result
	turn *engine.TurnResult
	err  error
}

// mortal is a store whose worker is gone from a save on.
type mortal struct {
	*memory.Store
	dies func(stores.Save) bool
	dead bool
}

var errDead = errors.New("the worker is gone")

func (m *mortal) Save(ctx context.Context, s stores.Save) error {
	if m.dead = m.dead || m.dies(s); m.dead {
		return errDead
	}
	return m.Store.Save(ctx, s)
}

// death is when the worker of an action is gone, as teff's process was: in the
// middle of a node, also where teff let it raise once, or of a save. It is nil for
// one that lives.
func death(t *testing.T, action *py.Dict) func(stores.Save) bool {
	node := textOf(action, "kill_at") + textOf(action, "crash_at")
	node, _, _ = strings.Cut(node, ">")
	if kill := dictOf(action, "kill_save"); kill != nil {
		left, _ := kill.GetOr("n", nil).(int64)
		return func(stores.Save) bool { left--; return left == 0 }
	}
	if node == "" {
		return nil
	}
	return func(s stores.Save) bool {
		c, err := engine.DecodeCheckpoint(s.Checkpoint)
		if err != nil {
			t.Error(err)
		}
		return slices.ContainsFunc(c.Nodes, func(n engine.NodeRun) bool { return n.Node == node })
	}
}

// perform does one recorded action.
func (n *native) perform(t *testing.T, action *py.Dict) outcome {
	t.Helper()
	f, err := n.load(teffData + n.workflow)
	if err != nil {
		t.Fatal(err)
	}
	n.initial = f.Flow.InitialState()
	if n.talks {
		f.Flow.Conversation(engine.Conversation{Transient: textsOf(action, "transient_keys")})
	}
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	var store stores.Store = n.store
	if dies := death(t, action); dies != nil {
		store = &mortal{Store: n.store, dies: dies}
	}
	r, err := engine.New(engine.Config{Store: store, Keys: seal.NewKeyring(key), Tools: f.Tools})
	if err != nil {
		t.Fatal(err)
	}
	if message, ok := action.GetOr("message", nil).(string); ok {
		turn, err := r.Turn(t.Context(), f.Flow, engine.Turn{Key: n.key, Message: message})
		return outcome{engine.Result{Status: stores.StatusDone, State: turn.State}, &turn, err}
	}
	return n.execute(t.Context(), r, f, action)
}

func (n *native) execute(ctx context.Context, r *engine.Runner, f *File, action *py.Dict) (o outcome) {
	e := engine.Execution{Key: n.key}
	if start := dictOf(action, "start"); start != nil {
		given, err := toState(start)
		if err != nil {
			return outcome{err: err}
		}
		e.State = engine.Merge(n.initial, nil, given)
	}
	if answer := dictOf(action, "resume"); answer != nil {
		if e.Resume, o.err = toState(answer); o.err != nil {
			return o
		}
	}
	o.Result, o.err = r.Execute(ctx, f.Flow, e)
	return o
}

func textsOf(d *py.Dict, key string) (all []string) {
	if l, ok := d.GetOr(key, nil).(*py.List); ok {
		for _, item := range l.Items {
			all = append(all, item.(string))
		}
	}
	return all
}

// word is the outcome as teff calls it.
func (o outcome) word() string {
	idle := len(o.Waiting) == 1 && o.Waiting[0].Turn
	switch {
	case errors.Is(o.err, errDead):
		return "killed"
	case o.turn != nil && o.turn.Waiting, o.Status == stores.StatusPaused && !idle:
		return "paused"
	case o.Status == stores.StatusDone, idle:
		return "completed"
	}
	return string(o.Status)
}

// differs says how an action ended in another way than in teff, "" if it did not.
func (o outcome) differs(want *py.Dict) string {
	failed, saved := dictOf(want, "error"), dictOf(want, "saved")
	switch {
	case textOf(want, "outcome") == "killed" || textOf(dictOf(want, "action"), "crash_at") != "":
		if o.word() != "killed" {
			return fmt.Sprintf("it lives: %+v", o)
		}
		return ""
	case failed != nil:
		if !errors.Is(o.err, engine.ErrHeld) || !strings.Contains(o.err.Error(), textOf(failed, "message")) {
			return fmt.Sprintf("%v, teff raises %s: %s", o.err, textOf(failed, "type"), textOf(failed, "message"))
		}
		return ""
	case o.err != nil:
		return o.err.Error()
	case o.word() != textOf(want, "outcome"):
		return fmt.Sprintf("it is %s (%s), in teff %s", o.word(), o.Error, textOf(want, "outcome"))
	}
	if turn := dictOf(want, "turn"); turn != nil {
		got := py.NewDict(py.Entry{Key: "reply", Value: o.turn.Reply}, py.Entry{Key: "waiting", Value: o.turn.Waiting}, py.Entry{Key: "prompt"}, py.Entry{Key: "key"})
		if o.turn.Waiting {
			got.Set("prompt", o.turn.Prompt)
			got.Set("key", o.turn.Key)
		}
		if !identical(got, turn) {
			return fmt.Sprintf("the turn is %s, in teff %s", py.Repr(got), py.Repr(turn))
		}
	}
	if raised := dictOf(want, "raised"); raised != nil {
		if len(o.Waiting) != 1 || o.Waiting[0].Key != textOf(raised, "key") || o.Waiting[0].Prompt != textOf(raised, "prompt") {
			return fmt.Sprintf("it waits for %+v, teff for %s", o.Waiting, py.Repr(raised))
		}
	}
	if saved == nil || o.turn != nil && o.turn.Waiting { // a turn that waits gives no state
		return ""
	}
	if got, want := py.Repr(ordered(toDict(o.State))), py.Repr(ordered(dictOf(saved, "state"))); got != want {
		return fmt.Sprintf("its state is\n%s\nin teff\n%s", got, want)
	}
	return ""
}

// ordered makes the order of keys not count.
func ordered(v py.Value) py.Value {
	switch v := v.(type) {
	case *py.List:
		l := py.NewList()
		for _, item := range v.Items {
			l.Items = append(l.Items, ordered(item))
		}
		return l
	case *py.Dict:
		d := py.NewDict()
		for _, key := range slices.Sorted(slices.Values(v.Keys())) {
			d.Set(key, ordered(v.GetOr(key, nil)))
		}
		return d
	}
	return v
}

// Every recorded run of every recorded workflow, from its recorded start with
// its recorded answers, on a store of our own: state, pauses and failures are
// teff's. What differs is listed with the reason, and must differ.
func TestRecordedWorkflowsRunHere(t *testing.T) {
	opts := Options{Env: func(name string) (string, bool) { return "north", name == "REGION" }}
	met, seen, unmade, n := map[string]bool{}, map[string]bool{}, map[string]bool{}, 0
	for _, r := range recordedRuns(t) {
		name := textOf(r, "case")
		if made := dictsOf(r, "made_by"); len(made) == 0 || dictOf(made[0], "action").Has("branch_from") {
			unmade[name] = true // its row was written by hand: there is no start
			continue
		}
		if seen[name] || strings.HasPrefix(textOf(r, "backend"), "pg") { // whose numbers and order of keys are another's
			continue
		}
		seen[name] = true
		ways := dictsOf(r, "resumes")
		if len(ways) == 0 {
			ways = []*py.Dict{py.NewDict(py.Entry{Key: "name", Value: "made"})}
		}
		for _, way := range ways {
			n++
			id := name + "/" + textOf(way, "name")
			reason, listed := knownDifferences[id]
			if listed {
				met[id] = true
			}
			t.Run(id, func(t *testing.T) {
				switch diff := replay(t, r, way, opts.Load); {
				case diff != "" && !listed:
					t.Error(diff)
				case diff == "" && listed:
					t.Errorf("it does not differ; listed: %s", reason)
				}
			})
		}
	}
	t.Logf("%d recorded ways of %d runs, %d differ; %d runs have no start", n, len(seen), len(met), len(unmade))
	if n < 400 || len(unmade) > 5 {
		t.Errorf("%d ways were compared, %d runs left out", n, len(unmade))
	}
	for id := range knownDifferences {
		if !met[id] {
			t.Errorf("%s is listed but not recorded", id)
		}
	}
}

// replay does what was recorded and says what differs.
func replay(t *testing.T, r, way *py.Dict, load func(string) (*File, error)) string {
	t.Helper()
	steps := slices.Concat(dictsOf(r, "made_by"), dictsOf(way, "results"))
	run := native{workflow: textOf(r, "workflow"), load: load, store: memory.New(memory.Options{}), key: stores.Key{Owner: stores.DefaultOwner, Run: "r"}}
	for _, step := range steps {
		run.talks = run.talks || dictOf(step, "action").Has("message")
	}
	for _, step := range steps {
		if diff := run.perform(t, dictOf(step, "action")).differs(step); diff != "" {
			return fmt.Sprintf("%s: %s", py.Repr(dictOf(step, "action")), diff)
		}
	}
	return ""
}

// knownDifferences are the ways that end otherwise, with the reason: what is not
// possible here, or where this engine refuses or keeps what teff loses.
var knownDifferences = map[string]string{
	"pipeline_done/continue":       "{order} in a text: the keys of an object of a state have no order here, and are written sorted",
	"pipeline_done/resume_ignored": "as pipeline_done/continue; and an answer that nothing waits for is refused, teff ignores it",

	"review_paused/other_key":              "an answer under a key that nothing waits for is refused; teff takes it, loses the question and fails",
	"review_paused/extra_keys":             "keys beside the one that is waited for are refused: an answer does not edit the state",
	"nested_paused/both_at_once":           "an answer to a question that is not asked yet is refused; teff sets the key and asks all the same",
	"crashed_persistent/resume_is_ignored": "an answer that nothing waits for is refused, teff ignores it",
	"shared_1/answer":                      "the run is done: an answer is refused, teff ignores it",
	"shared_3/answer":                      "the run is done: an answer is refused, teff ignores it",

	"edited_while_paused/yes":      "update_state edits a row of teff's; the signed state of a run is not edited",
	"crashed_persistent/fix_state": "update_state edits a row of teff's; the signed state of a run is not edited",

	"loop_guard/continue": "max_iterations is of teff's process; here a flow has a bound of its own",
	"chat_killed/message": "the turn that was cut short is finished first, with its reply; teff starts it over with both messages and loses it",
	"values_nan/answer":   "a state is JSON, which has neither nan nor infinities: refused at the start",
}

// Who answers is told what passes, where a validate step surely follows.
func TestDocumentsOfTeffSayWhatIsWanted(t *testing.T) {
	for workflow, want := range map[string]*engine.Want{
		"signoff.flow.yaml":         {AnyOf: []string{"yes", "ok", "fine"}},
		"triage.flow.yaml":          {Hint: "a text that matches ^([A-Z]{2}-[0-9]{3})$", ByFlow: true},
		"discount.graph.yaml":       {Hint: "a text that matches ^[A-Z]{2}-[0-9]{4}$", ByFlow: true},
		"release_review.graph.yaml": nil,
	} {
		f, err := Load(teffData + "workflows/" + workflow)
		if err != nil {
			t.Fatal(err)
		}
		res, err := runAlone(t, f, nil)
		if err != nil || len(res.Waiting) != 1 || !reflect.DeepEqual(res.Waiting[0].Want, want) {
			t.Errorf("%s: %+v, want %+v, %v", workflow, res.Waiting, want, err)
		}
	}
}
