package views_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

func TestDenyingShowsAllThatItDoes(t *testing.T) {
	t.Parallel()
	why := "the decision is stored, pay_person does not run, and the run fails with your note; " +
		strings.Repeat("another one is not asked any more and does not run; ", 4) + "that is all"
	x := start(t, 80, 24, long(300), func(b *viewstest.Backend) {
		b.Plans[viewstest.Ref("order-9")].Review[0].IfNo = why
	})
	x.keys("j", "a", pause, "ctrl+d")
	x.sees("deny it?", "that is all")
	x.exact(80, 24)
}

func TestSheetOfWhatSomebodyElseDecided(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	x.backend.Lock()
	p := x.backend.Plans[viewstest.Ref("order-9")]
	p.Review = nil
	x.backend.Plans[viewstest.Ref("order-9")] = p
	x.backend.Unlock()
	touch(x.backend, "order-9", func(r *viewer.Row) {
		r.Version, r.Status, r.Why = "order-9@3", "done", "it is done, ana approved pay.1."
	})
	x.changed()
	x.keys("r", pause)
	x.sees("nothing is open here any more: it is done, ana approved pay.1.")
	x.seesNot("Which one?")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	x.keys("esc")
	x.seesNot("nothing is open here")
}

func TestSheetNamesOwnerAndStore(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Infos[0].Location, b.Infos[0].Owner = "/srv/shop/eu-west/demo.db", "*"
		b.Rows[1].Owner, b.Rows[1].Ref.Owner = "bob", "bob"
		b.Plans[b.Rows[1].Ref] = b.Plans[viewstest.Ref("order-9")]
	})
	x.keys("j", "a")
	x.sees("owner bob", "in demo.db, /srv/shop/eu-west/demo.db")
}

func TestSheetOfTheUsualOwnerDoesNotNameIt(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("e")
	x.sees("order-7, tickets, user alice")
}

func TestOwnerIsNamedWhenAllAreListed(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) { b.Infos[0].Owner = "*" })
	x.keys("e")
	x.sees("owner default")
}

func TestStoresOfOneNameAreToldApart(t *testing.T) {
	t.Parallel()
	x := start(t, 140, 40, func(b *viewstest.Backend) {
		b.Infos[0].Location = "/srv/test/a/demo.db"
		b.Infos = append(b.Infos, viewer.StoreInfo{Label: "demo.db (2)", Location: "/srv/prod/a/demo.db"})
		b.Rows[1].Store, b.Rows[1].Ref.Store = "demo.db (2)", "demo.db (2)"
		b.Plans[b.Rows[1].Ref] = b.Plans[viewstest.Ref("order-9")]
	})
	if l := x.line("approve charge_card"); !strings.Contains(l, "prod/a/demo.db") {
		t.Error(l)
	}
	if l := x.line("did email_tickets"); !strings.Contains(l, "test/a/demo.db") {
		t.Error(l)
	}
	x.sees("test/a/demo.db, prod/a/demo.db")
	x.keys("j", "a")
	x.sees("in prod/a/demo.db, /srv/prod/a/demo.db")
}

func TestNoKeyIsOfferedThatATextFieldTakes(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	x.sees("y copies")
	x.keys("tab")
	x.seesNot("y copies")
	x.keys("y")
	same(t, len(x.copied), 0)
	x.keys("enter")
	x.sees("y copies")
}

func TestCopyingSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("y")
	x.sees("sent to the terminal's clipboard (OSC 52): order-7")
	x.keys("j", "a", pause, "y")
	x.sees("sent to the terminal's clipboard (OSC 52): flowtui approve demo.db order…")
}

func TestClipboardSequences(t *testing.T) {
	t.Parallel()
	plain := "\x1b]52;c;b3JkZXItNw==\x07"
	for name, want := range map[string]string{
		"": plain, "TMUX": plain + "\x1bPtmux;\x1b" + plain + "\x1b\\", "STY": "\x1bP" + plain + "\x1b\\",
	} {
		var out bytes.Buffer
		views.TerminalClipboard(&out, func(k string) string {
			if k == name {
				return "set"
			}
			return ""
		})("order-7")
		if out.String() != want {
			t.Errorf("%s: %q, want %q", name, out.String(), want)
		}
	}
}

func TestRunKeptWhenAFilterIsCleared(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "j", "/", "z", "z")
	x.sees(`No run id contains "zz" here.`)
	x.keys("esc")
	x.sees("▸ ‖ paused     trip-2")
	x.seesNot("left this tab")
	x.keys("/", "s", "y", "n", "enter", "j", "esc")
	if l := x.line("▸ ◌"); !strings.Contains(l, "sync-2") {
		t.Error(l)
	}
}

func TestRunThatLeftTheTabIsToldOnce(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j")
	touch(x.backend, "order-9", func(r *viewer.Row) { r.Badges = []viewer.Badge{viewer.Done} })
	x.changed()
	x.sees("▸ ‖ paused     trip-2", "order-9 left this tab")
	x.keys("g")
	x.changed()
	x.seesNot("order-9")
	// Under a sheet it waits until the list is in front.
	x.keys("a", "j", "?")
	remove(x.backend, "trip-2")
	x.changed()
	x.seesNot("trip-2 left")
	x.keys("esc")
	x.wait(time.Second)
	x.sees("trip-2 left this tab")
}

