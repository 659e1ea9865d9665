package flowfile

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
)

var (
	modelKeys     = keys{known: []string{"name", "provider", "model", "base_url", "key_env", "timeout", "temperature", "max_tokens", "replies"}}
	replyKeys     = keys{known: []string{"content", "tool_calls"}}
	replyCallKeys = keys{known: []string{"name", "args"}}
	toolLoopKeys  = keys{known: []string{"model", "system", "prompt", "tools", "max_steps", "messages", "into"}}
)

// lazyModel is opened at its first use: a file can be read, and its runs looked
// at, where the model's key is not set.
type lazyModel struct {
	spec model.Spec
	open func(model.Spec) (model.Model, error)
	mu   sync.Mutex
	m    model.Model // nil until it could be opened
}

var errNoModels = errors.New("this program has no models")

func (l *lazyModel) Complete(ctx context.Context, req model.Request) (model.Reply, error) {
	m, err := l.opened()
	if err != nil {
		return model.Reply{}, err
	}
	return m.Complete(ctx, req)
}

// opened tries again after a failure: what was missing may be there by now.
func (l *lazyModel) opened() (model.Model, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m != nil {
		return l.m, nil
	}
	if l.open == nil {
		return nil, errNoModels
	}
	m, err := l.open(l.spec)
	if err == nil {
		l.m = m
	}
	return m, err
}

func (d *document) readModels(root *item) {
	it := root.get("models")
	d.models = map[string]model.Model{}
	if it != nil || talks(root.get("steps")) {
		d.modelKeys = []string{"OPENAI_API_KEY", "OPENROUTER_API_KEY"} // the providers' own
	}
	d.lostModel = it != nil && it.kind != isList && it.kind != isNull
	for _, e := range d.items(it, "models") {
		if e.kind == isNull {
			d.wrong(e, "each of models", isMapping)
			d.lostModel = true
		} else if d.mapping(e, "a model", modelKeys) {
			d.readModel(e)
		} else {
			d.lostModel = true
		}
	}
}

// talks reports whether a step, or one inside of a step, talks with a model,
// which it may name itself.
func talks(it *item) bool {
	if it == nil {
		return false
	}
	if kind := it.get("type"); kind != nil && slices.Contains([]string{"tool_loop", "llm", "llm_chat"}, kind.text) {
		return true
	}
	return slices.ContainsFunc(it.list, talks) || slices.ContainsFunc(it.fields, func(f field) bool { return talks(f.value) })
}

func (d *document) readModel(it *item) {
	before := len(*d.errs)
	name := d.required(it, "name", "a model")
	d.name(it.get("name"), "model")
	d.lostModel = d.lostModel || name == ""
	spec := model.Spec{
		Provider: d.required(it, "provider", "a model"), Model: d.text(it.get("model"), "model"),
		BaseURL: d.text(it.get("base_url"), "base_url"), KeyEnv: d.text(it.get("key_env"), "key_env"),
		Timeout: d.timeout(it.get("timeout")), MaxTokens: d.whole(it.get("max_tokens"), "max_tokens"),
		Temperature: d.number(it.get("temperature"), "temperature"), Replies: d.replies(it.get("replies")),
	}
	if len(*d.errs) == before {
		if err := spec.Validate(); err != nil {
			d.fail(it, "%s", err)
		}
	}
	d.modelKeys = append(d.modelKeys, spec.KeyEnv)
	if _, taken := d.models[name]; taken {
		d.fail(it.get("name"), "a model of the name %q stands already above", name)
	}
	d.models[name] = &lazyModel{spec: spec, open: d.opts.Models}
}

// whole is a positive whole number, 0 when the key is absent.
func (r reader) whole(it *item, what string) int64 {
	if it == nil || it.kind == broken {
		return 0
	}
	n, err := strconv.ParseInt(it.text, 10, 64)
	if it.kind != isNumber || err != nil || n < 1 {
		r.fail(it, "%s must be a whole number from 1 on", what)
		return 0
	}
	return n
}

func (r reader) number(it *item, what string) *float64 {
	if it == nil || it.kind == broken {
		return nil
	}
	f, err := strconv.ParseFloat(it.text, 64)
	if it.kind != isNumber || err != nil || math.IsInf(f, 0) {
		r.fail(it, "%s must be a number", what)
		return nil
	}
	return &f
}

// replies are the script of a scripted model.
func (r reader) replies(it *item) []model.Message {
	var out []model.Message
	for _, e := range r.items(it, "replies") {
		if !r.mapping(e, "a reply", replyKeys) {
			continue
		}
		m := model.Message{Role: model.Assistant, Content: r.text(e.get("content"), "content")}
		for _, c := range r.items(e.get("tool_calls"), "tool_calls") {
			if !r.mapping(c, "a tool call", replyCallKeys) {
				continue
			}
			call := model.ToolCall{Name: r.required(c, "name", "a tool call"), Args: json.RawMessage("{}")}
			if args := c.get("args"); args != nil && args.kind != isNull {
				raw, err := engine.Seal(args.value())
				if err != nil {
					r.fail(args, "args: %s", err)
				}
				call.Args = raw
			}
			m.ToolCalls = append(m.ToolCalls, call)
		}
		out = append(out, m)
	}
	return out
}

// toolLoop adds a step that talks with a model. Without a list of tools it may
// call those that the file declares.
func (d *document) toolLoop(r reader, id string, cfg *item) {
	if !r.mapping(cfg, "config of a tool_loop", toolLoopKeys) {
		return
	}
	before := len(*r.errs)
	l := engine.ToolLoop{
		Model: d.model(r, cfg, "config of a tool_loop"), Tools: d.loopTools(r, cfg.get("tools")), System: r.text(cfg.get("system"), "system"),
		MaxSteps: r.whole(cfg.get("max_steps"), "max_steps"),
		Messages: r.text(cfg.get("messages"), "messages"), Into: r.text(cfg.get("into"), "into"),
	}
	if it := cfg.get("prompt"); it != nil {
		l.Prompt = r.template(it, r.text(it, "prompt")).render
	}
	key := l.Messages
	if key == "" {
		key = "messages"
	}
	if d.reducers[key] != "" && d.reducers[key] != engine.Append {
		r.fail(cfg, "the conversation in %q grows, but its reducer is %q; leave that out", key, d.reducers[key])
	}
	if len(*r.errs) == before && id != "" {
		d.flow.ToolLoop(id, l)
	}
}

func (d *document) model(r reader, cfg *item, what string) model.Model {
	name := r.required(cfg, "model", what)
	m, ok := d.models[name]
	switch {
	case ok || name == "":
		return m
	case strings.Contains(name, "/"):
		spec, err := model.ParseName(name)
		if err != nil {
			r.fail(cfg.get("model"), "%s", err)
		}
		return &lazyModel{spec: spec, open: d.opts.Models}
	case !d.lostModel:
		r.fail(cfg.get("model"), `no model is named %q; declare it under "models", or write PROVIDER/MODEL`, name)
	}
	return nil
}

func (d *document) loopTools(r reader, it *item) []string {
	if it == nil || it.kind == isNull {
		names := []string{}
		for name := range d.declared {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	names := r.texts(it, "tools")
	for i, name := range names {
		d.mustHaveTool(r, it.list[i], name)
	}
	return names
}
