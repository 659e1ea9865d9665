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
	same(t, len(x.backend.Acted), 1)
	same(t, string(x.backend.Acted[0].Value), `"no"`)
	same(t, x.backend.Acted[0].Unchecked, true)
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
