package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

// grown is an update with only what is new of the log.
func grown(st, update engine.State) engine.State {
	if _, ok := update["log"]; ok {
		update["log"] = list(update["log"])[len(list(st["log"])):]
	}
	return update
}

// merge overrides in the nodes' order, but appends to the log and to conversations.
func merge(state engine.State, updates []engine.State) engine.State {
	for _, u := range updates {
		for k, v := range exact(u) {
			if k == "log" || strings.HasPrefix(k, chats) {
				if l, ok := v.([]any); ok {
					v = slices.Concat(list(state[k]), l)
				} else {
					v = append(list(state[k]), v)
				}
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
func mispaired(state json.RawMessage) string {
	st, err := engine.DecodeState(state)
	if err != nil {
		return err.Error()
	}
	for k, v := range st {
		entry, ok := v.(map[string]any)
		if !ok || entry["result"] == nil {
			continue
		}
		name, _, _ := strings.Cut(fmt.Sprint(entry["result"]), " ")
		if want := result(name, []byte(canonical(entry["args"]))); entry["result"] != want {
			return fmt.Sprintf("%s has the result %q, its arguments give %q", k, entry["result"], want)
		}
	}
	return ""
}
