package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// ending is how a run ends.
type ending struct {
	status  stores.Status
	state   string // without what drifted
	message string
	node    string // that failed
	denied  bool   // a person's no ended it
}

// foretell says how a run ends when nothing happens to it, people decide as
// they did and the tools that fail at times fail as they did. It reads the flow
// as data and knows nothing of how the engine works.
// When a node that asks with drifting arguments was denied, it may have begun
// again and have asked anew, and then another node may be the one that failed.
func (f flowSpec) foretell(r *run, failedIn string) (ending, error) {
	state := exact(f.initial(r.name))
	visits := map[string]int{}
	frontier := []string{"start"}
	for superstep := int64(0); len(frontier) > 0; superstep++ {
		if superstep > 100 {
			return ending{}, fmt.Errorf("it does not end")
		}
		var updates []engine.State
		failed := map[string]string{}
		waits := ""
		var ends *ending // of a node that fails: a person's no counts more than other errors
		for _, n := range f.nodes {
			if !slices.Contains(frontier, n.id) {
				continue
			}
			o := round{r.decidedIn(superstep), at(r.outcomes, superstep), at(r.failed, superstep), visits[n.id] + 1}.outcome(n, state)
			if o.failure != "" && !f.rescued(n.id) && failedIn != "" && failedIn != n.id && n.asksAnew() {
				o.waits = true
			}
			switch {
			case o.waits:
				waits = n.id
			case o.failure != "" && !f.rescued(n.id):
				if ends == nil || o.denied && !ends.denied {
					ends = &ending{stores.StatusFailed, withoutDrift(canonical(state)), o.failure, n.id, o.denied}
				}
			case o.failure != "":
				failed[n.id] = o.failure
				o.update = engine.State{"error": map[string]any{"node": n.id, "message": o.failure}}
			}
			updates = append(updates, o.update)
		}
		switch {
		case ends != nil && f.holds && !ends.denied:
			return ending{}, fmt.Errorf("superstep %d is held at %s: %s", superstep, ends.node, ends.message)
		case ends != nil:
			return *ends, nil
		case waits != "":
			return ending{}, fmt.Errorf("superstep %d waits in %s for a decision", superstep, waits)
		}
		state = merge(state, updates)
		next := []string{}
		for _, id := range frontier {
			visits[id]++
			_, bad := failed[id]
			next = append(next, f.after(id, bad, state)...)
		}
		slices.Sort(next)
		frontier = slices.Compact(next)
	}
	return ending{status: stores.StatusDone, state: withoutDrift(canonical(state))}, nil
}

// decidedIn are the decisions of one superstep, the newest for each question.
func (r *run) decidedIn(superstep int64) map[string]engine.Decision {
	out := map[string]engine.Decision{}
	for _, d := range r.deciders {
		if d.superstep == superstep {
			out[d.ID] = d.Decision
		}
	}
	return out
}

// at is what is known of one superstep.
func at(known map[callID]bool, superstep int64) map[string]bool {
	out := map[string]bool{}
	for c, is := range known {
		if c.base == superstep {
			out[c.id] = is
		}
	}
	return out
}

// asksAnew: within containers nothing does.
func (n nodeSpec) asksAnew() bool {
	return slices.ContainsFunc(n.steps, func(s stepSpec) bool { return isAsking[s.tool] && s.args == drifting })
}

func (f flowSpec) rescued(id string) bool {
	return slices.ContainsFunc(f.edges, func(e edgeSpec) bool { return e.from == id && e.onError })
}

func (f flowSpec) after(id string, failed bool, state engine.State) []string {
	if out := f.loopNext(id, state); out != nil {
		return out
	}
	var out []string
	for _, e := range f.edges {
		if e.from != id || e.onError != failed {
			continue
		}
		if e.when != nil {
			if ok, _ := e.when.Test(state); !ok { // these conditions have no errors
				continue
			}
		}
		out = append(out, e.to...)
	}
	return out
}

// round is what happened in one superstep from outside, and which visit of its
// node it is.
type round struct {
	decided map[string]engine.Decision
	failed  map[string]bool // calls of flaky tools
	broke   map[string]bool // attempts at nodes, as far as their code may break
	visit   int
}

// outcome is what a node comes to: its update, its error, or a wait.
type outcome struct {
	update  engine.State
	failure string
	denied  bool // the failure is a person's no
	waits   bool
}

func (rd round) outcome(n nodeSpec, st engine.State) outcome {
	switch {
	case n.box != noBox:
		return rd.boxed(n, st)
	case n.runsTools != "":
		return rd.toolsOutcome(n, st)
	case n.loop != nil:
		return n.modelOutcome(st)
	}
	calls := 0
	for attempt := 1; ; attempt++ {
		o, safe := rd.attempt(n, st, &calls)
		if n.breaks && o.failure == "" && !o.waits && rd.broke[fmt.Sprintf("%s.%d", n.place(st), calls+1)] {
			o = outcome{failure: errBroke.Error()}
		}
		if o.failure == "" || o.waits || attempt >= n.attempts || !safe {
			return o
		}
		calls++ // the record that it failed
	}
}

