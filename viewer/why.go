package viewer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// why says in one sentence why a run is not moving, and next what the operator
// can do about it. They are the only sentences about that, in lists, details
// and plans.
func why(f facts) (why, next string) {
	switch {
	case f.foreign != nil:
		why, next = whyForeign(f)
	case f.setBack:
		return f.reason, f.forget
	case f.verdict.Bad():
		return f.reason, "nothing can be resumed, recovered or approved; see all findings with verify"
	case f.inDoubt():
		why, next = whyInDoubt(f)
	case f.paused():
		why, next = whyPaused(f)
	case f.running():
		why, next = whyRunning(f)
	case f.status == string(stores.StatusFailed) && f.denied().Tool != "":
		why, next = whyDenied(f.denied()), "nothing to do: it was denied"
	case f.status == string(stores.StatusFailed):
		why, next = whyFailed(f), "it has ended: remove the cause, then start a new run"
	default:
		why = "it is done"
	}
	switch hint := keyless(f.verdict); {
	case f.final() || f.pulse() == alive || f.pulse() == maybe:
	case f.refusals.write != "":
		next = "nothing can be done from here: " + f.refusals.write
	case hint != "":
		next = hint
	}
	return why, next
}

func keyless(v Verdict) string {
	switch v {
	case NoKeyGiven:
		return "give the key with --key-file, --key-env, --key-cmd or FLOWTUI_KEY_FILE: without it nothing can be done with the run"
	case UnknownKey:
		return "add the key that signed it to the key file: without it nothing can be done with the run"
	}
	return ""
}

func whyInDoubt(f facts) (string, string) {
	c := f.doubts[0]
	var text string
	switch who := nameOr(c.By, "the worker"); {
	case c.Status == stores.CallUnrecordable:
		text = doubtOn(c, c.Tool)
	case f.lapsed != nil:
		text = fmt.Sprintf("%s lost its lease at %s while %s ran: it may or may not have had its effect", f.lapsed.Holder, timeOf(f.now, f.lapsed.Expires), c.Tool)
	case f.leases:
		text = fmt.Sprintf("%s stopped while %s ran, started at %s: it may or may not have had its effect", who, c.Tool, timeOf(f.now, c.Started))
	default:
		text = fmt.Sprintf("%s started %s at %s and nothing came since: it may or may not have had its effect", who, c.Tool, timeOf(f.now, c.Started))
	}
	if more := len(f.doubts) - 1; more > 0 {
		text += fmt.Sprintf("; %s more in doubt", plural(more, "call"))
	}
	return text, fmt.Sprintf("look where %s should have had its effect, then resolve %s: say what happened", c.Tool, c.ID)
}

func whyPaused(f facts) (string, string) {
	if len(f.waiting) == 0 {
		return "it is paused, but waits for nothing that can be shown", "open it"
	}
	for_ := ""
	if !f.since.IsZero() {
		for_ = ", since " + timeOf(f.now, f.since)
	}
	more := openToo(f.waiting)
	if f.stored > 0 {
		more += fmt.Sprintf("; %s stored already", plural(f.stored, "decision"))
	}
	w := f.waiting[0]
	if w.Type == WaitApproval {
		return fmt.Sprintf("%s wants approval for %s%s%s", w.Node, w.Tool, more, for_), "read what it would do, then approve or deny it"
	}
	if w.Turn {
		return fmt.Sprintf("%s waits for the next message%s%s", nameOr(w.Node, "it"), more, for_), "nothing to do: who talks with it goes on"
	}
	next := "answer it"
	if len(w.Choices) > 0 {
		next = "answer it with one of: " + strings.Join(w.Choices, ", ")
	} else if w.Want != "" {
		next = "answer it; what passes is " + w.Want
	}
	return fmt.Sprintf(`%s asks "%s"%s%s`, w.Node, clip(masked(nameOr(w.Prompt, w.Key)), 120), more, for_), next
}

