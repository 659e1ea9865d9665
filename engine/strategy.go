package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Strategy says which answers to an [Interrupt] pass; exactly one of Equals,
// AnyOf, Regex, Check and Classifier is set. See the reference on durable
// execution, "Validating the answer".
//
// Equals and AnyOf compare texts without white space around them and without
// case. Regex is searched in the answer as it was given, so anchor it with ^
// and $; the syntax is that of package regexp. Null, lists and objects pass none
// of the three.
type Strategy struct {
	Equals     string
	AnyOf      []string
	Regex      string
	Check      CheckFunc
	Classifier *Classifier

	// Decision is the key of the state that gets the outcome: Pass, Fail or, of
	// a classifier alone, Unclear. "" is the interrupt's key with "_decision".
	Decision string
	// Value is the key that gets the accepted value, and "" when the answer does
	// not pass: of a Regex its first group, or the whole match when it has none;
	// of Check and Classifier what they say; else the answer itself. "" keeps none.
	// An answer whose value the state's type cannot hold does not pass, and a type
	// that cannot hold "" or null gets its zero value instead.
	Value string
	// Rounds is the key that counts the answers, from 1 again after one that
	// passed. "" is the interrupt's key with "_rounds".
	Rounds string
	// Pass, Fail and Unclear are the outcomes; "" are "yes", "no" and "unclear".
	Pass, Fail, Unclear string
	// MaxRounds lets answer number MaxRounds pass whatever it is, with a null
	// value. 0: none ever passes by patience alone.
	MaxRounds int64
	// Hint says in words what is wanted, for who is refused: "a code like XX-1234".
	Hint string
	// Hidden keeps what passes out of the question, and so from who answers and out
	// of the store: only the run itself judges the answer then.
	Hidden bool

	regex *regexp.Regexp
}

// CheckFunc judges an answer in Go and returns the value that it brings. It
// runs again after a crash, so it must be deterministic; the error fails the node.
type CheckFunc func(s State, answer any) (value any, ok bool, err error)

// Want is what of a [Strategy] is known before the flow has seen an answer. It
// is kept with the question, so that an answer can be checked before it is sent,
// also where the flow's code is not.
type Want struct {
	Equals string   `json:"equals,omitempty"`
	AnyOf  []string `json:"any_of,omitempty"`
	Regex  string   `json:"regex,omitempty"`
	Hint   string   `json:"hint,omitempty"`
	// ByFlow says that only the flow can tell whether an answer passes, by
	// [Interrupt.Refuses]: an answer that is to be checked needs it.
	ByFlow bool `json:"by_flow,omitempty"`
}

// Options are the answers that pass, when they can be told: for a person to choose from.
func (w *Want) Options() []string {
	switch {
	case w == nil:
		return nil
	case w.Equals != "":
		return []string{w.Equals}
	}
	return slices.Clone(w.AnyOf)
}

// String says what is wanted, "" for anything.
func (w *Want) String() string {
	switch {
	case w == nil:
		return ""
	case w.Hint != "":
		return w.Hint
	case w.Equals != "":
		return fmt.Sprintf("%q", w.Equals)
	case len(w.AnyOf) > 0:
		return "one of " + strings.Join(w.AnyOf, ", ")
	case w.Regex != "":
		return "a text that matches " + w.Regex
	}
	return ""
}

// Refuses says why an answer would not pass; nil also when that cannot be told,
// or not without the flow.
func (w *Want) Refuses(answer json.RawMessage) error {
	if w == nil || w.Equals == "" && len(w.AnyOf) == 0 && w.Regex == "" {
		return nil
	}
	v, err := DecodeValue(answer)
	if err != nil {
		return err
	}
	s := Strategy{Equals: w.Equals, AnyOf: w.AnyOf, Regex: w.Regex}
	if w.Regex != "" {
		if s.regex, err = regexp.Compile(w.Regex); err != nil {
			return nil // made by another version: the flow will judge
		}
	}
	if s.matches(v).ok {
		return nil
	}
	return fmt.Errorf("wanted is %s", w)
}

// want is the question's part of a strategy.
func (s Strategy) want() *Want {
	if s.Check != nil || s.Classifier != nil || s.Hidden {
		if s.Hint == "" {
			return nil
		}
		return &Want{Hint: s.Hint}
	}
	return &Want{Equals: s.Equals, AnyOf: s.AnyOf, Regex: s.Regex, Hint: s.Hint}
}

// Validate says what is wrong with the strategy of an interrupt of this key.
func (s Strategy) Validate(key string) error {
	_, err := s.prepared(key)
	return err
}

