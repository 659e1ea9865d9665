package teff

import (
	"errors"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/engine/teff/py/calc"
)

// Calculator is the type of the one tool that the engine has.
const Calculator = "calculator"

// toolCall runs a tool with rendered arguments and writes its result as text.
// on_error "message" is for what the tool raises, not for a missing tool or a
// template that fails.
func (x *executor) toolCall(n *Node, state *py.Dict) (result, error) {
	c := n.Config
	name := text(c, "tool", "")
	if name != Calculator || !slices.Contains(x.tools, name) {
		return result{}, py.NewKeyError("unknown tool: " + name)
	}
	args := py.NewDict()
	if given := dict(c, "args"); given != nil {
		for key, v := range given.All() {
			if s, ok := v.(string); ok {
				rendered, err := render(s, state)
				if err != nil {
					return result{}, err
				}
				v = rendered
			}
			args.Set(key, v)
		}
	}
	out, err := calculate(args)
	if err != nil {
		if _, own := ownLimit(err); own || !isException(err) || text(c, "on_error", "raise") != "message" {
			return result{}, err
		}
		out = "error: " + message(err)
	}
	if most, ok := c.GetOr("max_chars", nil).(int64); ok {
		out = first(out, most)
	}
	return result{update: py.NewDict(py.Entry{Key: text(c, "output_key", "output"), Value: out})}, nil
}

func calculate(args *py.Dict) (string, error) {
	for _, key := range args.Keys() {
		if key != "expression" {
			return "", py.Errorf("TypeError", "CalculatorTool.run() got an unexpected keyword argument '%s'", key)
		}
	}
	return calc.Eval(py.Str(args.GetOr("expression", "")))
}

// message is str(exception).
func message(err error) string {
	var e *py.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// first is s[:most].
func first(s string, most int64) string {
	all := py.Characters(s)
	n := int64(len(all))
	if most < 0 {
		most = max(0, n+most)
	}
	return strings.Join(all[:min(n, most)], "")
}