// openToo is what the run waits for besides the first, "" for nothing.
func openToo(list []Waiting) string {
	calls, questions := 0, 0
	for _, w := range list[1:] {
		if w.Type == WaitApproval {
			calls++
		} else {
			questions++
		}
	}
	switch {
	case calls+questions == 0:
		return ""
	case questions == 0 && list[0].Type == WaitApproval:
		return fmt.Sprintf(", and for %d more", calls)
	case calls == 0 && list[0].Type != WaitApproval:
		return fmt.Sprintf(", and %s", plural(questions, "more question"))
	case calls == 0:
		return ", and " + plural(questions, "question") + isOpen(questions)
	case questions == 0:
		return ", and " + plural(calls, "approval") + isOpen(calls)
	}
	return fmt.Sprintf(", and %s and %s are open too", plural(calls, "approval"), plural(questions, "question"))
}

func isOpen(n int) string {
	if n == 1 {
		return " is open too"
	}
	return " are open too"
}

func whyRunning(f facts) (string, string) {
	where := nameOr(strings.Join(f.at, ", "), "nothing")
	switch f.pulse() {
	case alive:
		return fmt.Sprintf("%s works on %s, its lease runs until %s", f.lease.Holder, where, timeOf(f.now, f.lease.Expires)), "nothing to do"
	case maybe:
		return fmt.Sprintf("updated at %s, at %s; this store does not tell who works on it", timeOf(f.now, f.updated), where), "nothing to do"
	case skewed:
		return "its last update is " + age(f.updated, f.now) + " in the future: clocks differ, so whether a worker is on it is unknown", "look at its worker before you recover it"
	}
	next := "recover it: finished calls replay, then it goes on at " + where
	switch {
	case f.failure != "":
		return "held " + strings.TrimPrefix(whyFailed(f), "failed "), "mend what is wrong, then bring it on: it tries " + where + " again"
	case f.stored > 0:
		return fmt.Sprintf("%s stored at %s, and no worker has picked the run up", plural(f.stored, "decision"), timeOf(f.now, f.updated)), next
	case len(f.unstarted) > 0:
		c := f.unstarted[0]
		return fmt.Sprintf("%s could not start %s, so it did not run: %s", nameOr(c.By, "the worker"), c.Tool, startError(c)), "recover it where the tool can be started"
	case len(f.resolved) > 0:
		return fmt.Sprintf("%s resolved, and no worker has picked the run up", strings.Join(f.resolved, ", ")), next
	case f.lapsed != nil:
		return fmt.Sprintf("%s lost its lease at %s before %s finished; no call is in doubt", f.lapsed.Holder, timeOf(f.now, f.lapsed.Expires), where), next
	}
	return fmt.Sprintf("%s stopped before %s finished, silent since %s; no call is in doubt", nameOr(f.worker, "the worker"), where, timeOf(f.now, f.updated)), next
}

func whyFailed(f facts) string {
	text := "failed"
	if len(f.at) > 0 {
		text += " at " + strings.Join(f.at, ", ")
	}
	if f.failure != "" {
		text += ": " + f.failure
	}
	return text
}

func whyDenied(d engine.Denial) string {
	text := d.By + " denied " + d.Tool
	if d.Note != "" {
		text += ": " + d.Note
	}
	return text
}

func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// timeOf is a time of day in UTC, with its date when it is not of the last half
// day. A sentence stays true while it is on the screen, unlike one with an age.
func timeOf(now, t time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "an unknown time"
	case d > 12*time.Hour || d < -12*time.Hour:
		return t.UTC().Format(time.DateTime + " UTC")
	}
	return t.UTC().Format(time.TimeOnly + " UTC")
}

// age is the time from t to now in one unit, never negative.
func age(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "an unknown time"
	case d < -quiet:
		return "an unknown time (clocks differ by " + age(t, now) + ")"
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + "d"
}

// masked is s without secrets, to be cut: a secret that was cut has no shape.
func masked(s string) string {
	s, _ = maskText(s)
	return s
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
