package flowfile

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/engine/tool"
)

var retryKeys = keys{known: []string{"enabled", "max_retries", "delay", "backoff", "timeout", "retry_on"}}

// retried is a node that is tried as often as its step's retry says. What may
// not be repeated is refused: a call of a tool that is not idempotent may have
// had its effect though it failed, and an approval is for one try.
func (d *document) retried(r reader, it *item, n engine.Node) engine.Node {
	cfg := it.get("retry")
	if cfg == nil || n == nil {
		return n
	}
	before := len(*r.errs)
	retry := r.retry(cfg, n)
	if len(*r.errs) > before || retry == nil {
		return n
	}
	if name, calls := calledBy(n); calls {
		switch t, known := d.tools.Get(name); {
		case known && !t.Idempotent:
			r.fail(cfg, "retry of a call of %q: it is not idempotent, so that a call which failed may have had its effect; declare it idempotent if it is", name)
			return n
		case known && t.Approval == tool.ApprovalRequired:
			r.fail(cfg, "retry of a call of %q: a person approves it, and an approval is for one try", name)
			return n
		}
	}
	out, err := retry.Wrap(n)
	if err != nil {
		r.fail(cfg, "retry: %s: put it on the steps inside", err)
		return n
	}
	return out
}

func calledBy(n engine.Node) (tool string, calls bool) {
	switch n := n.(type) {
	case engine.Call:
		return n.Tool, true
	case toolCall:
		return n.tool, true
	}
	return "", false
}

// retry reads how often a node is tried; nil is once.
func (r reader) retry(cfg *item, n engine.Node) *engine.Retry {
	if cfg.kind == isNull || !r.mapping(cfg, "retry", retryKeys) || len(cfg.fields) == 0 {
		return nil
	}
	out := &engine.Retry{Attempts: 3}
	if it := cfg.get("max_retries"); it != nil {
		out.Attempts = int(min(r.whole(it, "max_retries"), 1<<30))
	}
	out.Delay, out.Timeout = r.seconds(cfg.get("delay"), "delay"), r.seconds(cfg.get("timeout"), "timeout")
	if f := r.number(cfg.get("backoff"), "backoff"); f != nil {
		if out.Backoff = *f; *f <= 0 {
			r.fail(cfg.get("backoff"), "backoff must be more than 0")
		}
	}
	if it := cfg.get("retry_on"); it != nil && it.kind != isNull {
		out.On = r.retryOn(it, n)
	}
	if it := cfg.get("enabled"); it != nil && !r.truth(it, "enabled") {
		return nil
	}
	return out
}

// retryOn are the errors that are tried again, by their Python classes.
func (r reader) retryOn(it *item, n engine.Node) func(error) bool {
	classes := r.texts(it, "retry_on")
	if len(classes) == 0 {
		return nil
	}
	if _, ok := n.(stepped); !ok {
		r.fail(it, "retry_on names Python's exceptions, which a step of type %q does not raise; without it every error is tried again", n.Type())
	}
	return func(err error) bool {
		var e *py.Error
		return errors.As(err, &e) && slices.Contains(classes, e.Type)
	}
}

// seconds is a duration that is written as a number of seconds.
func (r reader) seconds(it *item, what string) time.Duration {
	if it == nil || it.kind == isNull {
		return 0
	}
	f, err := strconv.ParseFloat(it.text, 64)
	if it.kind != isNumber || err != nil || f < 0 || f > 1e9 {
		if it.kind != broken {
			r.fail(it, "%s must be a number of seconds", what)
		}
		return 0
	}
	return time.Duration(f * float64(time.Second))
}
