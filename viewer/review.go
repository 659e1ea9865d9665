package viewer

import (
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

// reviews are the open approvals, interrupts and calls in doubt in full:
// nothing that is approved is left out.
func reviews(p engine.Plan, calls []engine.CallInfo, ahead outlook, reveal bool) []ReviewEntry {
	var list []ReviewEntry
	step := p.Checkpoint.Step + 1
	if p.Action == engine.PlanResume {
		for _, w := range p.Body.Waiting {
			e := ReviewEntry{Waiting: waitingOf(w, false), Bytes: len(w.Args), Digest: w.Digest, Since: w.Since.UTC()}
			e.Idempotent = idempotent(calls, w.ID)
			e.draw(reveal)
			if w.Type == engine.WaitApproval {
				e.IfYes, e.IfNo = ifApproved(w, step, ahead, len(p.Body.Waiting)), ifDenied(w, step, ahead)
			} else {
				e.IfYes = ifAnswered(w, step, ahead, len(p.Body.Waiting))
			}
			list = append(list, e)
		}
	}
	for _, c := range p.InDoubt {
		e := ReviewEntry{Waiting: doubtOf(c, false), Idempotent: c.Idempotent, Bytes: len(c.Args), Digest: c.Digest, Since: c.Started.UTC()}
		e.draw(reveal)
		e.IfYes = fmt.Sprintf("the result is recorded; a recovery takes it and does not run %s", c.Tool)
		e.IfNo = fmt.Sprintf("it is recorded that it did not run; a recovery runs %s once", c.Tool)
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

func ifApproved(w engine.Waiting, step int64, ahead outlook, open int) string {
	text := fmt.Sprintf("the decision is stored with step %d, then %s runs once, here", step, w.Tool)
	if open > 1 {
		return text + fmt.Sprintf("; %s more stay open", plural(open-1, "question"))
	}
	return joined(text, ahead.then())
}

func ifAnswered(w engine.Waiting, step int64, ahead outlook, open int) string {
	text := fmt.Sprintf("the answer is stored with step %d and given to %s", step, w.Node)
	if w.Key != "" && ahead.nodeType(w.Node) == "interrupt" {
		text = fmt.Sprintf("the answer is stored with step %d and lands in the state as %s", step, w.Key)
	}
	if open > 1 {
		return text + fmt.Sprintf("; %s more stay open", plural(open-1, "question"))
	}
	return joined(text, ahead.then())
}

func ifDenied(w engine.Waiting, step int64, ahead outlook) string {
	text := fmt.Sprintf("the decision is stored with step %d, %s does not run, and ", step, w.Tool)
	to := ahead.onError(w.Node)
	switch {
	case len(to) > 0:
		return text + "the run goes on at " + strings.Join(to, " or ") + ", its way for errors"
	case ahead.nodeType(w.Node) == "call":
		return text + "the run fails with your note"
	}
	return text + w.Node + " is told; the run fails with your note unless its code handles that"
}

func joined(text, then string) string {
	if text == "" || then == "" {
		return text + then
	}
	return text + ", " + then
}
