package views_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// planOf changes the plan of a run, and none of another test.
func planOf(run string, change func(*viewer.Plan)) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref(run)]
		p.Review = append([]viewer.ReviewEntry(nil), p.Review...)
		p.InDoubt = append([]viewer.Call(nil), p.InDoubt...)
		p.Rerun = append([]viewer.Call(nil), p.Rerun...)
		change(&p)
		b.Plans[viewstest.Ref(run)] = p
	}
}

const hiddenTail = "TOTAL-1000000"

// Nothing is decided before all of what is decided on was on the screen: neither
// what a call was made with, nor a prompt, nor what a recovery does. What is safe
// needs no reading.
func TestNothingIsDecidedUnread(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("the quick brown fox ", 120) + hiddenTail
	lines := func(p *viewer.Plan) {
		of(60)(&p.Review[0])
		p.Review[0].Lines = append(p.Review[0].Lines, viewer.Line{Depth: 1, Key: "sum", Text: hiddenTail})
	}
	call := func(c *viewer.Call) { c.Args, _ = json.Marshal(text) }
	for name, c := range map[string]struct {
		run    string
		change func(*viewer.Plan)
		open   []string // the sheet, up to the key that decides
		want   viewer.Request
	}{
		"approve":     {"order-9", lines, []string{"j", "a", pause}, viewer.Request{Action: viewer.Approve, Target: "pay.1"}},
		"deny":        {"order-9", lines, []string{"j", "a", pause, "ctrl+d"}, viewer.Request{Action: viewer.Deny, Target: "pay.1"}},
		"it ran":      {"order-7", lines, []string{"e", pause, "enter", "1", "enter"}, viewer.Request{Action: viewer.Resolve, Target: "send.1", Value: json.RawMessage("1")}},
		"did not run": {"order-7", lines, []string{"e", pause, "j"}, viewer.Request{Action: viewer.Resolve, Target: "send.1", NotRun: true}},
		"why in doubt": {"order-7", func(p *viewer.Plan) { p.Review[0].Why = text }, []string{"e", pause, "j"},
			viewer.Request{Action: viewer.Resolve, Target: "send.1", NotRun: true}},
		"answer": {"trip-2", func(p *viewer.Plan) { p.Review[0].Prompt = text }, []string{"j", "j", "i", pause, "j"},
			viewer.Request{Action: viewer.Answer, Target: "ask.1", Value: json.RawMessage(`"no"`)}},
		"a choice that is cut": {"trip-2", func(p *viewer.Plan) {
			p.Review[0].Choices = []string{"yes", "no " + text + " of the quick brown fox, all in"}
		}, []string{"j", "j", "i", pause, "j"},
			viewer.Request{Action: viewer.Answer, Target: "ask.1", Value: json.RawMessage(`"no ` + text + ` of the quick brown fox, all in"`)}},
		"run again": {"order-7", func(p *viewer.Plan) { call(&p.InDoubt[0]) }, []string{"R", pause, "j", "enter"},
			viewer.Request{Action: viewer.Recover, RerunInDoubt: true}},
		"take over": {"sync-2", func(p *viewer.Plan) {
			p.Lease = &viewer.Lease{Holder: "worker-2", Expires: viewstest.Now.Add(1e12)}
			call(&p.Rerun[0])
		}, []string{"j", "j", "j", "j", "j", "R", pause, "j", "enter"}, viewer.Request{Action: viewer.Recover, Takeover: true}},
		"a store without a log": {"sync-2", func(p *viewer.Plan) { p.Then = text }, []string{"j", "j", "j", "j", "j", "R", pause}, viewer.Request{Action: viewer.Recover}},
		"recover with a decision": {"sync-2", func(p *viewer.Plan) {
			p.Decision = &viewer.Decision{Type: "approve", ID: "pay.1", By: "ana"}
			call(&p.Rerun[0])
		}, []string{"j", "j", "j", "j", "j", "R", pause}, viewer.Request{Action: viewer.Recover}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24, planOf(c.run, c.change), func(b *viewstest.Backend) {
				if name == "a store without a log" {
					b.Rows[5].Kind = "teff"
				}
			})
			x.keys(c.open...)
			x.keys(pause)
			x.seesNot(hiddenTail)
			x.sees("not yet, read to the end first", "pgdn reads on", fmt.Sprintf("1-%d of ", x.shownLines()))
			x.keys("enter")
			same(t, len(x.backend.Acted), 0)
			x.sees("read to the end first")
			for range 20 {
				x.keys("pgdown")
			}
			x.keys(pause)
			x.seesNot("not yet", "reads on")
			x.keys("enter")
			same(t, len(x.backend.Acted), 1)
			c.want.Ref, c.want.Version = viewstest.Ref(c.run), c.run+"@2"
			same(t, x.backend.Acted[0], c.want)
		})
	}
}

// shownLines is how many lines of the text of a sheet are on the screen: those
// between its head and the line that says where the text stands.
func (x *harness) shownLines() int {
	x.Helper()
	const head = 3 // the border, the run, the store
	for i, l := range strings.Split(x.view(), "\n") {
		if strings.Contains(l, "reads on") {
			return i - head
		}
	}
	x.Fatalf("nothing is out of sight:\n%s", x.view())
	return 0
}

