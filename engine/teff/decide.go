package teff

import (
	"math"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// round is the value of a counter of the state plus one.
func round(state *py.Dict, key string) (int64, error) {
	v, err := py.Int(orElse(state.GetOr(key, nil), int64(0)))
	if err != nil {
		return 0, err
	}
	n, ok := v.(int64)
	if !ok || n == math.MaxInt64 {
		return 0, inexact("the counter %q is too large to count on", key)
	}
	return n + 1, nil
}

// gate decides by a field of a verdict and lets pass what was tried too often.
func gate(n *Node, state *py.Dict) (result, error) {
	c := n.Config
	rounds, err := round(state, text(c, "rounds_key", "rounds"))
	if err != nil {
		return result{}, err
	}
	ok := py.Truth(c.GetOr("missing_is_ok", true))
	message := ""
	if verdict, is := state.GetOr(text(c, "input_key", "verdict"), nil).(*py.Dict); is {
		ok = py.Truth(verdict.GetOr(text(c, "ok_field", "ok"), ok))
		v := verdict.GetOr(text(c, "message_field", "message"), nil)
		if v != nil && v != "" && !py.Truth(v) {
			return result{}, inexact("gate: the format does not say how the message %s is written", py.Repr(v))
		}
		message = py.Strip(py.Str(orElse(v, "")))
	}
	pass := ok || rounds >= whole(c, "max_rounds", 3)
	update := py.NewDict(py.Entry{Key: text(c, "rounds_key", "rounds"), Value: rounds})
	decision, remark := c.GetOr("fail_value", "fix"), message
	if pass {
		decision, remark = c.GetOr("pass_value", "yes"), ""
	}
	update.Set(text(c, "output_key", "decision"), decision)
	if key := text(c, "message_key", ""); key != "" {
		update.Set(key, remark)
	}
	return result{update: update}, nil
}

// command merges its update and says where to go.
func command(n *Node, state *py.Dict) (result, error) {
	to, err := commandGoto(n.Config, state)
	if err != nil {
		return result{}, err
	}
	r := result{update: dict(n.Config, "update"), stop: to == Stop}
	if to != Stop {
		r.goTo = to
	}
	return r, nil
}

// commandGoto is that of the first route that holds, or the command's own; a
// route that holds and goes nowhere ends the search.
func commandGoto(c, state *py.Dict) (string, error) {
	for _, item := range list(c, "routes") {
		route, ok := item.(*py.Dict)
		if !ok {
			continue
		}
		holds, err := Holds(text(route, "when", ""), state)
		if err != nil {
			return "", err
		}
		if holds {
			if to := text(route, "goto", ""); to != "" {
				return to, nil
			}
			break
		}
	}
	return text(c, "goto", ""), nil
}

// interrupt always pauses: a resumed run goes on after it.
func interrupt(n *Node, state *py.Dict) (result, error) {
	prompt, err := render(n.Config.GetOr("prompt", ""), state)
	if err != nil {
		return result{}, err
	}
	return result{}, &Interrupt{Key: text(n.Config, "key", ""), Prompt: py.Str(prompt)}
}
