package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

const pasted = "yes\ny\na\nq\n"

func TestScenario29PasteInTheListDoesNothing(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	before := x.line("▸ ?")
	x.paste(pasted)
	x.sees("pasted text does nothing here")
	if x.quit || x.line("▸ ?") != before || len(x.copied) > 0 {
		t.Fatal("the paste did something")
	}
}

func TestScenario29UnmarkedPasteInTheListDoesNothing(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.burst("yes", "enter", "y", "enter", "a", "enter", "q", "enter")
	if x.quit || len(x.copied) > 0 {
		t.Fatal("the paste did something")
	}
	x.sees("Needs you", "pasted text")
	x.now = x.now.Add(time.Second)
	x.keys("y")
	same(t, x.copied, []string{"order-7"})
}

func TestScenario29PasteInASheetDoesNothing(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a")
	x.settle()
	x.paste(pasted)
	x.sees("charge_card wants your approval", "pasted text does nothing here")
	same(t, len(x.backend.Acted), 0)
}

func question(b *viewstest.Backend) {
	ref := viewstest.Ref("trip-2")
	p := b.Plans[ref]
	p.Review[0].Choices = nil
	b.Plans[ref] = p
}

func TestScenario29PasteInATextFieldIsText(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, question)
	x.keys("j", "j", "i")
	x.settle()
	x.keys("enter")
	x.paste("yes\r\ny\na\nq")
	same(t, len(x.backend.Acted), 0)
	x.sees("yes", "enter done")
	x.keys("q", "?", "enter", pause, "enter")
	same(t, string(x.backend.Acted[0].Value), `"yes\ny\na\nqq?"`)
}

func TestScenario29HostilePasteLosesItsControlCharacters(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, question)
	x.keys("j", "j", "i")
	x.settle()
	x.keys("enter")
	x.paste("a\x1b[201~b\x07\u202ec")
	x.sees("control characters left out: 3", "a[201~bc")
}

func TestScenario29HugePasteIsRefusedWithTheLimit(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, question)
	x.keys("j", "j", "i")
	x.settle()
	x.keys("enter")
	x.paste(strings.Repeat("x", 1<<20))
	x.sees("refused: 1048576 bytes, the field takes 65536")
	x.paste(strings.Repeat("y", 60_000))
	x.keys("enter", pause, "enter")
	same(t, string(x.backend.Acted[0].Value), `"`+strings.Repeat("y", 60_000)+`"`)
}

func TestTextOwnsEveryKeyButCtrlC(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("/", "q", "?", "1", "a", " ")
	x.sees("/ q?1a")
	if x.quit {
		t.Fatal("q quit")
	}
	x.keys("ctrl+c")
	if !x.quit {
		t.Fatal("ctrl+c did not quit")
	}
}

func TestFilterIsLiteralAndLive(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows = append(b.Rows, viewstest.Row("a.*b", "x", time.Second, viewer.Failed))
	})
	x.keys("/", ".", "*")
	x.sees("a.*b")
	x.seesNot("order-7")
	x.keys("esc")
	x.sees("order-7")
	x.keys("/", "z", "z", "enter")
	x.sees(`No run id contains "zz" here.`, "esc clears")
}

func TestFilterTypedFastIsAFilter(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("/trip", "enter")
	x.sees("/ trip", "trip-2")
	x.seesNot("order-7")
}