func TestVerifyWithoutAKeySaysHowToGiveOne(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered, func(b *viewstest.Backend) {
		found := []viewer.Finding{{Run: "order-7", Record: "checkpoint", Verdict: viewer.NoKeyGiven, Reason: "no key was given"}}
		b.Report = &viewer.Report{Runs: 1, Findings: found, Rows: []viewer.RunVerdict{{Ref: viewstest.Ref("order-7"), Verdict: viewer.NoKeyGiven}}}
		d := b.Details[viewstest.Ref("order-7")]
		d.Findings = found
		b.Details[viewstest.Ref("order-7")] = d
	})
	x.keys("enter")
	x.seesNot("checkpoint step 0")
	x.keys("V")
	x.sees("Not checked: no key was given", "--key-file FILE")
	x.seesNot("does not verify", "do not verify")
}

func TestApprovedCallsAreShownAsRun(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("sync-2")]
		p.Runs = []viewer.Call{{ID: "pay.1", Tool: "pay_back"}}
		b.Plans[viewstest.Ref("sync-2")] = p
	})
	x.keys("G", "R")
	x.sees("▶ run     pay_back", "approved, runs for the first time")
}

func TestDecisionThatAsksAgainIsNotSuccess(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Outcome = viewer.Outcome{Outcome: "stored, but charge_card waits for another approval",
			Waiting: []viewer.Waiting{{Type: viewer.WaitApproval, ID: "pay.2", Tool: "charge_card"}}}
	})
	x.keys("j", "a", pause, "enter")
	x.sees("stored, but charge_card waits for another approval", "now it waits for: approve charge_card  pay.2")
}

func TestEventsAreSentences(t *testing.T) {
	t.Parallel()
	events := []struct{ typ, data, want string }{
		{"checkpoint.saved", `{"flow":"t","kind":"flow","step":2,"status":"running"}`, "step 2 saved, running"},
		{"checkpoint.saved", `{"step":3,"status":"done","unreplayed":["pay.1"]}`, "step 3 saved, done; recorded, but not asked for any more: pay.1"},
		{"run.recovered", `{"step":3,"replayed":["pay.1","a.1"],"rerun":["b.1"]}`, "recovered with step 3: replays pay.1, a.1; runs again b.1"},
		{"run.recovered", `{"step":3,"replayed":[],"rerun":[]}`, "recovered with step 3: no call was under way"},
		{"run.waiting", `{"id":"pay.1","key":"","tool":"pay_back","type":"approval"}`, "waits: may pay_back run? (pay.1)"},
		{"run.held", `{"node":"pay","message":"the bank is closed"}`, "held: pay failed, the bank is closed"},
		{"run.waiting", `{"id":"ask.1","key":"approved","tool":"","type":"interrupt"}`, "waits: asks for approved (ask.1)"},
		{"operator.decision", `{"action":"approve","target":"pay.1","by":"ana","note":"fine"}`, "approved pay.1 by ana: fine"},
		{"operator.decision", `{"action":"deny","target":"pay.1","by":"ana"}`, "denied pay.1 by ana"},
		{"operator.resolved", `{"action":"resolve","target":"send.1","by":"olga"}`, "resolved send.1 by olga"},
		{"operator.recover", `{"action":"recover","by":"olga"}`, "recovery asked for by olga"},
		{"checkpoint.saved", `{"step":"x"}`, `{"step":"x"}`},
		{"custom", `{"a":1}`, `{"a":1}`},
	}
	x := start(t, 140, 40, viewstest.Recovered, func(b *viewstest.Backend) {
		var log []viewer.Event
		for i, e := range events {
			log = append(log, viewer.Event{N: int64(i + 1), Type: e.typ, Data: json.RawMessage(e.data)})
		}
		b.EventLog = map[viewer.Ref][]viewer.Event{viewstest.Ref("order-7"): log}
	})
	x.keys("enter", "5")
	for _, e := range events {
		x.sees(e.typ, e.want+"  ")
	}
	x.keys("g", "enter")
	x.sees(`"kind": "flow"`)
}

func TestCountsOfOneAreSingular(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		e := &b.Plans[viewstest.Ref("order-9")].Review[0]
		e.Lines, e.Bytes = []viewer.Line{{Text: "1"}}, 1
	})
	x.keys("j", "a")
	x.sees("1 byte in 1 line")
	x.seesNot("1 bytes", "1 lines")
}

func TestLeavingDuringAnActionTellsTheTruth(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) { b.Hold = make(chan struct{}) })
	x.keys("j", "a", pause)
	x.press("enter")
	x.rest()
	x.pending = nil // the action does not end
	x.keys("esc", "q")
	x.sees("q again cuts the running tool off; if not idempotent, its call is then in doubt")
}

func TestStateHelpSaysWhatTheArrowsDo(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 40, viewstest.Recovered)
	x.keys("enter", "4", "?")
	x.sees("fold, or out of it; { } go through time", "unfold, or into it")
	x.seesNot("earlier")
}
