package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// view opens the viewer on the demo in a terminal of the given size.
func (d demoDir) view(t *testing.T, width, height int) *terminal {
	t.Helper()
	return openTerminal(t, width, height, d.env(nil), d.viewer()...)
}

func (d demoDir) viewer() []string {
	return []string{program, d.store(), "--key-file", filepath.Join(d.dir, "demo.key"), "--flows", filepath.Join(d.dir, "flows"), "--owner", "*"}
}

// sizes are the terminals that every action is tried in.
var sizes = [][2]int{{80, 24}, {140, 40}}

func eachSize(t *testing.T, f func(t *testing.T, d demoDir, term *terminal)) {
	for _, s := range sizes {
		t.Run(fmt.Sprintf("%dx%d", s[0], s[1]), func(t *testing.T) {
			d := newDemo(t)
			f(t, d, d.view(t, s[0], s[1]))
		})
	}
}

// find filters the list down to one run, by the keys that the footer tells.
func (term *terminal) find(run string) {
	term.t.Helper()
	term.wait(`Needs you \d`)
	term.keys("/")
	term.wait(`(?m)^ / `)
	term.text(run)
	term.wait(`(?m)^▸ .*` + run)
	term.keys("Enter")
}

func TestOpensOnNeedsYou(t *testing.T) {
	eachSize(t, func(t *testing.T, _ demoDir, term *terminal) {
		s := term.wait(`(?s)▸1 Needs you 12.*order-3`) // also the tampered ones, found in the background
		for _, want := range []string{"order-7", "order-9", "payout-11", "ask-5", "trip-2", "promo-21", "parcel-5", "sync-1", "order-4", "order-6"} {
			if !strings.Contains(s, want) {
				t.Errorf("%s is not on the first screen", want)
			}
		}
		term.wait(`(?s)Why   .*Next  `)
	})
}

func TestApproveByKeyboard(t *testing.T) {
	eachSize(t, func(t *testing.T, d demoDir, term *terminal) {
		term.find("order-9")
		term.wait(`a approve`)
		term.keys("a")
		term.wait(`(?s)pay_back wants your approval.*amount.*249\.00.*enter approve`)
		term.settle()
		term.keys("Enter")
		term.wait(`(?s)the run is done.*enter close`)
		term.keys("Escape")
		term.gone(`pay_back wants your approval`)
		if n := d.calls(t, "order-9", "pay_back"); n != 1 {
			t.Errorf("money went back %d times", n)
		}
	})
}

// What a model said and wants to do is read before its call is approved, and then
// the conversation goes on on the same screen.
func TestApproveInAConversationByKeyboard(t *testing.T) {
	eachSize(t, func(t *testing.T, d demoDir, term *terminal) {
		term.find("ask-5")
		term.wait(`a approve`)
		term.keys("Enter")
		term.wait(`(?s)User  Two seats for Hamlet.*Model They are held.*Calls charge_card waits for approval; email_tickets not run`)
		term.keys("7")
		term.wait(`(?s)hold_seats  ✓ done.*charge_card  ‖ waits for approval.*card_number.*email_tickets  · not run yet.*approve charge_card  talk:tools.1`)
		term.keys("a")
		term.wait(`(?s)charge_card wants your approval.*amount.*249\.00.*enter approve`)
		term.settle()
		term.keys("Enter")
		term.wait(`(?s)the run is done.*enter close`)
		term.keys("Escape")
		term.wait(`(?s)▸7 Conversation.*email_tickets  ✓ done.*assistant Done. A4 and A5 are yours`)
		if n := d.calls(t, "ask-5", "charge_card"); n != 1 {
			t.Errorf("the card was charged %d times", n)
		}
	})
}

