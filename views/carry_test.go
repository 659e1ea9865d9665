package views_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// opens gives the plan of a run these open things.
func opens(b *viewstest.Backend, run string, open ...viewer.ReviewEntry) {
	b.Lock()
	defer b.Unlock()
	p := b.Plans[viewstest.Ref(run)]
	p.Review = open
	b.Plans[viewstest.Ref(run)] = p
}

// reread lets a colleague change what is open, and reads the plan again.
func (x *harness) reread(run string, open ...viewer.ReviewEntry) {
	x.Helper()
	opens(x.backend, run, open...)
	touch(x.backend, run, func(r *viewer.Row) { r.Version += "+" })
	x.changed()
	x.keys("r", pause)
}

func asked(kind, id, text string) viewer.ReviewEntry {
	e := viewer.ReviewEntry{Waiting: viewer.Waiting{Type: kind, ID: id, Tool: "pay", Prompt: text}, Digest: "d-" + id, Since: viewstest.Now}
	if kind == viewer.WaitInterrupt {
		e.Tool = ""
	}
	return e
}

func TestDenyingIsNotCarriedToAnotherApproval(t *testing.T) {
	t.Parallel()
	alice, bob := asked(viewer.WaitApproval, "alice.1", "A"), asked(viewer.WaitApproval, "bob.1", "B")
	x := start(t, 80, 30, func(b *viewstest.Backend) { opens(b, "order-9", alice, bob) })
	x.keys("j", "a", pause, "enter", pause, "tab", "n", "o", "enter", pause, "ctrl+d")
	x.sees("id alice.1", "deny it?", "note no")
	x.reread("order-9", bob)
	x.sees("id bob.1", "enter approve")
	x.seesNot("deny it?", "note no")
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
	same(t, x.backend.Acted[0].Action, viewer.Approve)
	same(t, x.backend.Acted[0].Note, "")
}

// The same id may ask again, or for something else.
func TestDenyingIsForWhatWasRead(t *testing.T) {
	t.Parallel()
	first := asked(viewer.WaitApproval, "alice.1", "A")
	for name, change := range map[string]func(*viewer.ReviewEntry){
		"other arguments": func(e *viewer.ReviewEntry) { e.Digest = "other" },
		"another round":   func(e *viewer.ReviewEntry) { e.Since = e.Since.Add(time.Second) },
	} {
		x := start(t, 80, 30, func(b *viewstest.Backend) { opens(b, "order-9", first) })
		x.keys("j", "a", pause, "tab", "n", "o", "enter", pause, "ctrl+d")
		next := first
		change(&next)
		x.reread("order-9", next)
		x.seesNot("deny it?", "note no")
		same(t, len(x.backend.Acted), 0)
		t.Log(name)
	}
}

// What asks the same keeps what was typed.
func TestWhatWasTypedStaysWithItsApproval(t *testing.T) {
	t.Parallel()
	alice, bob := asked(viewer.WaitApproval, "alice.1", "A"), asked(viewer.WaitApproval, "bob.1", "B")
	x := start(t, 80, 30, func(b *viewstest.Backend) { opens(b, "order-9", bob, alice) })
	x.keys("j", "a", pause, "j", "enter", pause, "tab", "n", "o", "enter", pause, "ctrl+d")
	revealed := alice
	revealed.Args, revealed.Lines = json.RawMessage(`"4242"`), []viewer.Line{{Text: `"4242"`}}
	x.reread("order-9", revealed)
	x.sees("id alice.1", "deny it?", "note no")
}

func TestReadToTheEndIsNotCarried(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, long(300))
	x.keys("j", "a", pause)
	for range 60 {
		x.keys("pgdown")
	}
	x.keys(pause)
	x.seesNot("read to the end first")
	x.backend.Lock()
	e := x.backend.Plans[viewstest.Ref("order-9")].Review[0]
	x.backend.Unlock()
	e.ID = "pay.2"
	opens(x.backend, "order-9", e) // and the version is the same
	x.keys("r", pause)
	x.sees("id pay.2", "read to the end first")
}

func TestResultIsNotCarriedToAnotherCall(t *testing.T) {
	t.Parallel()
	alice, bob := asked(viewer.WaitInDoubt, "alice.1", ""), asked(viewer.WaitInDoubt, "bob.1", "")
	x := start(t, 80, 30, func(b *viewstest.Backend) { opens(b, "order-7", alice, bob) })
	x.keys("e", pause, "enter", pause, "enter", "4", "2", "enter", pause)
	x.sees("id alice.1", "result 42")
	x.keys("esc", pause, "j")
	x.keys("enter", pause)
	x.sees("id bob.1")
	x.seesNot("42")
	x.keys("enter", pause, "enter", pause, "enter")
	same(t, len(x.backend.Acted), 0)
}