// attempt runs the node's code once, and says whether it may be run again after
// an error: nobody was asked, and every tool that was called is idempotent.
func (rd round) attempt(n nodeSpec, st engine.State, calls *int) (o outcome, safe bool) {
	place := n.place(st)
	out, asked := n.update(st), 0
	safe = true
	for i, s := range n.steps {
		if s.tool == "" {
			safe = false
			asked++
			id := fmt.Sprintf("%s#%d", place, rd.visit)
			if asked > 1 {
				id = fmt.Sprintf("%s.%d", id, asked)
			}
			d, ok := rd.decided[id]
			if !ok {
				return outcome{waits: true}, false
			}
			out["answer"] = json.RawMessage(d.Value)
			continue
		}
		*calls++
		id := fmt.Sprintf("%s.%d", place, *calls)
		safe = safe && isIdempotent[s.tool] && !isAsking[s.tool]
		args := n.args(i, st, 0)
		raw, _ := json.Marshal(args) // a map of texts and numbers
		bad, denied := "", false
		if isAsking[s.tool] {
			d, ok := rd.decided[id]
			if !ok {
				return outcome{waits: true}, false
			}
			if denied = d.Type == engine.DecideDeny; denied {
				bad = fmt.Sprintf("%s was denied by %s: %s", s.tool, d.By, d.Note)
			}
		}
		switch failed, known := rd.failed[id]; {
		case denied:
		case s.tool == broken || failed:
			bad = s.tool + ": " + noLuck
		case isFlaky[s.tool] && !known: // it was never made
			return outcome{waits: true}, false
		}
		switch {
		case bad == "":
			out[entryOf(place, i)] = map[string]any{"args": args, "result": result(s.tool, raw)}
		case s.keeps:
			out[entryOf(place, i)] = map[string]any{"args": args, "error": bad}
		case !n.rude:
			return outcome{failure: bad, denied: denied}, safe
		}
	}
	return outcome{update: out}, safe
}

// boxed is what a container comes to. A no in it counts more than an error, and
// that more than a wait.
func (rd round) boxed(n nodeSpec, st engine.State) outcome {
	states := []engine.State{st}
	if n.box == mapBox {
		states, _ = n.itemStates(st) // it has no error
		for i, item := range states {
			states[i] = exact(st)
			maps.Copy(states[i], item)
		}
	}
	var ends []outcome
	for _, chain := range n.branches {
		for _, in := range states {
			ends = append(ends, rd.chained(n, chain, in))
		}
	}
	for _, bad := range []func(outcome) bool{
		func(o outcome) bool { return o.denied }, func(o outcome) bool { return o.failure != "" }, func(o outcome) bool { return o.waits },
	} {
		if i := slices.IndexFunc(ends, bad); i >= 0 {
			return ends[i]
		}
	}
	switch n.box {
	case mapBox:
		var all []any
		for _, e := range ends {
			all = append(all, map[string]any(e.update))
		}
		update, _ := n.gather(st, all) // these are states
		return outcome{update: grown(st, update)}
	case subflowBox: // what is as before was not written
		update := ends[0].update
		maps.DeleteFunc(update, func(k string, v any) bool { return canonical(v) == canonical(st[k]) })
		return outcome{update: grown(st, update)}
	}
	update := engine.State{}
	for i, chain := range n.branches {
		written := rd.written(chain, st)
		for k, v := range grown(st, ends[i].update) {
			switch {
			case !written[k]:
			case k == "log":
				update[k] = slices.Concat(list(update[k]), list(v))
			default:
				update[k] = v
			}
		}
	}
	return outcome{update: update}
}

// chained is what the nodes of a box's branch come to that run one after the
// other: the whole state in the end.
func (rd round) chained(in nodeSpec, chain []nodeSpec, st engine.State) outcome {
	st = exact(st)
	for lap := 0; lap < 2; lap++ {
		if in.laps {
			st = merge(st, []engine.State{in.nextLap(st)})
		} else {
			lap++
		}
		for i, n := range chain {
			o := rd.outcome(n, st).excused(n, i == len(chain)-1)
			if o.failure != "" {
				o.failure = n.id + ": " + o.failure
			}
			if o.failure != "" || o.waits {
				return o
			}
			st = merge(st, []engine.State{o.update})
		}
	}
	return outcome{update: st}
}

// excused takes an error that has an edge.
func (o outcome) excused(n nodeSpec, last bool) outcome {
	if o.failure == "" || !n.excused || last {
		return o
	}
	return outcome{update: engine.State{"error": map[string]any{"node": n.id, "message": o.failure}}}
}

// written are the keys that nodes write that run one after the other.
func (rd round) written(chain []nodeSpec, st engine.State) map[string]bool {
	keys := map[string]bool{}
	st = exact(st)
	for i, n := range chain {
		o := rd.outcome(n, st).excused(n, i == len(chain)-1)
		for k := range o.update {
			keys[k] = true
		}
		st = merge(st, []engine.State{o.update})
	}
	return keys
}
