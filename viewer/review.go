package viewer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

// reviews are the open approvals, interrupts and calls in doubt in full:
// nothing that is approved is left out.
func reviews(p engine.Plan, calls []engine.CallInfo, ahead outlook, reveal bool) []ReviewEntry {
	var list []ReviewEntry
	if p.Action == engine.PlanResume {
		for _, w := range p.Body.Waiting {
			e := ReviewEntry{Waiting: waitingOf(w, false), Text: w.Prompt, Bytes: len(w.Args), Digest: w.Digest, Since: w.Since.UTC()}
			e.Idempotent = idempotent(calls, w.ID)
			e.draw(reveal)
			if w.Type == engine.WaitApproval {
				e.IfYes, e.IfNo = ifApproved(w, p, ahead), ifDenied(w, p, ahead)
				if ahead.nodeType(w.Node) == "tools" {
					e.IfYes, e.IfNo = ifApprovedInReply(w, p, ahead), ifDeniedInReply(w, p)
				}
			} else {
				e.IfYes = ifAnswered(w, p, ahead)
			}
			list = append(list, e)
		}
	}
	for _, c := range p.InDoubt {
		e := ReviewEntry{Waiting: doubtOf(c, false), Idempotent: c.Idempotent, Bytes: len(c.Args), Digest: c.Digest, Since: c.Started.UTC()}
		e.draw(reveal)
		e.IfYes = "its result is recorded, and a recovery does not run it again"
		e.IfNo = "that is recorded, and a recovery runs it once"
		if e.Ran {
			e.IfNo = "that is recorded against the record that it ran, and a recovery runs it a second time"
		}
		list = append(list, e)
	}
	return list
}

// draw makes the lines of the arguments, masked unless revealed.
func (e *ReviewEntry) draw(reveal bool) {
	m := maskedJSON{JSON: e.Args}
	if !reveal {
		m = maskJSON(e.Args)
	}
	e.Args, e.Masked = m.JSON, m.Count()
	if !reveal {
		e.Masked += e.maskedTexts()
	}
	if len(m.JSON) > 0 {
		e.Lines, _ = linesOf(m, reviewing)
	}
}

// idempotent looks a waiting call's tool up in the call log.
func idempotent(calls []engine.CallInfo, id string) bool {
	for _, c := range calls {
		if c.ID == id {
			return c.Idempotent
		}
	}
	return false
}

func ifApproved(w engine.Waiting, p engine.Plan, ahead outlook) string {
	text := fmt.Sprintf("the decision is stored with step %d, then %s runs once", p.Checkpoint.Step+1, w.Tool)
	if also := ahead.released(w, p); len(also) > 0 {
		text += ", and also " + withApprovers(p, also)
	}
	return ahead.onward(text, w, p, ahead.then())
}

func ifAnswered(w engine.Waiting, p engine.Plan, ahead outlook) string {
	step := p.Checkpoint.Step + 1
	text := fmt.Sprintf("the answer is stored with step %d and given to %s", step, w.Node)
	if w.Key != "" && ahead.nodeType(w.Node) == "interrupt" {
		text = fmt.Sprintf("the answer is stored with step %d and lands in the state as %s", step, w.Key)
	}
	if w.Turn {
		text = fmt.Sprintf("the message is stored with step %d and joins the conversation", step)
	}
	if _, ends := ahead.denied(p); ends {
		text = fmt.Sprintf("the answer is stored with step %d", step)
	}
	if also := ahead.released(w, p); len(also) > 0 {
		text += ", then runs " + withApprovers(p, also)
	}
	return ahead.onward(text, w, p, ahead.then())
}

// released are the calls that were approved before and run for the first time once
// w is decided. In a reply of a model none runs before one that is open.
func (o outlook) released(w engine.Waiting, p engine.Plan) (ready []engine.CallInfo) {
	for _, c := range approved(p) {
		held := o.nodeType(c.Node) == "tools" && slices.ContainsFunc(p.Pending, func(before engine.CallInfo) bool {
			return before.Node == c.Node && before.Ordinal < c.Ordinal && slices.Contains(others(p, w.ID), before.ID)
		})
		if !held {
			ready = append(ready, c)
		}
	}
	return ready
}

// onward is what a decision on w comes to: it does what text says, and then what
// is told, unless others are open or a denial that is stored leads elsewhere.
func (o outlook) onward(text string, w engine.Waiting, p engine.Plan, then string) string {
	open := others(p, w.ID)
	denied, ends := o.denied(p)
	switch {
	case ends && len(open) > 0:
		return text + "; " + denied + "; " + listed(open) + " " + are(open) + " never asked again"
	case len(open) > 0:
		return text + stayOpen(len(open))
	case denied != "":
		return text + "; " + denied
	}
	return joined(text, then)
}

// ifDenied also says what becomes of the other calls of the superstep: a run
// that fails asks for none of them again, but what has run has run.
func ifDenied(w engine.Waiting, p engine.Plan, ahead outlook) string {
	text := fmt.Sprintf("the decision is stored with step %d, %s does not run, and ", p.Checkpoint.Step+1, w.Tool)
	to := ahead.onError(w.Node)
	open := others(p, w.ID)
	also := ""
	if ready := ahead.released(w, p); len(ready) > 0 {
		also = "; what is approved already still runs: " + listed(ids(ready))
	}
	denied, ends := ahead.denied(p)
	switch {
	case ends:
		text = strings.TrimSuffix(text, ", and ") + "; " + denied
	case len(to) > 0:
		text += "the run goes on at " + strings.Join(to, " or ") + ", its way for errors"
		if len(open) > 0 {
			text += ", once " + listed(open) + " " + are(open) + " decided too"
		}
		return text + also
	case ahead.nodeType(w.Node) == "call":
		text += "the run fails with your note"
	default:
		text += w.Node + " is told; the run fails with your note unless its code handles that"
	}
	if len(open) > 0 {
		text += "; " + listed(open) + " " + are(open) + " never asked again"
	}
	text += also
	if done := ids(p.Replay); len(done) > 0 {
		text += "; what " + listed(done) + " did stays done"
	}
	return text
}

// others are the questions that nobody has decided yet, but for one.
func others(p engine.Plan, id string) []string {
	var open []string
	for _, w := range p.Body.Waiting {
		decided := slices.ContainsFunc(p.Decisions, func(d engine.Decision) bool { return d.ID == w.ID && d.Digest == w.Digest })
		if w.ID != id && !decided {
			open = append(open, w.ID)
		}
	}
	return open
}

func ids(calls []engine.CallInfo) []string {
	var list []string
	for _, c := range calls {
		list = append(list, c.ID)
	}
	return list
}

// listed is "a", "a and b", "a, b and c".
func listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// stayOpen says how many more a run waits for.
func stayOpen(n int) string {
	if n == 1 {
		return "; 1 more stays open"
	}
	return fmt.Sprintf("; %d more stay open", n)
}

func are(names []string) string {
	if len(names) == 1 {
		return "is"
	}
	return "are"
}

func joined(text, then string) string {
	if text == "" || then == "" {
		return text + then
	}
	return text + ", " + then
}
