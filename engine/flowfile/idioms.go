package flowfile

import "slices"

// idiomKeys are the keys of the dialect's idioms that do not become the config of
// a step, which is checked with it.
var idiomKeys = map[string]keys{
	"interrupt": {known: []string{"id", "key", "prompt", "choices", "strategy"}},
	"branch":    {known: []string{"key", "cases", "default", "converge"}},
	"loop":      {known: []string{"key", "until", "max_rounds", "label", "body", "done"}},
	"parallel":  {known: []string{"id", "branches", "converge"}},
	"map":       {known: []string{"id", "input_keys", "output_key", "processor", "result_key", "chunk_size", "max_concurrency"}},
	"route":     {known: []string{"id", "routes", "goto", "update"}},
	"type":      {known: []string{"id", "type", "config"}},
	"case":      {known: []string{"value", "steps"}},
}

// otherIdioms become a step with all that they hold as its config.
var otherIdioms = []string{
	"transform", "context_builder", "append_assistant", "llm", "call", "tool_loop", "agent", "agent_step", "team", "supervise", "supervisor",
}

// idioms checks the steps that are written as idioms and reports whether there
// are any.
func (r reader) idioms(steps *item) bool {
	if steps == nil {
		return false
	}
	found := false
	for _, it := range stepsOf(steps) {
		if it.kind != isMapping || len(it.fields) != 1 {
			continue
		}
		word, payload := it.fields[0].key.text, it.fields[0].value
		if word == "type" && payload.kind != isMapping {
			continue // a step that lacks its id
		}
		known, ok := idiomKeys[word]
		switch {
		case word == "case":
		case ok && payload.kind == isMapping:
			found = true
			r.mapping(payload, "the idiom "+word, known)
			r.lists(payload)
		case ok || slices.Contains(otherIdioms, word):
			found = true
		}
	}
	return found
}

// lists checks the idioms in the lists of another one.
func (r reader) lists(payload *item) {
	for _, key := range []string{"default", "converge", "body", "done", "processor"} {
		r.idioms(payload.get(key))
	}
	for _, branch := range stepsOf(payload.get("branches")) {
		r.idioms(branch)
	}
	for _, c := range stepsOf(payload.get("cases")) {
		if c.kind == isMapping {
			r.mapping(c, "a case", idiomKeys["case"])
			r.idioms(c.get("steps"))
		}
	}
}
