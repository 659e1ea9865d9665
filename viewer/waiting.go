package viewer

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
)

// Waiting is one thing that a run waits for.
type Waiting struct {
	Type    string          `json:"type"` // approval, interrupt, in-doubt
	ID      string          `json:"id"`
	Key     string          `json:"key,omitempty"` // interrupt: where the answer lands
	Tool    string          `json:"tool,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Masked  int             `json:"masked,omitempty"` // secrets masked in args, and texts of the question with some
	Prompt  string          `json:"prompt,omitempty"`
	Choices []string        `json:"choices,omitempty"` // the answer must be one of them
	Options []string        `json:"options,omitempty"` // the answers that pass, where others are taken too
	Want    string          `json:"want,omitempty"`    // what passes, in words
	Wanted  *Wanted         `json:"-" scrub:"-"`
	Turn    bool            `json:"turn,omitempty"` // the next message of a conversation, from its user
	Why     string          `json:"why,omitempty"`
	Ran     bool            `json:"ran,omitempty"` // in-doubt: the record says that it ran, only its result is lost
	Node    string          `json:"node,omitempty"`
}

// Wanted is what passes, exactly as it is stored.
type Wanted = engine.Want

// Doubt is the question about a call in doubt.
func (w Waiting) Doubt() string {
	if w.Ran {
		return "what did " + w.Tool + " return?"
	}
	return "did " + w.Tool + " run?"
}

// maskedTexts counts the texts of a question that are masked where it is shown.
func (w Waiting) maskedTexts() (n int) {
	for _, text := range slices.Concat([]string{w.Prompt}, w.Choices, w.Options) {
		if _, masked := maskText(text); masked {
			n++
		}
	}
	return n
}

// Refused is why an answer to the interrupt would not pass, "" when it would or
// when that cannot be told before.
func (w Waiting) Refused(answer json.RawMessage) string {
	if len(w.Choices) > 0 {
		var text string
		if json.Unmarshal(answer, &text) == nil && slices.Contains(w.Choices, text) {
			return ""
		}
		return "it is not one of the choices: " + strings.Join(w.Choices, ", ")
	}
	if err := w.Wanted.Refuses(answer); err != nil {
		return "it would not pass: " + Scrub(err.Error())
	}
	return ""
}

// The types of Waiting.
const (
	WaitApproval  = "approval"
	WaitInterrupt = "interrupt"
	WaitInDoubt   = "in-doubt"
)
