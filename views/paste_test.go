package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// read is text as a terminal without marks for pastes hands it on: each read is
// a burst of its own.
func (x *harness) read(reads ...string) {
	x.Helper()
	for _, text := range reads {
		var word []rune
		flush := func() {
			if len(word) > 0 {
				x.burst(string(word))
				word = nil
			}
		}
		for _, r := range text {
			switch r {
			case '\r':
				flush()
				x.burst("enter")
			case '\n':
				flush()
				x.burst("ctrl+j")
			case ' ':
				flush()
				x.burst(" ")
			default:
				word = append(word, r)
			}
		}
		flush()
	}
}

// note opens the approval of order-9 with the cursor in its note.
func note(t *testing.T) *harness {
	t.Helper()
	x := start(t, 80, 24)
	x.keys("j", "a", pause, "tab")
	return x
}

func TestPasteWithoutMarksNeverConfirms(t *testing.T) {
	t.Parallel()
	for name, reads := range map[string][]string{
		"CR":                {"do NOT approve\r\rthe amount is wrong\r\r"},
		"LF":                {"do NOT approve\n\nthe amount is wrong\n\n"},
		"CRLF":              {"do NOT approve\r\n\r\nthe amount is wrong\r\n\r\n"},
		"CR twice":          {"do NOT approve\r\r"},
		"one letter":        {"n\r\r\r\r"},
		"only ends":         {"\r\r\r"},
		"letters":           {"n\ro\rt\ry\r\r"},
		"reads":             {"do NOT appr", "ove\r", "\r", "the amount is ", "wrong\r\r"},
		"reads, one by one": strings.Split("do NOT approve\r\rno\r\r", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := note(t)
			x.read(reads...)
			for range 3 { // and what comes late, in pieces
				x.now = x.now.Add(300 * time.Millisecond)
				x.read("\r")
			}
			same(t, len(x.backend.Acted), 0)
			x.sees("charge_card wants your approval")
		})
	}
}

func TestPasteWithoutMarksIsTextOfTheField(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"do NOT approve\r\rthe amount\r\r", "do NOT approve\r\n\r\nthe amount\r\n\r\n",
	} {
		x := start(t, 80, 24, question)
		x.keys("j", "j", "i", pause, "enter")
		x.read(text)
		same(t, len(x.backend.Acted), 0)
		x.keys("more!", pause, "enter", pause, "enter")
		got := string(x.backend.Acted[0].Value)
		if !strings.HasPrefix(got, `"do NOT approve\n\nthe amount`) || !strings.HasSuffix(got, `more!"`) {
			t.Errorf("%q became %s", text, got)
		}
	}
}

func TestPasteIntoAnOpenSheetNeverConfirms(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	x.now = x.now.Add(time.Minute)
	x.read("y\r\r")
	same(t, len(x.backend.Acted), 0)
	x.now = x.now.Add(time.Minute)
	x.read("yes\r\r")
	same(t, len(x.backend.Acted), 0)
	for _, text := range []string{"\r\r", "\ryes", "\r\nyes"} {
		x.now = x.now.Add(time.Minute)
		x.read(text)
		x.rest()
		x.run()
		same(t, len(x.backend.Acted), 0)
	}
	x.now = x.now.Add(time.Minute)
	x.read("\r")
	x.rest()
	x.run()
	same(t, len(x.backend.Acted), 1)
}

func TestHeldEnterConfirmsNothing(t *testing.T) {
	t.Parallel()
	x := note(t)
	x.keys("n", "o")
	x.now = x.now.Add(time.Second)
	x.burst("enter") // leaves the field, and stays down
	for range 20 {
		x.now = x.now.Add(660 * time.Millisecond) // the longest pause before it comes again
		x.burst("enter")
	}
	same(t, len(x.backend.Acted), 0)
	x.keys(pause, "enter")
	same(t, len(x.backend.Acted), 1)
}

func TestHeldEnterConfirmsOnce(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) { b.ActErr = viewer.Problem{Code: "failed", Message: "no"} })
	x.keys("j", "a", pause)
	for range 20 {
		x.now = x.now.Add(20 * time.Millisecond)
		x.burst("enter")
		x.rest()
		x.run()
	}
	same(t, len(x.backend.Acted), 1)
}

func TestLeavingAFieldByAnyKeyGuardsEnter(t *testing.T) {
	t.Parallel()
	for _, k := range []string{"enter", "tab", "esc"} {
		x := note(t)
		x.keys("n", "o", k, "enter")
		same(t, len(x.backend.Acted), 0)
		x.sees("look, then press enter again")
	}
}

func TestRunningWhatIsInDoubtAgainTakesTwoEnters(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-7")]
		why := "email_tickets may or may not have run: say first what happened"
		p.Blocked = &why
		b.Plans[viewstest.Ref("order-7")] = p
	})
	x.keys("R", pause, "j", "enter")
	x.sees("it may happen twice: run it again? enter runs it, esc goes back")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	x.keys("esc")
	x.seesNot("enter runs it")
	x.keys(pause, "enter", "j", pause, "k", "enter") // another way was looked at
	same(t, len(x.backend.Acted), 0)
	x.keys(pause, "enter")
	if r := x.backend.Acted; len(r) != 1 || !r[0].RerunInDoubt {
		t.Fatalf("%+v", r)
	}
}

func TestBlockedRecoveryOfWhatIsInDoubtKeepsItsWays(t *testing.T) {
	t.Parallel()
	why := "email_tickets may or may not have run: say first what happened"
	blocked := func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-7")]
		p.Blocked = &why
		b.Plans[viewstest.Ref("order-7")] = p
	}
	x := start(t, 80, 24, blocked)
	x.keys("R", pause, "enter")
	x.sees("Did email_tickets run?")
	x = start(t, 80, 24, blocked)
	x.keys("R", pause, "G", "j", "j", "enter")
	x.seesNot("Recover order-7")
	same(t, len(x.backend.Acted), 0)
}

func TestMovementsTypedFastAreKeys(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("G", "gjjj")
	if l := x.line("▸ "); !strings.Contains(x.line("▸ ✗"), "order-3") {
		t.Fatal(l)
	}
	x.keys("jjk")
	x.sees("▸ ! failed")
	x.seesNot("pasted")
	x.keys("jja")
	x.sees("▸ ! failed", "pasted text does nothing here")
}
