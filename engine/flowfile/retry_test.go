package flowfile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// A step with retry calls its idempotent tool again until it succeeds.
func TestRetryOfAStep(t *testing.T) {
	calls := 0
	flaky := tool.Tool{Name: "flaky", Idempotent: true, Run: func(context.Context, tool.Input) (any, error) {
		if calls++; calls < 3 {
			return nil, errors.New("not yet")
		}
		return "ok", nil
	}}
	for _, kind := range []string{"{id: a, type: call, config: {tool: flaky, into: out}, %}", "{id: a, type: tool_call, config: {tool: flaky, output_key: out}, %}"} {
		for retry, want := range map[string]int{"retry: {max_retries: 3, delay: 0.001, backoff: 2, timeout: 5}": 3, "retry: {enabled: false}": 1, "retry: {max_retries: 2}": 2} {
			calls = 0
			text := "steps:\n  - " + strings.Replace(kind, "%", retry, 1) + "\n"
			f, err := flowfile.Parse("f.yaml", []byte(text), flowfile.Options{Tools: tool.NewRegistry(flaky)})
			if err != nil {
				t.Fatal(err)
			}
			res, err := memoryRunner(t, memory.New(memory.Options{}), f).Run(t.Context(), f.Flow, engine.Start{})
			if err != nil || calls != want || (want == 3) != (res.Status == stores.StatusDone && res.State["out"] == "ok") {
				t.Errorf("%s: %d calls, want %d: %+v, %v", text, calls, want, res, err)
			}
		}
	}
}

// A retry that could repeat what may not be repeated is refused when the file is
// read.
func TestRetryRefused(t *testing.T) {
	once := tool.Tool{Name: "once", Run: func(context.Context, tool.Input) (any, error) { return nil, nil }}
	again := tool.Tool{Name: "again", Idempotent: true, Run: once.Run}
	asked := tool.Tool{Name: "asked", Idempotent: true, Approval: tool.ApprovalRequired, Run: once.Run}
	for _, c := range []struct{ step, at, node, want string }{
		{`{id: a, type: call, config: {tool: once}, retry: {max_retries: 2}}`, `{max`, `a`, `retry of a call of "once": it is not idempotent`},
		{`{id: a, type: tool_call, config: {tool: once}, retry: {delay: 1}}`, `{delay`, `a`, `retry of a call of "once": it is not idempotent`},
		{`{id: a, type: call, config: {tool: asked}, retry: {max_retries: 2}}`, `{max`, `a`, `retry of a call of "asked": a person approves it`},
		{`{id: a, type: interrupt, config: {key: k}, retry: {delay: 1}}`, `{delay`, `a`, `retry: a node of type "interrupt" cannot be tried again`},
		{`{id: a, type: parallel, config: {branches: [{type: call, tool: again}]}, retry: {delay: 1}}`, `{delay`, `a`, `retry: a node of type "parallel" cannot be tried again`},
		{`{id: a, type: command, config: {update: {x: 1}}, retry: {delay: 1}}`, `{delay`, `a`, `retry of a step of type "command"`},
		{`{id: a, type: call, config: {tool: again}, retry: {retry_on: [ValueError]}}`, `[V`, `a`, `retry_on names Python's exceptions`},
		{`{id: a, type: call, config: {tool: again}, retry: {max_retries: 0}}`, `0}}`, `a`, `max_retries must be a whole number`},
		{`{id: a, type: call, config: {tool: again}, retry: {delay: -1}}`, `-1`, `a`, `delay must be a number of seconds`},
		{`{id: a, type: call, config: {tool: again}, retry: {backoff: 0}}`, `0}}`, `a`, `backoff must be more than 0`},
		{`{id: a, type: call, config: {tool: again}, retry: {tries: 1}}`, `tries`, `a`, `retry has no key "tries"`},
		{`{id: a, type: parallel, config: {branches: [{type: call, tool: once, retry: {delay: 1}}]}}`, `{delay`, `a/branch1`, `retry of a call of "once"`},
		{`{id: a, type: loop, config: {key: k, until: x, body: [{type: call, tool: once, retry: {delay: 1}}]}}`, `{delay`, `a:body`, `retry of a call of "once"`},
		{`{id: a, type: map, config: {input_keys: l, output_key: o, processor: {type: call, tool: once, retry: {delay: 1}}}}`, `{delay`, `a/item`, `retry of a call of "once"`},
	} {
		_, err := flowfile.Parse("f.yaml", []byte("steps:\n  - "+c.step+"\n"), flowfile.Options{Tools: tool.NewRegistry(once, again, asked)})
		want := fmt.Sprintf("f.yaml:2:%d: node %q: %s", len("  - ")+strings.Index(c.step, c.at)+1, c.node, c.want)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.step, err, want)
		}
	}
}
