package teff

import (
	"math/big"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A kind is what an option may be.
type kind uint8

const (
	aText kind = 1 << iota
	aNone
	anInt
	aList
	aDict
)

func (k kind) allows(v py.Value) bool {
	switch v.(type) {
	case nil:
		return k&aNone != 0
	case string:
		return k&aText != 0
	case int64:
		return k&anInt != 0
	case *py.List:
		return k&aList != 0
	case *py.Dict:
		return k&aDict != 0
	case *big.Int, bool, float64, py.Opaque:
		return false
	}
	return false
}

// String names what is allowed.
func (k kind) String() string {
	var names []string
	for i, name := range []string{"a text", "null", "an int", "a list", "a mapping"} {
		if k&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// optionsOf gives the options of a node type that must be of some kind: with
// others Python may still do something, which is not copied. An option that is
// not named may be anything.
func optionsOf(typ string) (map[string]kind, bool) {
	const maybe = aText | aNone
	switch typ {
	case "transform":
		return map[string]kind{
			"action": aText, "input_key": maybe, "output_key": aText, "template": maybe, "field": maybe,
			"sep": maybe, "op": maybe,
		}, true
	case "gate":
		return map[string]kind{
			"input_key": aText, "ok_field": aText, "output_key": aText, "rounds_key": aText, "max_rounds": anInt,
			"message_field": aText, "message_key": maybe,
		}, true
	case "validate":
		return map[string]kind{
			"input_key": aText, "strategy": maybe, "any_of": aList | aNone, "regex": maybe, "output_key": aText,
			"ok_field": aText, "clear_field": maybe, "rounds_key": aText, "max_rounds": anInt, "value_key": maybe,
			"value_field": maybe,
		}, true
	case "command":
		return map[string]kind{"update": aDict | aNone, "routes": aList | aNone, "goto": maybe}, true
	case "interrupt":
		return map[string]kind{"key": aText, "prompt": aText}, true
	case "loop":
		return map[string]kind{"key": maybe, "max_rounds": anInt | maybe}, true
	case "parallel", "fallback":
		return nil, true
	case "map":
		return map[string]kind{
			"input_keys": aList | aText, "output_key": aText, "result_key": maybe, "chunk_size": anInt,
			"max_concurrency": anInt | aNone,
		}, true
	case "subflow":
		return map[string]kind{"input_map": aDict | aNone, "output_map": aDict | aNone, "max_iterations": anInt | aNone}, true
	case "tool_call":
		return map[string]kind{
			"tool": aText, "args": aDict | aNone, "output_key": aText, "on_error": aText, "max_chars": anInt | aNone,
		}, true
	case "context_builder":
		return map[string]kind{
			"sections": aDict | aNone, "messages_key": aText, "output_key": aText, "reset_keys": aList | aNone,
		}, true
	case "append_assistant":
		return map[string]kind{"output_key": aText, "messages_key": aText}, true
	case "supervisor":
		return map[string]kind{
			"output_key": aText, "max_rounds": anInt, "done_keys": aList | aNone, "done_mode": maybe,
			"messages_key": maybe, "fill_order": aList | aNone, "finish": aText, "fallback_agent": maybe, "model": aNone,
		}, true
	}
	return nil, false
}