func TestDenyOneOfSeveralByKeyboard(t *testing.T) {
	eachSize(t, func(t *testing.T, d demoDir, term *terminal) {
		term.find("payout-11")
		term.keys("a")
		term.wait(`(?s)─ .*carol.1`)
		term.settle()
		term.keys("Enter")
		term.wait(`(?s)pay_person wants your approval.*ctrl\+d deny`)
		term.settle()
		term.keys("C-d")
		term.wait(`enter deny`)
		term.settle()
		term.keys("Enter")
		term.wait(`the run is failed`)
		if got := d.ls(t)["default/payout-11"]; got.Status != "failed" || d.calls(t, "payout-11", "pay_person") != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestAnswerByKeyboard(t *testing.T) {
	eachSize(t, func(t *testing.T, d demoDir, term *terminal) {
		term.find("trip-2")
		term.wait(`i answer`)
		term.keys("i")
		term.wait(`(?s)Approve the plan.*▸ yes`)
		term.settle()
		term.keys("Enter")
		term.wait(`the run is done`)
		if n := d.calls(t, "trip-2", "book_trip"); n != 1 {
			t.Errorf("booked %d times", n)
		}
	})
}

func TestResolveAndRecoverByKeyboard(t *testing.T) {
	eachSize(t, func(t *testing.T, d demoDir, term *terminal) {
		term.find("order-7")
		term.wait(`e resolve`)
		term.keys("e")
		term.wait(`(?s)Did email_tickets run.*▸ it ran`)
		term.settle()
		term.keys("Enter")
		term.wait(`enter done`)
		term.text(`"sent"`)
		term.wait(`"sent"`)
		term.keys("Enter")
		term.wait(`enter it ran`)
		term.settle()
		term.keys("Enter")
		term.wait(`(?s)recorded.*enter close`)
		term.keys("Escape")
		term.gone(`Did email_tickets run\? ─`)
		term.wait(`R recover`)
		term.keys("R")
		term.wait(`(?s)Recover order-7.*replay.*email_tickets.*enter recover`)
		term.settle()
		term.keys("Enter")
		term.wait(`the run is done`)
		if n := d.calls(t, "order-7", "email_tickets"); n != 1 {
			t.Errorf("the mail was sent %d times", n)
		}
	})
}

func TestRecoverByKeyboard(t *testing.T) {
	eachSize(t, func(t *testing.T, d demoDir, term *terminal) {
		term.find("parcel-5")
		term.wait(`R recover`)
		term.keys("R")
		term.wait(`(?s)Recover parcel-5.*rerun.*print_label.*enter recover`)
		term.settle()
		term.keys("Enter")
		term.wait(`the run is done`)
		if n := d.calls(t, "parcel-5", "pick_items"); n != 1 {
			t.Errorf("picked %d times", n)
		}
	})
}

func TestATamperedRunCannotBeActedOn(t *testing.T) {
	d := newDemo(t)
	term := d.view(t, 80, 24)
	term.find("order-6")
	term.keys("R")
	term.wait(`(?i)does not verify|regressed`)
	term.keys("Enter", "Escape")
	if got := d.ls(t)["default/order-6"]; got.Segment != 1 {
		t.Errorf("%+v", got)
	}
}

func TestEscapeLeavesEverything(t *testing.T) {
	d := newDemo(t)
	term := d.view(t, 80, 24)
	before := d.ls(t)
	for _, way := range []struct{ run, key, see string }{
		{"order-9", "a", "─ pay_back wants your approval"}, {"trip-2", "i", "─ trip-2 asks"}, {"order-7", "e", "─ Did email_tickets run"},
		{"parcel-5", "R", "─ Recover parcel-5"}, {"order-9", "Enter", "Overview"}, {"order-9", "?", "─ keys"},
	} {
		term.find(way.run)
		term.keys(way.key)
		term.wait(way.see)
		term.keys("Escape")
		term.gone(way.see)
		term.keys("Escape")
		term.wait(`(?s)order-7.*order-9`)
	}
	for id, r := range d.ls(t) {
		if b := before[id]; b.Step != r.Step || b.Status != r.Status {
			t.Errorf("%s went from %s %d to %s %d", id, b.Status, b.Step, r.Status, r.Step)
		}
	}
}

func TestResizeDoesNoHarm(t *testing.T) {
	d := newDemo(t)
	term := d.view(t, 80, 24)
	term.find("order-9")
	term.keys("a")
	term.wait(`wants your approval`)
	term.resize(40, 10)
	term.wait(`needs \d+x\d+`)
	term.resize(1, 1)
	term.resize(80, 24)
	term.wait(`(?s)pay_back wants your approval.*enter approve`)
	term.keys("Escape")
	term.gone(`pay_back wants your approval`)
	term.keys("Escape")
	term.wait(`(?s)order-7.*order-9`)
}

func TestSignalsRestoreTheTerminal(t *testing.T) {
	d := newDemo(t)
	for _, sig := range []string{"TERM", "HUP", "INT"} {
		t.Run(sig, func(t *testing.T) {
			// In the foreground, so that the program owns the terminal.
			script := `before=$(stty -g); sh -c 'echo $$ >` + filepath.Join(d.home, "pid") + `; exec "$0" "$@"' "$0" "$@"; code=$?; [ "$before" = "$(stty -g)" ] && echo SAME; echo CODE $code; sleep 60`
			term := openTerminal(t, 80, 24, d.env(nil), append([]string{"sh", "-c", script}, d.viewer()...)...)
			term.wait(`Needs you`)
			pid := strings.TrimSpace(readFile(t, filepath.Join(d.home, "pid")))
			if out, err := exec.Command("kill", "-"+sig, pid).CombinedOutput(); err != nil {
				t.Fatalf("kill: %v %s", err, out)
			}
			s := term.wait(`CODE \d+`)
			if !strings.Contains(s, "SAME") || strings.Contains(s, "CODE 0") {
				t.Errorf("the terminal is not as before, or the exit code is 0:\n%s", s)
			}
			if got := strings.TrimSpace(term.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{mouse_any_flag}")); got != "0 1 0" {
				t.Errorf("alternate screen, cursor, mouse: %s, want 0 1 0", got)
			}
		})
	}
}
