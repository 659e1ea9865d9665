package e2e

import (
	"path/filepath"
	"testing"
)

// A conversation line by line in a terminal: it is asked once whether to begin, a
// turn that is refused is told and the next line is read, and ctrl+d ends it.
func TestChatInATerminal(t *testing.T) {
	d := newDemo(t)
	argv := []string{
		program, "chat", d.store(), "helpdesk", "--id", "chat-2", "--owner", "carol",
		"--key-file", filepath.Join(d.dir, "demo.key"), "--flows", filepath.Join(d.dir, "flows"),
	}
	term := openTerminal(t, 100, 30, d.env(nil), argv...)
	say := func(line string) {
		term.text(line)
		term.keys("Enter")
	}
	term.wait(`talk with helpdesk as chat-2 in .*\? \[y/N\]`)
	say("y")
	term.wait(`(?m)^> *$`)
	say("Where do I sit?")
	term.wait(`Your seats are A4 and A5`)
	say("Send them to my new address, please.")
	term.wait(`(?sm)Change the address of order-1\?.*choices: yes, no.*^> *$`)
	say("perhaps")
	term.wait(`is not one of the choices: yes, no`)
	say("yes")
	term.wait(`(?sm)Done: the tickets now go to your new address\..*^> *$`)
	for range 3 { // on a loaded machine the key has got lost on its way
		term.keys("C-d")
		if term.ends(patience / 3) {
			break
		}
	}
	term.wait(`Pane is dead`)
	if got := d.ls(t)["carol/chat-2"]; got.Status != "paused" || len(got.Waiting) != 1 || got.Waiting[0].ID != "turn#2" {
		t.Errorf("%+v", got)
	}
	// Somebody else goes on with the session that was left, and is told where it stands.
	term = openTerminal(t, 100, 30, d.env(nil), argv...)
	term.wait(`\[y/N\]`)
	say("y")
	term.wait(`(?sm)Done: the tickets now go to your new address\..*^> *$`)
}