// A recovery in which nothing is decided needs no reading.
func TestPlainRecoveryIsNotHeldUp(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, planOf("sync-2", func(p *viewer.Plan) {
		for i := range 60 {
			p.Replay = append(p.Replay, viewer.Call{ID: fmt.Sprintf("n.%d", i), Tool: "put", Status: "done"})
		}
	}))
	x.keys("j", "j", "j", "j", "j", "R", pause)
	x.sees("reads on")
	x.seesNot("not yet")
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
}

// In the least window that is drawn, every sheet leaves room to read what it
// decides on. Where there is none beside what is asked, that comes afterwards, and
// no key is for it before it was on the screen.
func TestTheLeastWindowCanDecide(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("the quick brown fox ", 20) + hiddenTail
	many := make([]string, 12)
	for i := range many {
		many[i] = fmt.Sprint("choice ", i)
	}
	for name, c := range map[string]struct {
		run    string
		change func(*viewer.Plan)
		open   []string
		decide []string // once it was read
		want   viewer.Request
	}{
		"approve": {"order-9", func(p *viewer.Plan) { p.Review[0].IfNo = text }, []string{"j", "a"}, nil, viewer.Request{Action: viewer.Approve, Target: "pay.1"}},
		"deny":    {"order-9", func(p *viewer.Plan) { p.Review[0].IfYes = text }, []string{"j", "a"}, []string{"ctrl+d"}, viewer.Request{Action: viewer.Deny, Target: "pay.1"}},
		"it ran": {"order-7", func(p *viewer.Plan) { p.Review[0].IfNo = text }, []string{"e"}, []string{pause, "enter", "1", "enter"},
			viewer.Request{Action: viewer.Resolve, Target: "send.1", Value: json.RawMessage("1")}},
		"did not run": {"order-7", func(p *viewer.Plan) { p.Review[0].IfNo = text }, []string{"e"}, []string{"j"},
			viewer.Request{Action: viewer.Resolve, Target: "send.1", NotRun: true}},
		"choices": {"trip-2", func(p *viewer.Plan) { p.Review[0].Prompt, p.Review[0].Choices = text, many }, []string{"j", "j", "i"}, []string{"j"},
			viewer.Request{Action: viewer.Answer, Target: "ask.1", Value: json.RawMessage(`"choice 1"`)}},
		"run again": {"order-7", func(p *viewer.Plan) { p.Then = text }, []string{"R", pause, "j", "enter"}, nil, viewer.Request{Action: viewer.Recover, RerunInDoubt: true}},
	} {
		for _, production := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " in production: ", production), func(t *testing.T) {
				t.Parallel()
				x := start(t, 60, 16, planOf(c.run, c.change), func(b *viewstest.Backend) { b.Infos[0].Production = production })
				x.keys(c.open...)
				x.keys(pause)
				x.sees("reads on")
				x.readToTheEnd()
				x.sees(hiddenTail)
				x.wait(time.Second)
				x.keys(c.decide...)
				x.keys(pause, "enter")
				if production {
					x.sees("enter done")
					for _, r := range c.run {
						x.keys(string(r))
					}
					x.keys("enter", pause, "enter")
				}
				c.want.Ref, c.want.Version = viewstest.Ref(c.run), c.run+"@2"
				same(t, x.backend.Acted, []viewer.Request{c.want})
				x.exact(60, 16)
			})
		}
	}
}

func (x *harness) readToTheEnd() {
	x.Helper()
	for range 40 {
		if !strings.Contains(x.view(), "reads on") {
			return
		}
		x.keys("pgdown")
	}
	x.Fatalf("it never ends:\n%s", x.view())
}

// What comes on the screen once all was read is not confirmed by a key from
// before.
func TestWhatIsAskedAfterReadingIsLookedAt(t *testing.T) {
	t.Parallel()
	x := start(t, 60, 16, planOf("trip-2", func(p *viewer.Plan) {
		p.Review[0].Prompt = strings.Repeat("the quick brown fox ", 20) + hiddenTail
		p.Review[0].Choices = []string{"yes", "no", "3", "4", "5", "6", "7", "8"}
	}))
	x.keys("j", "j", "i", pause)
	x.seesNot("▸ yes")
	x.sees("what is asked comes when all of it was read")
	x.readToTheEnd()
	x.seesNot("▸ yes")
	x.keys(pause, "enter")
	x.sees("▸ yes")
	x.keys("enter", "j", "enter")
	same(t, len(x.backend.Acted), 0)
	x.keys(pause, "enter")
	same(t, len(x.backend.Acted), 1)
}

// Of several calls of one tool, each is named: what replays shows no arguments.
func TestCallsOfOneToolAreTold(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, planOf("sync-2", func(p *viewer.Plan) {
		p.Replay = append([]viewer.Call{{ID: "bob.1", Tool: "pay", Status: "done", Ended: &p.Row.Updated}}, p.Replay...)
		p.Rerun = append(p.Rerun, viewer.Call{ID: "ann.1", Tool: "pay", Idempotent: true}, viewer.Call{ID: "cid.1", Tool: "pay", Idempotent: true})
	}))
	x.keys("j", "j", "j", "j", "j", "R", pause)
	x.sees("bob.1: done", "ann.1: idempotent, runs again", "cid.1: idempotent, runs again", "put_rows          idempotent")
}
