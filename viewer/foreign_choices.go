package viewer

import (
	"context"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/stores"
)

// foretold says what happens for each answer that the workflow tells apart.
func foretold(choices []teff.Choice) string {
	var parts []string
	for _, c := range choices {
		parts = append(parts, choiceName(c, len(choices) == 1)+": "+c.Preview.Sentence)
	}
	return strings.Join(parts, "; ")
}

func choiceName(c teff.Choice, only bool) string {
	switch {
	case c.Pattern != "":
		return "what matches " + c.Pattern
	case c.Number != "":
		return "a number " + c.Number
	case c.Else && only:
		return "any answer"
	case c.Else:
		return "anything else"
	}
	return fmt.Sprintf("%q", c.Answer)
}

// wanted is what the Ask of the workflow accepts, in words, "" when nothing
// judges the answer, and where everything or nothing that can be named passes.
func wanted(choices []teff.Choice) string {
	var names []string
	for _, c := range choices {
		switch {
		case c.Preview.Verdict != teff.Accepted:
		case c.Else:
			return ""
		default:
			names = append(names, choiceName(c, false))
		}
	}
	return strings.Join(names, ", or ")
}

// sayWanted adds to what a run of teff's waits for which answers pass, as far as
// the workflow at hand tells.
func (s *Service) sayWanted(ctx context.Context, a *attachment, g glimpse, waiting []Waiting) {
	f := s.facts(g)
	w := s.workflowOf(f)
	if len(waiting) != 1 || !f.paused() || f.foreign.Parent != "" || w.err != nil {
		return
	}
	k := g.head.Key
	runner := &teff.Runner{Workflow: w.Workflow, Store: rowsOf(a, k.Owner), Now: s.o.Clock}
	if choices, err := runner.Choices(ctx, originalID(Ref{Run: k.Run}, k, f)); err == nil { // else the answer is tried
		waiting[0].Want = wanted(choices)
	}
}

// wouldNotPass is the refusal of an answer, with what is wanted.
func wouldNotPass(ctx context.Context, k stores.Key, runner *teff.Runner, id, sentence string) Problem {
	p := Problem{Code: codeUsage, Run: k.Run, Message: "it would not pass: " + sentence, Hint: "nothing was saved; --unchecked sends it all the same", Overridable: true}
	if choices, err := runner.Choices(ctx, id); err == nil {
		if want := wanted(choices); want != "" {
			p.Message = fmt.Sprintf("it would not pass: wanted is %s; %s", want, sentence)
		}
	}
	return p
}
