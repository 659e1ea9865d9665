package sim

import (
	"encoding/json"
	"fmt"
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
}

// foretell says how a run ends when nothing happens to it and people decide as
// they did. It reads the flow as data and knows nothing of how the engine works.
// When a node that asks with drifting arguments was denied, it may have begun
// again and have asked anew, and then another node may be the one that failed.
func (f flowSpec) foretell(run string, decided []decision, failedIn string) (ending, error) {
	state := exact(f.initial(run))
	visits := map[string]int{}
	frontier := []string{"start"}
	for superstep := int64(0); len(frontier) > 0; superstep++ {
		if superstep > 100 {
			return ending{}, fmt.Errorf("it does not end")
		}
		var updates []engine.State
		failed := map[string]string{}
		waits := ""
		for _, n := range f.nodes {
			if !slices.Contains(frontier, n.id) {
				continue
			}
			update, err, waiting := f.outcome(n, state, visits[n.id]+1, pick(decided, superstep))
			if err != "" && !f.rescued(n.id) && failedIn != "" && failedIn != n.id && n.asksAnew() {
				waiting = true
			}
			switch {
			case waiting:
				waits = n.id
			case err != "" && !f.rescued(n.id):
				return ending{stores.StatusFailed, withoutDrift(canonical(state)), err, n.id}, nil
			case err != "":
				failed[n.id] = err
				update = engine.State{"error": map[string]any{"node": n.id, "message": err}}
			}
			updates = append(updates, update)
		}
		if waits != "" {
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

// pick takes the decisions of one superstep, the newest for each question.
func pick(all []decision, superstep int64) map[string]engine.Decision {
	out := map[string]engine.Decision{}
	for _, d := range all {
		if d.superstep == superstep {
			out[d.ID] = d.Decision
		}
	}
	return out
}

func (n nodeSpec) asksAnew() bool {
	return slices.ContainsFunc(n.steps, func(s stepSpec) bool { return isAsking[s.tool] && s.args == drifting })
}

func (f flowSpec) rescued(id string) bool {
	return slices.ContainsFunc(f.edges, func(e edgeSpec) bool { return e.from == id && e.onError })
}

func (f flowSpec) after(id string, failed bool, state engine.State) []string {
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

// outcome is what a node comes to: its update, its error, or a wait.
func (f flowSpec) outcome(n nodeSpec, st engine.State, round int, decided map[string]engine.Decision) (update engine.State, failure string, waits bool) {
	out := n.update(st)
	calls, asked := 0, 0
	for i, s := range n.steps {
		if s.tool == "" {
			asked++
			id := fmt.Sprintf("%s#%d", n.id, round)
			if asked > 1 {
				id = fmt.Sprintf("%s.%d", id, asked)
			}
			d, ok := decided[id]
			if !ok {
				return nil, "", true
			}
			out["answer"] = json.RawMessage(d.Value)
			continue
		}
		calls++
		args := n.args(i, st, 0)
		raw, _ := json.Marshal(args) // a map of texts and numbers
		bad := ""
		if s.tool == broken {
			bad = "broken: " + noLuck
		}
		if isAsking[s.tool] {
			d, ok := decided[fmt.Sprintf("%s.%d", n.id, calls)]
			if !ok {
				return nil, "", true
			}
			if d.Type == engine.DecideDeny {
				bad = fmt.Sprintf("%s was denied by %s: %s", s.tool, d.By, d.Note)
			}
		}
		switch {
		case bad == "":
			out[n.key(i)] = map[string]any{"args": args, "result": result(s.tool, raw)}
		case s.keeps:
			out[n.key(i)] = map[string]any{"args": args, "error": bad}
		case !n.rude:
			return nil, bad, false
		}
	}
	return out, "", false
}

// merge overrides in the nodes' order, but appends to the log.
func merge(state engine.State, updates []engine.State) engine.State {
	for _, u := range updates {
		for k, v := range exact(u) {
			if k == "log" {
				log, _ := state[k].([]any)
				v = append(log, v)
			}
			state[k] = v
		}
	}
	return state
}

// exact is a state as it is after it was stored.
func exact(st engine.State) engine.State {
	out, err := engine.DecodeState([]byte(canonical(st)))
	if err != nil {
		panic(err)
	}
	return out
}

// canonical is a value as JSON with sorted keys.
func canonical(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var any any
	if err := json.Unmarshal(raw, &any); err != nil {
		panic(err)
	}
	raw, _ = json.Marshal(any) // it was just read
	return string(raw)
}

// withoutDrift takes out what depends on how often a node began.
func withoutDrift(state string) string {
	st, err := engine.DecodeState([]byte(state))
	if err != nil {
		panic(err)
	}
	for _, v := range st {
		entry, _ := v.(map[string]any)
		if args, ok := entry["args"].(map[string]any); ok && args["drift"] != nil {
			delete(args, "drift")
			if entry["result"] != nil {
				entry["result"] = "drifted"
			}
		}
	}
	return canonical(st)
}

// mispaired finds a result in a state that does not belong to its arguments.
func (f flowSpec) mispaired(state json.RawMessage) string {
	st, err := engine.DecodeState(state)
	if err != nil {
		return err.Error()
	}
	for _, n := range f.nodes {
		for i, s := range n.steps {
			entry, ok := st[n.key(i)].(map[string]any)
			if !ok || entry["result"] == nil {
				continue
			}
			if want := result(s.tool, []byte(canonical(entry["args"]))); entry["result"] != want {
				return fmt.Sprintf("%s has the result %q, its arguments give %q", n.key(i), entry["result"], want)
			}
		}
	}
	return ""
}
