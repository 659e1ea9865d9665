package views_test

import (
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// wanting lets the question of trip-2 say what passes.
func wanting(w viewer.Wanted) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("trip-2")]
		e := &p.Review[0]
		e.Choices, e.Options, e.Want, e.Wanted = nil, w.Options(), w.String(), &w
		b.Plans[viewstest.Ref("trip-2")] = p
	}
}

// An answer that would not pass is refused in the sheet, which says what is
// wanted; nothing is sent.
func TestAnswerIsCheckedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, wanting(viewer.Wanted{Regex: "^[A-Z]{2}-[0-9]{4}$", Hint: "a code like XX-1234"}))
	x.keys("j", "j", "i", pause)
	x.sees("passes: a code like XX-1234")
	x.keys("enter", "x", "enter", pause, "enter")
	x.sees("it would not pass: wanted is a code like XX-1234")
	same(t, len(x.backend.Acted), 0)
	x.keys("tab", "backspace", "A", "B", "-", "1", "2", "3", "4", "enter", pause, "enter")
	same(t, len(x.backend.Acted), 1)
	same(t, string(x.backend.Acted[0].Value), `"AB-1234"`)
	same(t, x.backend.Acted[0].Unchecked, false)
}

// The answers that pass are offered; that another one is meant is chosen.
func TestAnswersThatPassAreOffered(t *testing.T) {
	t.Parallel()
	offers := wanting(viewer.Wanted{AnyOf: []string{"ja", "jawohl"}})
	x := start(t, 80, 24, offers)
	x.keys("j", "j", "i", pause)
	x.sees("ja", "jawohl", "another answer")
	x.keys("j", "enter")
	same(t, string(x.backend.Acted[0].Value), `"jawohl"`)
	same(t, x.backend.Acted[0].Unchecked, false)

	x = start(t, 80, 24, offers)
	x.keys("j", "j", "i", pause, "j", "j", "enter", "n", "o", "enter", pause, "enter")
	x.sees("it would not pass", "u send it unchecked")
	same(t, len(x.backend.Acted), 0)
	x.keys("u", pause, "enter")
	same(t, len(x.backend.Acted), 1)
	same(t, string(x.backend.Acted[0].Value), `"no"`)
	same(t, x.backend.Acted[0].Unchecked, true)
}

// What would not pass is sent only with a key of its own and a second question
// that says what is wrong with it; nothing else confirms it.
func TestAnswerThatWouldNotPassIsSentUnchecked(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24) // trip-2 has the choices yes, no and later
	x.keys("j", "j", "i", pause, "u", "j", "j", "j", "enter", "n", "e", "v", "e", "r", "enter", pause)
	why := "it is not one of the choices: yes, no, later"
	x.sees("enter answer: not yet, " + why)
	x.keys("enter", pause)
	same(t, len(x.backend.Acted), 0)
	x.keys("u")
	x.golden("answer_unchecked_80x24")
	x.sees(why, "Send it all the same?", "enter send unchecked")
	x.keys("tab", "s", "esc", pause) // it is still the same text
	x.sees("enter answer: not yet, " + why)
	x.keys("enter", pause)
	same(t, len(x.backend.Acted), 0)
	x.keys("u", "esc", "tab", "backspace", "enter", pause, "enter") // another answer needs a key of its own
	x.sees("not yet, " + why)
	same(t, len(x.backend.Acted), 0)
	x.keys("u", pause, "enter")
	same(t, len(x.backend.Acted), 1)
	same(t, string(x.backend.Acted[0].Value), `"neve"`)
	same(t, x.backend.Acted[0].Unchecked, true)
}

// What passes is never sent unchecked.
func TestAnswerThatPassesIsChecked(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "j", "i", pause, "u")
	x.seesNot("unchecked")
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
	same(t, string(x.backend.Acted[0].Value), `"yes"`)
	same(t, x.backend.Acted[0].Unchecked, false)
}

// That an answer would not pass may show only when it is sent: the Ask of a
// workflow of teff's tells it then.
func TestAnswerThatWasRefusedIsSentUnchecked(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, wanting(viewer.Wanted{}), func(b *viewstest.Backend) {
		b.ActErr = viewer.Problem{Code: "usage", Message: "it would not pass: not accepted; check asks again", Hint: "--unchecked sends it", Overridable: true}
	})
	x.keys("j", "j", "i", pause, "enter", "m", "a", "y", "b", "e", "enter", pause, "u", "enter")
	same(t, len(x.backend.Acted), 1)
	same(t, x.backend.Acted[0].Unchecked, false)
	x.sees("not accepted; check asks again", "nothing was sent; u sends it all the same")
	x.seesNot("--unchecked sends it")
	x.backend.ActErr = nil
	x.keys(pause, "enter", pause)
	same(t, len(x.backend.Acted), 1)
	x.keys("u", pause, "enter")
	same(t, len(x.backend.Acted), 2)
	same(t, x.backend.Acted[1].Unchecked, true)
}

// A conversation is gone on with in the same sheet, in its own words.
func TestNextMessageOfAConversation(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("trip-2")]
		e := &p.Review[0]
		e.Choices, e.Turn, e.Prompt = nil, true, "Your seats are A4 and A5."
		b.Plans[viewstest.Ref("trip-2")] = p
	})
	x.keys("j", "j", "i", pause)
	x.sees("Next message to trip-2", "Your seats are A4 and A5.", "message tab types it", "enter type the message")
	x.keys("enter", "h", "i", "enter", pause)
	x.sees("enter send")
	x.keys("enter")
	same(t, string(x.backend.Acted[0].Value), `"hi"`)
}
