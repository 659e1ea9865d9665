package teff

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A Choice is an answer that the workflow names, or one of the rest.
type Choice struct {
	Answer  string  // the answer itself
	Pattern string  // instead: any text that this regular expression finds
	Number  string  // instead: any number that fits, such as ">= 0.8"
	Else    bool    // instead: any other text
	Preview Preview // what happens; without an outcome for patterns and numbers
}

// Choices lists the answers that a workflow tells apart for a run that waits:
// those of the Ask's strategy, those of the edges' conditions, and the rest. The
// store is only read.
func (r *Runner) Choices(ctx context.Context, id string) ([]Choice, error) {
	at, err := locate(ctx, r.Workflow, r.Store, id)
	if err != nil {
		return nil, err
	}
	named, patterns := at.named()
	rest, isRest, err := other(named, patterns)
	if err != nil {
		return nil, fmt.Errorf("answer run %s: %w", id, err)
	}
	var all []Choice
	for _, answer := range named {
		p, err := r.check(ctx, id, at, at.answer(answer))
		if err != nil {
			return nil, err
		}
		all = append(all, Choice{Answer: answer, Preview: p})
	}
	kinds, err := at.kinds(patterns, rest)
	if err != nil {
		return nil, fmt.Errorf("answer run %s: %w", id, err)
	}
	all = append(all, kinds...)
	if !isRest {
		return all, nil
	}
	p, err := r.check(ctx, id, at, at.answer(rest))
	if err != nil {
		return nil, err
	}
	return append(all, Choice{Else: true, Preview: p}), nil
}

// kinds are the choices that stand for many answers.
func (p *paused) kinds(patterns []string, rest string) ([]Choice, error) {
	var all []Choice
	for _, pattern := range patterns {
		preview, err := p.follow(p.answer(rest), true)
		if err != nil {
			return nil, err
		}
		preview.Sentence = preview.sentence(p)
		all = append(all, Choice{Pattern: pattern, Preview: preview})
	}
	for _, e := range p.graph.Edges {
		if e.From != p.pause.NodeID || e.Condition == nil {
			continue
		}
		key, op, value := splitCondition(*e.Condition)
		sample, ok := fitting(op, value)
		if key != p.pause.Key || !ok {
			continue
		}
		preview, err := p.follow(p.answer(sample), false)
		if err != nil {
			return nil, err
		}
		preview.Sentence = preview.sentence(p)
		all = append(all, Choice{Number: op + " " + value, Preview: preview})
	}
	return all, nil
}

// fitting is a number for which a comparison holds.
func fitting(op, value string) (sample string, ok bool) {
	n, err := py.ParseFloat(value)
	step := map[string]float64{">=": 0, "<=": 0, ">": 1, "<": -1}
	by, known := step[op]
	if err != nil || !known || math.IsNaN(n) || by != 0 && n+by == n {
		return "", false
	}
	return py.Str(n + by), true
}

func (p *paused) answer(text string) *py.Dict {
	return py.NewDict(py.Entry{Key: p.pause.Key, Value: text})
}

// named are the answers and patterns that the strategies and conditions behind
// the pause name, each once.
func (p *paused) named() (answers, patterns []string) {
	known := map[string]bool{}
	add := func(answer string) {
		if key := norm(answer); answer != "" && !known[key] {
			known[key] = true
			answers = append(answers, answer)
		}
	}
	for _, e := range p.graph.Edges {
		if e.From != p.pause.NodeID || e.IsError() {
			continue
		}
		if e.Condition != nil {
			key, op, value := splitCondition(*e.Condition)
			if key == p.pause.Key && (op == "=" || op == "!=") {
				for part := range strings.SplitSeq(value, ",") {
					add(py.Strip(part))
				}
			}
		}
		n := p.judge(&e.To)
		if n == nil {
			continue
		}
		switch strategyOf(n.Config) {
		case "equals":
			add(py.Str(n.Config.GetOr("equals", nil)))
		case "any_of":
			for _, item := range list(n.Config, "any_of") {
				add(py.Str(item))
			}
		case "regex":
			if pattern := text(n.Config, "regex", ""); !slices.Contains(patterns, pattern) {
				patterns = append(patterns, pattern)
			}
		}
	}
	return answers, patterns
}

// other is a text that is none of the named ones and that no pattern finds, if
// there is an easy one.
func other(named, patterns []string) (text string, ok bool, err error) {
	for _, text := range []string{"…", "?", "-", ""} {
		known := slices.ContainsFunc(named, func(n string) bool { return norm(n) == norm(text) })
		for _, pattern := range patterns {
			_, found, err := search(pattern, text)
			if err != nil {
				return "", false, err
			}
			known = known || found
		}
		if !known {
			return text, true, nil
		}
	}
	return "", false, nil
}

// sentence says what happens, in plain words.
func (p *Preview) sentence(at *paused) string {
	var b strings.Builder
	switch p.Verdict {
	case Accepted:
		b.WriteString("accepted; ")
	case Forced:
		b.WriteString("not a valid answer, but no rounds are left, so it passes; ")
	case Refused:
		b.WriteString("not accepted; ")
	}
	switch {
	case at.graph.Node(at.pause.NodeID) == nil:
		fmt.Fprintf(&b, "the workflow has no node %s, where the run waits, so it completes at once", at.pause.NodeID)
	case p.Ends && at.nested:
		b.WriteString("no edge leads on, so the subflow completes")
	case p.Ends:
		b.WriteString("no edge leads on, so it completes")
	default:
		fmt.Fprintf(&b, "it goes on at %s", p.Next[len(p.Next)-1])
	}
	switch o := p.Outcome; {
	case o == nil && p.Elsewhere && !p.Ends:
		b.WriteString(" and comes to what only teff itself runs")
	case o == nil:
	case p.Again:
		fmt.Fprintf(&b, " and asks again: %s", o.Interrupt.Prompt)
	case o.Interrupt != nil:
		fmt.Fprintf(&b, " and pauses at %s: %s", o.Interrupt.NodeID, o.Interrupt.Prompt)
	case o.Failed != "":
		fmt.Fprintf(&b, " and fails: %s", o.Failed)
	case !p.Ends:
		b.WriteString(" and completes")
	}
	return b.String()
}