// prepared fills the defaults for an interrupt's key, or says what is wrong.
func (s Strategy) prepared(key string) (Strategy, error) {
	set := 0
	for _, is := range []bool{s.Equals != "", len(s.AnyOf) > 0, s.Regex != "", s.Check != nil, s.Classifier != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return s, fmt.Errorf("its strategy must be exactly one of equals, any of, regex, check and classifier, found %d", set)
	case s.Classifier != nil && s.Classifier.Model == nil:
		return s, errors.New("its classifier has no model")
	case s.MaxRounds < 0:
		return s, errors.New("the number of rounds is negative")
	}
	var err error
	if s.Regex != "" {
		if s.regex, err = regexp.Compile(s.Regex); err != nil {
			return s, err
		}
	}
	for _, d := range []struct {
		field *string
		value string
	}{{&s.Decision, key + "_decision"}, {&s.Rounds, key + "_rounds"}, {&s.Pass, "yes"}, {&s.Fail, "no"}, {&s.Unclear, "unclear"}} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	names := []string{key, s.Decision, s.Rounds, s.Value}
	for i, n := range names {
		if n != "" && slices.Contains(names[:i], n) {
			return s, fmt.Errorf("its strategy writes %q twice", n)
		}
	}
	if s.Pass == s.Fail || s.Pass == s.Unclear || s.Fail == s.Unclear {
		return s, errors.New("its outcomes do not differ")
	}
	return s, nil
}

// verdict is what a strategy says of one answer.
type verdict struct {
	ok, unclear bool
	value       any
}

// matches judges by Equals, AnyOf or Regex.
func (s Strategy) matches(answer any) verdict {
	text, ok := answerText(answer)
	switch {
	case !ok:
		return verdict{}
	case s.regex != nil:
		m := s.regex.FindStringSubmatchIndex(text)
		switch {
		case m == nil:
			return verdict{}
		case len(m) == 2:
			return verdict{ok: true, value: text[m[0]:m[1]]}
		case m[2] < 0: // the group took no part
			return verdict{ok: true}
		}
		return verdict{ok: true, value: text[m[2]:m[3]]}
	}
	options := s.AnyOf
	if s.Equals != "" {
		options = []string{s.Equals}
	}
	same := func(o string) bool { return strings.EqualFold(strings.TrimSpace(o), strings.TrimSpace(text)) }
	return verdict{ok: slices.ContainsFunc(options, same), value: answer}
}

// answerText is a scalar answer as text; null is none.
func answerText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return fmt.Sprint(v), true
	}
	return "", false
}

// validate judges the answer to an interrupt; it is the node after it.
type validate struct {
	i Interrupt
	s Strategy // prepared
}

// Type is "validate".
func (validate) Type() string { return "validate" }

// Run writes the outcome, the value and the count of answers.
func (v validate) Run(ctx context.Context, s State) (State, error) {
	rounds, err := count(s, v.s.Rounds)
	if err != nil {
		return nil, err
	}
	if last := s[v.s.Decision]; last == v.s.Pass || last == "" {
		rounds = 0 // those of an earlier turn or iteration, which has passed or was emptied
	}
	rounds++
	judged, err := v.judge(ctx, s)
	if err != nil {
		return nil, err
	}
	forced := v.s.MaxRounds > 0 && rounds >= v.s.MaxRounds
	update := State{v.s.Rounds: rounds, v.s.Decision: v.s.Fail}
	n, err := nodeRun(ctx)
	if err != nil {
		return nil, err
	}
	keep := v.s.Value != ""
	value := n.g.blank(v.s.Value, "")
	switch {
	case judged.ok && !judged.unclear && !(keep && n.refuses(v.s.Value, judged.value)):
		update[v.s.Decision], value = v.s.Pass, judged.value
	case forced:
		update[v.s.Decision], value = v.s.Pass, n.g.blank(v.s.Value, nil)
	case judged.unclear:
		update[v.s.Decision] = v.s.Unclear
	}
	if keep {
		update[v.s.Value] = value
	}
	return update, nil
}

// refuses reports a value that the state's type cannot hold under a key: an
// answer that brings it does not pass.
func (n *nodeState) refuses(key string, value any) bool {
	if n.g.typed == nil {
		return false
	}
	exactly, err := exact(State{key: value})
	return err == nil && n.g.typed.holds(exactly) != nil // what cannot be kept at all fails the node
}

func (v validate) judge(ctx context.Context, s State) (verdict, error) {
	answer := s[v.i.Key]
	switch {
	case v.s.Check != nil:
		value, ok, err := v.s.Check(s, answer)
		return verdict{ok: ok, value: value}, err
	case v.s.Classifier != nil:
		return v.s.Classifier.judge(ctx, s, v.i, answer)
	}
	return v.s.matches(answer), nil
}

// count reads a counter of the state; a missing one is 0, and so is "", which
// empties a key.
func count(s State, key string) (int64, error) {
	switch v := s[key].(type) {
	case nil:
		return 0, nil
	case string:
		if v == "" {
			return 0, nil
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%q in the state is to count, but it is no whole number", key)
}
