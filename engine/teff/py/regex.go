package py

import (
	"time"

	"github.com/dlclark/regexp2"
)

// matchTime is how long one search may take; Python would search on for ever.
const matchTime = 2 * time.Second

// A Regex is a compiled pattern of Python's re module, for text.
type Regex struct {
	re     *regexp2.Regexp
	groups int
}

// Compile is re.compile(pattern). A pattern that Python refuses is an error of
// the class "error" with re's message, except that a character cannot be named
// by \N{...} here.
func Compile(pattern string) (*Regex, error) {
	p := &patternParser{names: map[string]int{}, widths: map[int]width{}}
	text, err := p.compile(split(pattern))
	if err != nil {
		return nil, err
	}
	re, err := regexp2.Compile(text, regexp2.None)
	if err != nil {
		return nil, Errorf("error", "the pattern %s cannot be used: %v", Repr(pattern), err)
	}
	re.MatchTimeout = matchTime
	return &Regex{re: re, groups: p.groups}, nil
}

// Groups is how many capturing groups the pattern has.
func (r *Regex) Groups() int { return r.groups }

// Search is re.search(pattern, s): the text of the first match and of each
// group in it, nil for a group that took no part. It is nil when nothing
// matches, and a TimeoutError when that takes more than two seconds to find out.
func (r *Regex) Search(s string) ([]Value, error) {
	var text []rune
	for r := range runes(s) {
		text = append(text, r)
	}
	m, err := r.re.FindRunesMatch(text)
	if err != nil {
		return nil, Errorf("TimeoutError", "the pattern took more than %v on this text", r.re.MatchTimeout)
	}
	if m == nil {
		return nil, nil
	}
	var found []Value
	for _, g := range m.Groups() {
		if len(g.Captures) == 0 {
			found = append(found, nil)
			continue
		}
		var b []byte
		for _, r := range text[g.Index : g.Index+g.Length] {
			b = AppendRune(b, r)
		}
		found = append(found, string(b))
	}
	return found, nil
}
