package viewer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

var (
	doubt    = engine.CallInfo{ID: "send.1", Tool: "email_tickets", Status: stores.CallStarted, By: "worker-1", Started: epoch}
	holder   = &stores.Lease{Holder: "worker-2", Expires: epoch.Add(time.Hour), Live: true}
	expired  = &stores.Lease{Holder: "worker-2", Expires: epoch}
	approval = Waiting{Type: WaitApproval, ID: "pay.1", Tool: "charge_card", Node: "pay"}
	question = Waiting{Type: WaitInterrupt, ID: "ask.1", Key: "answer", Node: "ask", Prompt: "Approve the plan?"}
)

// known are facts with the fields that matter to a case changed.
func known(status string, change ...func(*facts)) facts {
	f := facts{status: status, verdict: Verified, segment: 1, at: []string{"send"}, updated: epoch, now: epoch.Add(12 * time.Minute), leases: true, worker: "worker-1"}
	for _, c := range change {
		c(&f)
	}
	return f
}

func TestBadgesAndWhy(t *testing.T) {
	doubtful := func(f *facts) { f.doubts = []engine.CallInfo{doubt} }
	held := func(f *facts) { f.lease = holder }
	noLeases := func(f *facts) { f.leases = false }
	fresh := func(f *facts) { f.now = epoch.Add(20 * time.Second) }
	skew := func(f *facts) { f.now = epoch.Add(-10 * time.Minute) }
	forged := func(f *facts) { f.verdict, f.reason = Forged, "step 2 is forged" }
	again := func(f *facts) { f.segment = 2 }
	keyless := func(f *facts) { f.verdict = NoKeyGiven }
	paused := func(f *facts) { f.waiting, f.since = []Waiting{approval}, epoch }
	for _, tt := range []struct {
		name   string
		f      facts
		badges string
		why    string
	}{
		{"in doubt", known("running", doubtful), "in-doubt", "worker-1 stopped while email_tickets ran, started at 03:04:05"},
		{"in doubt, lease expired", known("running", doubtful, func(f *facts) { f.lapsed = expired }), "in-doubt", "worker-2 lost its lease at 03:04:05 UTC while email_tickets ran"},
		{"under way", known("running", doubtful, held), "running", "worker-2 works on send"},
		{"no leases, silent", known("running", doubtful, noLeases), "in-doubt", "nothing came since"},
		{"no leases, fresh", known("running", doubtful, noLeases, fresh), "running", "does not tell who works on it"},
		{"clock skew", known("running", noLeases, skew), "stuck", "10m in the future"},
		{"stuck", known("running"), "stuck", "silent since 03:04:05 UTC; no call is in doubt"},
		{"stuck after a decision", known("running", func(f *facts) { f.stored = 1 }), "stuck", "1 decision stored at 03:04:05"},
		{"recovered and stuck", known("running", again), "stuck recovered", "stopped before send"},
		{"paused", known("paused", paused), "paused", "pay wants approval for charge_card, since 03:04:05"},
		{"paused, no key", known("paused", paused, keyless), "paused no-key", "pay wants approval"},
		{"asks", known("paused", func(f *facts) { f.waiting = []Waiting{question, approval} }), "paused", `ask asks "Approve the plan?", and 1 approval is open too`},
		{"failed", known("failed", func(f *facts) { f.failure = "HTTP 503" }), "failed", "failed at send: HTTP 503"},
		{"done", known("done"), "done", "it is done"},
		{"done after a recovery", known("done", again), "recovered done", "it is done"},
		{"tampered", known("paused", paused, forged), "tampered paused", "step 2 is forged"},
		{"tampered and done", known("done", forged), "tampered done", "step 2 is forged"},
		{"unknown key", known("done", func(f *facts) { f.verdict = UnknownKey }), "no-key done", "it is done"},
		{"unsigned", known("done", func(f *facts) { f.verdict = Unsigned }), "done", "it is done"},
		{"unreadable", known(unreadable, func(f *facts) { f.verdict, f.reason = Unreadable, "its list entry cannot be read" }), "tampered", "cannot be read"},
	} {
		var got []string
		for _, b := range badges(tt.f) {
			got = append(got, string(b))
		}
		if strings.Join(got, " ") != tt.badges {
			t.Errorf("%s: badges %v, want %s", tt.name, got, tt.badges)
		}
		if !slices.IsSortedFunc(badges(tt.f), func(a, b Badge) int { return urgency[a] - urgency[b] }) {
			t.Errorf("%s: not by urgency", tt.name)
		}
		if w, _ := why(tt.f); !strings.Contains(w, tt.why) || strings.Contains(w, "-1") && !strings.Contains(w, "worker-1") {
			t.Errorf("%s: %q, want %q", tt.name, w, tt.why)
		}
	}
}

// Every status × verdict × read-only × lease: an action is offered exactly when
// nothing speaks against it, and each stays in the list.
func TestOffers(t *testing.T) {
	verdicts := []Verdict{Verified, Unchecked, NoKeyGiven, UnknownKey, Forged, Gap, Regressed, Unreadable, Unsigned}
	for _, status := range []string{"running", "paused", "done", "failed", unreadable} {
		for _, v := range verdicts {
			for _, write := range []string{"", "flowtui was started with --read-only"} {
				for _, lease := range []*stores.Lease{nil, holder} {
					f := known(status)
					f.verdict, f.refusals.write, f.lease = v, write, lease
					if status == "paused" {
						f.waiting = []Waiting{approval, question}
					}
					if status == "running" {
						f.doubts = []engine.CallInfo{doubt}
					}
					free := write == "" && lease == nil && (v == Verified || v == Unchecked)
					list := offers(f)
					for _, a := range []Action{Approve, Deny, Answer, Resolve, Recover} {
						i := slices.IndexFunc(list, func(o Offer) bool { return o.Action == a })
						if i < 0 {
							t.Fatalf("%s is not in the list", a)
						}
						fits := status == "paused" && (a == Approve || a == Deny || a == Answer) || status == "running" && (a == Resolve || a == Recover)
						if got := list[i].Disabled == ""; got != (free && fits) {
							t.Errorf("%s of a %s run, %s, %q, lease %v: disabled %q", a, status, v, write, lease != nil, list[i].Disabled)
						}
					}
				}
			}
		}
	}
	f := known("paused")
	f.waiting, f.refusals.flow = []Waiting{approval}, "no flow file"
	if o := offers(f)[0]; o.Disabled != "" || !o.StoreOnly {
		t.Errorf("without a flow: %+v", o)
	}
}

// Scenario 26: no age is negative or absurd.
func TestScenario26Ages(t *testing.T) {
	for _, tt := range []struct {
		ago  time.Duration
		want string
	}{
		{0, "0s"}, {-30 * time.Second, "0s"}, {59 * time.Second, "59s"}, {12 * time.Minute, "12m"}, {47 * time.Hour, "47h"}, {49 * time.Hour, "2d"},
		{-10 * time.Minute, "an unknown time (clocks differ by 10m)"},
	} {
		if got := age(epoch, epoch.Add(-tt.ago)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.ago, got, tt.want)
		}
	}
	if got := age(epoch, time.Time{}); got != "an unknown time" {
		t.Error(got)
	}
	if got := age(epoch, epoch.Add(-20*time.Minute).In(time.FixedZone("IST", 5*3600+1800))); got != "20m" {
		t.Error(got)
	}
}
