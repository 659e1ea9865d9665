package views

import (
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

const (
	// pasteTail is how long keys after pasted text still belong to it.
	pasteTail = 150 * time.Millisecond
	// fieldTail is the same in a text field, where several characters also
	// arrive as one from who types over a slow line.
	fieldTail = 50 * time.Millisecond
	// burstGap is the pause under which two keys came in one burst, from a
	// terminal and not from fingers.
	burstGap = 100 * time.Millisecond
)

// pace tells typed keys from text that was pasted into a terminal that does
// not mark pastes. Such text arrives as one message of several different
// characters, and what follows at once belongs to it.
type pace struct {
	n     int           // keys and pastes so far
	last  time.Time     // the last key
	gap   time.Duration // between it and the one before
	until time.Time     // keys before this belong to pasted text
}

// note takes the time of a key, and whether what follows within tail belongs to
// pasted text.
func (p *pace) note(msg tea.KeyMsg, now time.Time, tail time.Duration) {
	p.gap, p.last = now.Sub(p.last), now
	if p.pasting(now) || msg.Type == tea.KeyRunes && len(msg.Runes) > 1 {
		p.until = now.Add(tail)
	}
}

// pasting reports that a key at now still belongs to pasted text.
func (p *pace) pasting(now time.Time) bool { return now.Before(p.until) }

// burst reports that the last key came in one burst with the one before.
func (p *pace) burst() bool { return p.gap < burstGap }

// keys gives the single keys of a message: a key that was held down arrives as
// several equal characters, and movements typed fast as several different ones.
// It reports true for text that was pasted.
func (p *pace) keys(msg tea.KeyMsg, now time.Time, moves []key.Binding) ([]tea.KeyMsg, bool) {
	pasting := p.pasting(now)
	if msg.Paste {
		return nil, true
	}
	msgs := singles(msg)
	if !pasting && (equal(msgs) || allMatch(msgs, moves)) {
		p.gap, p.last = now.Sub(p.last), now
		return msgs, false
	}
	p.note(msg, now, pasteTail)
	return nil, true
}

// singles is a message of several characters as one for each.
func singles(msg tea.KeyMsg) []tea.KeyMsg {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return []tea.KeyMsg{msg}
	}
	msgs := make([]tea.KeyMsg, 0, len(msg.Runes))
	for _, r := range msg.Runes {
		msgs = append(msgs, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	return msgs
}

func equal(msgs []tea.KeyMsg) bool {
	return !slices.ContainsFunc(msgs, func(m tea.KeyMsg) bool { return !slices.Equal(m.Runes, msgs[0].Runes) })
}

func allMatch(msgs []tea.KeyMsg, bindings []key.Binding) bool {
	return !slices.ContainsFunc(msgs, func(m tea.KeyMsg) bool { return !key.Matches(m, bindings...) })
}