func TestAnswerIsNotCarriedToAnotherQuestion(t *testing.T) {
	t.Parallel()
	first, second := asked(viewer.WaitInterrupt, "ask.1", "How much?"), asked(viewer.WaitInterrupt, "ask.2", "To whom?")
	again := first
	again.Prompt = "How much more?"
	for _, next := range []viewer.ReviewEntry{second, again} {
		x := start(t, 80, 30, func(b *viewstest.Backend) { opens(b, "trip-2", first) })
		x.keys("j", "j", "i", pause, "enter", "9", "9", "enter", pause)
		x.sees("answer 99")
		x.reread("trip-2", next)
		x.sees(next.Prompt)
		x.seesNot("answer 99")
		x.keys("enter")
		same(t, len(x.backend.Acted), 0)
	}
}

// The run id that was typed for a production store is for one decision.
func TestRunIDIsNotCarriedToAnotherApproval(t *testing.T) {
	t.Parallel()
	alice, bob := asked(viewer.WaitApproval, "alice.1", "A"), asked(viewer.WaitApproval, "bob.1", "B")
	x := start(t, 80, 30, func(b *viewstest.Backend) {
		b.Infos[0].Production = true
		opens(b, "order-9", alice)
	})
	x.keys("j", "a", pause, "enter", "o", "r", "d", "e", "r", "-", "9", "enter", pause)
	x.sees("run id order-9")
	x.reread("order-9", bob)
	x.seesNot("run id order-9")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
}

// replan changes the plan of order-7, and reads it again.
func (x *harness) replan(change func(*viewer.Plan)) {
	x.Helper()
	ref := viewstest.Ref("order-7")
	x.backend.Lock()
	p := x.backend.Plans[ref]
	change(&p)
	x.backend.Plans[ref] = p
	x.backend.Unlock()
	touch(x.backend, "order-7", func(r *viewer.Row) { r.Version += "+" })
	x.changed()
	x.keys("r", pause)
}

func heldBy(holder string) func(*viewer.Plan) {
	return func(p *viewer.Plan) {
		p.Lease = nil
		if holder != "" {
			p.Lease = &viewer.Lease{Holder: holder, Expires: viewstest.Now.Add(time.Hour)}
		}
	}
}

func TestRecoverKeepsItsChoiceByWhatItDoes(t *testing.T) {
	t.Parallel()
	const leave, say, take, again = "▸ leave it", "▸ say first", "▸ take it over: ", "▸ run what is in doubt again"
	cases := []struct {
		name   string
		before string // who holds the run
		keys   []string
		chosen string
		change func(*viewer.Plan)
		want   string
	}{
		{"leave it moves up", "", []string{"j", "j"}, leave, heldBy("worker-2"), leave},
		{"leave it moves down", "worker-2", nil, leave, heldBy(""), leave},
		{"taking over is gone", "worker-2", []string{"j", "enter"}, take, heldBy(""), say},
		{"running again is gone", "", []string{"j", "enter"}, again, heldBy("worker-2"), leave},
		{"somebody else would be cut off", "worker-2", []string{"j", "enter"}, take, heldBy("worker-3"), leave},
		{"another call would run again", "", []string{"j", "enter"}, again, func(p *viewer.Plan) { p.InDoubt = []viewer.Call{{ID: "pay.1"}} }, say},
		{"nothing else changed", "worker-2", []string{"j", "enter"}, take, func(*viewer.Plan) {}, take},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 100, 30, func(b *viewstest.Backend) {
				p := b.Plans[viewstest.Ref("order-7")]
				heldBy(c.before)(&p)
				b.Plans[p.Row.Ref] = p
			})
			x.keys("R", pause)
			x.keys(c.keys...)
			x.sees(c.chosen)
			x.keys(pause)
			x.replan(c.change)
			x.sees(c.want)
			x.seesNot("? enter ") // the second question
			x.keys("enter")
			same(t, len(x.backend.Acted), 0)
		})
	}
}

// The answers to choose from are a part of the question: no place among others is
// taken over to them.
func TestAChoiceIsNotCarriedToOtherAnswers(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*viewer.ReviewEntry, []string){
		"choices": func(e *viewer.ReviewEntry, c []string) { e.Choices = c },
		"options": func(e *viewer.ReviewEntry, c []string) { e.Options = c },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			question := func(answers ...string) viewer.ReviewEntry {
				e := asked(viewer.WaitInterrupt, "ask.1", "refund?")
				e.Key = "refund"
				set(&e, answers)
				return e
			}
			x := start(t, 80, 30, func(b *viewstest.Backend) { opens(b, "trip-2", question("pay all", "pay nothing")) })
			x.keys("j", "j", "i", pause, "j")
			x.sees("▸ pay nothing")
			x.reread("trip-2", question("pay nothing", "pay all"))
			x.sees("▸ pay nothing")
		})
	}
}
