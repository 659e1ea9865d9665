package teff

import (
	"errors"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A verdict is what a validate node finds before it counts rounds.
type verdict struct {
	ok, clear bool
	value     py.Value // None without a match
	unknown   bool     // the format does not say what the value is on a pass
}

// validate judges an answer by an Ask's strategy (teff format, validate node).
func validate(n *Node, state *py.Dict) (result, error) {
	c := n.Config
	if byModel(c) {
		return result{}, inexact("validate: the strategy llm judges what a model said, and the format does not say what that is")
	}
	roundsKey := text(c, "rounds_key", "rounds")
	rounds, err := round(state, roundsKey)
	if err != nil {
		return result{}, err
	}
	v, err := judge(c, state.GetOr(text(c, "input_key", "answer"), nil))
	if err != nil {
		return result{}, err
	}
	forced := rounds >= whole(c, "max_rounds", 100)
	failed := c.GetOr("fail_value", "нет")
	decision, pass := failed, false
	switch {
	case !forced && !v.clear:
		decision = orElse(c.GetOr("clarify_value", ""), failed)
	case v.ok || forced:
		decision, pass = c.GetOr("pass_value", "да"), true
	}
	update := py.NewDict(py.Entry{Key: roundsKey, Value: rounds})
	update.Set(text(c, "output_key", "decision"), decision)
	if key := text(c, "value_key", ""); key != "" {
		if !pass {
			v.value = ""
		}
		update.Set(key, v.value)
		if pass && v.unknown {
			return result{}, inexact("validate: the format does not say what %q is when %s passes", key, py.Repr(v.value))
		}
	}
	return result{update: update}, nil
}

// Judges reports whether the node is a validate node that lets some answers pass
// and others not, by rules that are its own.
func (n *Node) Judges() bool {
	return n.Type == "validate" && !byModel(n.Config) && strategyOf(n.Config) != ""
}

// Passes reports whether an answer passes such a node, however often one was
// given (teff format, validate node). What cannot be told is an error.
func (n *Node) Passes(answer py.Value) (bool, error) {
	v, err := judge(n.Config, answer)
	return v.ok && v.clear, err
}

// byModel reports the strategy llm.
func byModel(c *py.Dict) bool { return text(c, "strategy", "") == "llm" || c.GetOr("llm", nil) != nil }

func judge(c *py.Dict, answer py.Value) (verdict, error) {
	missing := py.Truth(c.GetOr("missing_is_ok", false))
	if object, ok := answer.(*py.Dict); ok {
		return judgeObject(c, object, missing), nil
	}
	v := verdict{clear: true}
	switch strategyOf(c) {
	case "equals":
		v.ok = plain(answer) == plain(c.GetOr("equals", nil))
	case "any_of":
		for _, item := range list(c, "any_of") {
			v.ok = v.ok || plain(answer) == plain(item)
		}
	case "regex":
		value, found, err := search(text(c, "regex", ""), py.Str(orElse(answer, "")))
		if err != nil {
			return v, err
		}
		v.ok, v.value = found, value
		return v, nil
	default:
		v.ok, v.unknown = missing, missing
	}
	if v.ok {
		v.value = answer
	}
	return v, nil
}

// judgeObject takes a verdict that is given as an object, whatever the strategy.
func judgeObject(c, object *py.Dict, missing bool) verdict {
	v := verdict{ok: py.Truth(object.GetOr(text(c, "ok_field", "ok"), missing)), clear: true}
	if key := text(c, "value_field", ""); key != "" {
		v.value = object.GetOr(key, nil)
		v.unknown = !v.ok && v.value != nil
	}
	if key := text(c, "clear_field", ""); key != "" {
		v.clear = py.Truth(object.GetOr(key, false))
	}
	return v
}

// strategyOf is the strategy that takes effect when several are given; empty
// ones are none.
func strategyOf(c *py.Dict) string {
	switch {
	case text(c, "regex", "") != "":
		return "regex"
	case len(list(c, "any_of")) > 0:
		return "any_of"
	case c.GetOr("equals", nil) != nil:
		return "equals"
	}
	return ""
}

// plain is how an answer is compared: punctuation counts, unlike in conditions.
func plain(v py.Value) string {
	return py.Lower(py.Strip(py.Str(orElse(v, ""))))
}

// search is re.search: the value is the first group if the pattern has groups,
// else the whole match, and None when that group took no part.
func search(pattern, s string) (value py.Value, found bool, err error) {
	re, err := py.Compile(pattern)
	if err != nil {
		return nil, false, err
	}
	groups, err := re.Search(s)
	var e *py.Error
	if errors.As(err, &e) && e.Type == "TimeoutError" {
		return nil, false, inexact("the regex %q takes too long on this answer; teff would search on", pattern)
	}
	if err != nil || groups == nil {
		return nil, false, err
	}
	return groups[min(1, re.Groups())], true, nil
}
