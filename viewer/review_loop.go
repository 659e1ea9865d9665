package viewer

import (
	"fmt"

	"github.com/flowtui/flowtui/engine"
)

// before are the open questions about calls that stand before one in the same
// reply of a model. Nothing after them runs until they are decided.
func before(w engine.Waiting, p engine.Plan) []string {
	var list []string
	for _, o := range p.Body.Waiting {
		if o.ID == w.ID {
			break
		}
		if o.Node == w.Node {
			list = append(list, o.ID)
		}
	}
	return list
}

// ifApprovedInReply is what approving a call of a model's reply does.
func ifApprovedInReply(w engine.Waiting, p engine.Plan, ahead outlook) string {
	stored := fmt.Sprintf("the decision is stored with step %d", p.Checkpoint.Step+1)
	if first := before(w, p); len(first) > 0 {
		return fmt.Sprintf("%s; %s runs once, when %s %s decided too", stored, w.Tool, listed(first), are(first))
	}
	text := fmt.Sprintf("%s, then %s runs once", stored, w.Tool)
	if also := ahead.released(w, p); len(also) > 0 {
		text += ", and also " + withApprovers(p, also)
	}
	return ahead.onward(text, w, p, "then the rest of the reply, then the model goes on")
}

// ifDeniedInReply is what denying a call of a model's reply does: it is no
// failure of the run.
func ifDeniedInReply(w engine.Waiting, p engine.Plan) string {
	text := fmt.Sprintf("the decision is stored with step %d; %s does not run, nor what follows it in the reply; the model is told, and goes on", p.Checkpoint.Step+1, w.Tool)
	if first := before(w, p); len(first) > 0 {
		text += fmt.Sprintf(", once %s %s decided too", listed(first), are(first))
	}
	return text
}
