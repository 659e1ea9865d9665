package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

type row struct {
	Owner, Run, Status, Verdict, Flow, Why string
	Badges                                 []string
	Step, Segment                          int64
	At                                     []string
	Waiting                                []struct{ Type, ID, Tool, Key, Prompt, Why, Node string }
}

func (d demoDir) ls(t *testing.T) map[string]row {
	t.Helper()
	r := d.flowtui(t, "ls", d.store(), "--key-file", filepath.Join(d.dir, "demo.key"), "--owner", "*", "--json")
	if r.code != 0 {
		t.Fatalf("ls: %d %s", r.code, r.stderr)
	}
	out := map[string]row{}
	for _, row := range decode[[]row](t, r.stdout) {
		out[row.Owner+"/"+row.Run] = row
	}
	return out
}

func TestDemoIsListed(t *testing.T) { newDemo(t).isListed(t) }

func (d demoDir) isListed(t *testing.T) {
	t.Helper()
	want := map[string]string{
		"default/ask-5":         "paused verified [paused] approval:talk:tools.1:charge_card",
		"default/countdown-300": "done verified [done]",
		"default/letter-4":      "done verified [done]",
		"default/order-1":       "done verified [done]",
		"default/order-2":       "done verified [recovered done]",
		"default/order-3":       "done forged [tampered done]",
		"default/order-4":       "done gap [tampered done]",
		"default/order-6":       "running regressed [tampered stuck]",
		"default/order-7":       "running verified [in-doubt] in-doubt:send.1:email_tickets",
		"default/order-8":       "done verified [done]",
		"default/order-9":       "paused verified [paused] approval:pay.1:pay_back",
		"default/parcel-5":      "running verified [stuck]",
		"default/payout-11":     "paused verified [paused] approval:alice.1:pay_person approval:bob.1:pay_person approval:carol.1:pay_person",
		"default/promo-21":      "paused verified [paused] interrupt:code#2:code",
		"default/release-14":    "done verified [done]",
		"default/sync-1":        "failed verified [failed]",
		"default/trip-2":        "paused verified [paused] interrupt:ask#1:approved",
		"default/обзор №7 🎟":    "done verified [done]",
		"alice/chat-1":          "paused verified [paused] interrupt:turn#2:message",
		"alice/order-1":         "done verified [done]",
		"alice/trip-3":          "paused verified [paused] interrupt:ask#1:approved",
		"bob/chat-1":            "paused verified [paused] interrupt:turn#1:message",
		"team blue/sync-2":      "done verified [done]",
	}
	got := d.ls(t)
	for id, w := range want {
		r, ok := got[id]
		line := fmt.Sprintf("%s %s %v", r.Status, r.Verdict, r.Badges)
		for _, x := range r.Waiting {
			line += " " + x.Type + ":" + x.ID + ":" + x.Tool + x.Key
		}
		if !ok || line != w {
			t.Errorf("%s: %s, want %s", id, line, w)
		}
		if ok && r.Why == "" {
			t.Errorf("%s: no reason why it is not moving", id)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d runs, want %d", len(got), len(want))
	}
}

func TestVerifyNamesExactlyTheTamperedRows(t *testing.T) { newDemo(t).showsTampering(t) }

func (d demoDir) showsTampering(t *testing.T) {
	t.Helper()
	r := d.flowtui(t, d.on("verify", "--owner", "*", "--json")...)
	if r.code != 6 {
		t.Errorf("exit %d, want 6: %s", r.code, r.stderr)
	}
	rep := decode[struct {
		Runs, Verified int
		Findings       []struct {
			Run, Record, Verdict string
			Step, N              int64
		}
	}](t, r.stdout)
	var got []string
	for _, f := range rep.Findings {
		got = append(got, fmt.Sprintf("%s %s step %d n %d %s", f.Run, f.Record, f.Step, f.N, f.Verdict))
	}
	slices.Sort(got)
	want := []string{
		"order-3 checkpoint step 2 n 0 forged",
		"order-4 call step 1 n 3 gap",
		"order-6 checkpoint step 1 n 0 regressed",
	}
	if !slices.Equal(got, want) || rep.Runs != 23 || rep.Verified != 20 {
		t.Errorf("%d of %d runs verified, findings %q", rep.Verified, rep.Runs, got)
	}
}

func TestInDoubtIsResolvedAndRecovered(t *testing.T) {
	d := newDemo(t)
	r := d.flowtui(t, d.on("plan", "order-7", "--json")...)
	plan := decode[struct {
		Action  string
		Replay  []struct{ ID string }
		InDoubt []struct{ ID, Tool, Why string } `json:"in_doubt"`
	}](t, r.stdout)
	if r.code != 0 || plan.Action != "recover" || len(plan.InDoubt) != 1 || plan.InDoubt[0].Tool != "email_tickets" || plan.InDoubt[0].Why == "" {
		t.Errorf("plan: %d %s %s", r.code, r.stdout, r.stderr)
	}
	before, err := os.ReadFile(d.store())
	if err != nil {
		t.Fatal(err)
	}
	r = d.flowtui(t, d.on("recover", "order-7", "--json")...)
	if r.code != 5 || !strings.Contains(r.stderr, `"needs-decision"`) {
		t.Errorf("recover: %d %s", r.code, r.stderr)
	}
	if after, _ := os.ReadFile(d.store()); string(before) != string(after) {
		t.Error("recover changed the store")
	}
	if r = d.flowtui(t, d.on("resolve", "order-7", "send.1", "--result", `"sent"`)...); r.code != 0 {
		t.Fatalf("resolve: %d %s", r.code, r.stderr)
	}
	if r = d.flowtui(t, d.on("resolve", "order-7", "send.1", "--not-run")...); r.code != 4 {
		t.Errorf("a second resolution: %d %s", r.code, r.stderr)
	}
	if r = d.flowtui(t, d.on("recover", "order-7", "--json")...); r.code != 0 {
		t.Fatalf("recover: %d %s", r.code, r.stderr)
	}
	if got := d.ls(t)["default/order-7"]; got.Status != "done" || !slices.Contains(got.Badges, "recovered") {
		t.Errorf("%+v", got)
	}
	if n := d.calls(t, "order-7", "email_tickets"); n != 1 {
		t.Errorf("the mail was sent %d times", n)
	}
}

func TestRecoverReplaysFinishedCalls(t *testing.T) {
	d := newDemo(t)
	r := d.flowtui(t, d.on("recover", "parcel-5", "--json")...)
	out := decode[struct {
		Status string
		Rerun  []string
	}](t, r.stdout)
	if r.code != 0 || out.Status != "done" || !slices.Equal(out.Rerun, []string{"label.1"}) {
		t.Errorf("recover: %d %s %s", r.code, r.stdout, r.stderr)
	}
	for _, tool := range []string{"pick_items", "print_label", "announce_parcel"} {
		if n := d.calls(t, "parcel-5", tool); n != 1 {
			t.Errorf("%s acted %d times", tool, n)
		}
	}
}

func TestTwoApproversRace(t *testing.T) {
	d := newDemo(t)
	results := make([]result, 2)
	var wg sync.WaitGroup
	for i, who := range []string{"ana", "ben"} {
		wg.Go(func() { results[i] = d.flowtui(t, d.on("approve", "order-9", "--user", who)...) })
	}
	wg.Wait()
	codes := []int{results[0].code, results[1].code}
	slices.Sort(codes)
	if !slices.Equal(codes, []int{0, 4}) {
		t.Errorf("exit codes %v: %+v", codes, results)
	}
	winner, loser := "ana", results[1]
	if results[1].code == 0 {
		winner, loser = "ben", results[0]
	}
	if !strings.Contains(loser.stderr, winner) {
		t.Errorf("the loser does not learn that %s won: %s", winner, loser.stderr)
	}
	if n := d.calls(t, "order-9", "pay_back"); n != 1 {
		t.Errorf("money went back %d times", n)
	}
	if got := d.ls(t)["default/order-9"]; got.Status != "done" || got.Verdict != "verified" {
		t.Errorf("%+v", got)
	}
}

func TestAnswerContinuesWithTheValue(t *testing.T) {
	d := newDemo(t)
	if r := d.flowtui(t, d.on("answer", "trip-2", "--interrupt", "approved", "--value", "yes")...); r.code != 0 {
		t.Fatalf("answer: %d %s", r.code, r.stderr)
	}
	r := d.flowtui(t, d.on("state", "trip-2", "--json")...)
	state := decode[map[string]any](t, r.stdout)
	if state["approved"] != "yes" || state["booking"] != "booked" {
		t.Errorf("state %s", r.stdout)
	}
}

// An approval brings a conversation to its end, and each tool acted once.
func TestApprovedToolCallEndsTheConversation(t *testing.T) {
	d := newDemo(t)
	if r := d.flowtui(t, d.on("approve", "ask-5")...); r.code != 0 {
		t.Fatalf("approve: %d %s", r.code, r.stderr)
	}
	r := d.flowtui(t, d.on("show", "ask-5", "--json")...)
	out := decode[struct {
		Status       string
		Conversation []struct{ Role, Content string }
	}](t, r.stdout)
	var said []string
	for _, m := range out.Conversation {
		said = append(said, m.Role)
	}
	want := []string{"system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "tool", "assistant"}
	if out.Status != "done" || !slices.Equal(said, want) || !strings.HasPrefix(out.Conversation[9].Content, "Done. A4 and A5 are yours") {
		t.Errorf("it is %s, %q", out.Status, out.Conversation)
	}
	for _, tool := range []string{"find_seats", "hold_seats", "charge_card", "email_tickets"} {
		if n := d.calls(t, "ask-5", tool); n != 1 {
			t.Errorf("%s acted %d times", tool, n)
		}
	}
}

func TestWithoutAKeyAllIsReadAndNothingDone(t *testing.T) {
	d := newDemo(t)
	acts := [][]string{
		{"approve", d.store(), "order-9", "--yes"}, {"deny", d.store(), "order-9", "--yes"},
		{"answer", d.store(), "trip-2", "--value", "yes", "--yes"},
		{"resolve", d.store(), "order-7", "send.1", "--not-run", "--yes"},
		{"recover", d.store(), "parcel-5", "--yes"},
	}
	for _, args := range acts {
		if r := d.flowtui(t, append(args, "--flows", filepath.Join(d.dir, "flows"))...); r.code != 7 || !strings.Contains(r.stderr, "key") {
			t.Errorf("%s: %d %s", args[0], r.code, r.stderr)
		}
	}
	for _, args := range [][]string{{"ls", d.store()}, {"show", d.store(), "order-9"}, {"state", d.store(), "order-9"}, {"calls", d.store(), "order-9"}, {"events", d.store(), "order-9"}, {"plan", d.store(), "order-9"}} {
		if r := d.flowtui(t, args...); r.code != 0 || r.stdout == "" {
			t.Errorf("%s: %d %s", args[0], r.code, r.stderr)
		}
	}
	if got := d.calls(t, "order-9", "pay_back"); got != 0 {
		t.Errorf("money went back %d times", got)
	}
}
