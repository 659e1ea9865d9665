package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// recoverForm shows what recovery would do, and asks what has to be asked: what
// to do with calls in doubt, and whether a run that is alive is taken over.
type recoverForm struct {
	picker
	plan  viewer.Plan
	alike map[string]bool // the tools of several calls
	ways  []way
	sure  bool // the way under the cursor was chosen once, see way.twice
}

// way is one way to recover.
type way struct {
	text            string
	verb            string
	enter           reaction
	rerun, takeover bool
	calls           string // those that may happen twice, by id
	twice           string // what is asked before it is done, "" for what is safe
}

// fill works out the ways. The first one is always safe. The chosen one stays
// chosen when exactly the same can still be done, and is asked for anew.
func (f *recoverForm) fill(p viewer.Plan) {
	chosen := f.way()
	f.plan, f.picked, f.ways, f.sure, f.alike = p, true, nil, false, severalOf(p)
	leave := way{text: "leave it, recover nothing", verb: "leave it", enter: leaves}
	again := p.Repeats()
	rerun := way{verb: "recover, run again", calls: callIDs(slices.Concat(p.InDoubt, again)),
		twice: "it may happen twice: run it again? enter runs it, esc goes back"}
	switch {
	case f.alive():
		f.ways = []way{leave, f.takeover(again)}
	case len(p.InDoubt) > 0:
		rerun.text, rerun.rerun = "run what is in doubt again: it may happen twice", true
		if len(again) > 0 {
			rerun.text = "run what is in doubt and what failed again: it may happen twice"
		}
		if slices.ContainsFunc(p.InDoubt, func(c viewer.Call) bool { return c.Ran }) {
			rerun.text = strings.Replace(rerun.text, "it may happen", "what ran happens", 1)
			rerun.twice = "the record says that a call ran: run it a second time? enter runs it, esc goes back"
		}
		f.ways = []way{{text: "say first what happened to what is in doubt", verb: "go on", enter: resolvesFirst}, rerun, leave}
	case len(again) > 0:
		rerun.text = "run what failed again: it may happen twice"
		f.ways = []way{leave, rerun}
	}
	f.option = max(0, slices.Index(f.ways, chosen))
}

// takeover is the way to cut off who holds the run, and to make these calls again.
func (f *recoverForm) takeover(again []viewer.Call) way {
	holder := f.plan.Lease.Holder
	w := way{text: "take it over: " + holder + " is cut off", verb: "take over", takeover: true, calls: callIDs(again),
		twice: "cut off " + holder + ", which is alive? enter takes over, esc goes back"}
	if len(again) > 0 {
		w.text += ", what failed runs again"
		w.twice = "cut off " + holder + ", which is alive, and run again what failed and may happen twice? enter takes over, esc goes back"
	}
	return w
}

func callIDs(calls []viewer.Call) string {
	var ids strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&ids, "%q %d ", c.ID, c.Step)
	}
	return ids.String()
}

// alive reports that somebody holds the run.
func (f *recoverForm) alive() bool {
	return f.plan.Lease != nil && f.plan.Lease.Expires.After(f.now())
}

func (f *recoverForm) way() way {
	if f.option < len(f.ways) {
		return f.ways[f.option]
	}
	return way{verb: "recover"}
}

func (f *recoverForm) title(row viewer.Row) string { return "Recover " + row.Run }

func (f *recoverForm) verb() string { return f.way().verb }

func (f *recoverForm) subject() string { return "recover" }

func (f *recoverForm) choices() bool { return len(f.ways) > 0 }

func (f *recoverForm) masked() bool {
	runs := slices.Concat(f.plan.Rerun, f.plan.Runs, f.plan.InDoubt)
	return slices.ContainsFunc(runs, func(c viewer.Call) bool { return c.Masked > 0 })
}

func (f *recoverForm) overrides() bool { return f.way().takeover || f.way().enter != confirms }

func (f *recoverForm) refusal() string {
	if f.plan.Action == "none" {
		return "there is nothing to recover"
	}
	return ""
}

// decides reports that a way was chosen that is not safe, that a stored decision
// is used, or that no log tells what happens twice: whoever recovers answers for it.
func (f *recoverForm) decides() bool {
	return f.way().twice != "" || f.plan.Decision != nil || f.plan.Row.Foreign()
}

func (f *recoverForm) enter() reaction {
	if w := f.way(); w.twice != "" && !f.sure {
		return handled
	}
	return f.way().enter
}

func (f *recoverForm) handle() { f.sure = true }

func (f *recoverForm) deeper() bool { return f.sure }

func (f *recoverForm) back() { f.sure = false }

func (f *recoverForm) key(msg tea.KeyMsg) {
	k := f.keys.Sheet
	switch {
	case key.Matches(msg, k.Up):
		f.option, f.sure = max(0, f.option-1), false
	case key.Matches(msg, k.Down):
		f.option, f.sure = max(0, min(f.option+1, len(f.ways)-1)), false
	}
}

func (f *recoverForm) request() viewer.Request {
	w := f.way()
	return viewer.Request{Action: viewer.Recover, RerunInDoubt: w.rerun, Takeover: w.takeover}
}

func (f *recoverForm) content(width int) []string {
	p := f.plan
	lines := widget.Wrap(p.Claims, width)
	if p.Action == "none" { // somebody was faster
		lines = widget.Wrap(p.Lately, width)
	}
	if l := p.Lease; f.alive() {
		held := fmt.Sprintf("%s works on it, its lease ends %s", l.Holder, clock(l.Expires))
		lines = append(lines, f.styles.Tone(theme.Attention).Render(widget.Cut(widget.Plain(held), width, f.styles.Ellipsis)))
	}
	lines = append(lines, "")
	for _, c := range p.Replay {
		lines = append(lines, f.call(theme.OK, f.styles.Check, "replay", c, width)...)
	}
	for _, c := range p.Rerun {
		tone := theme.Accent
		if c.Failure() != "" && !c.Idempotent {
			tone = theme.Danger
		}
		lines = append(lines, f.call(tone, f.styles.Badge(viewer.Recovered).Symbol, "rerun", c, width)...)
		lines = append(lines, f.with(c, width)...)
	}
	for _, c := range p.Runs {
		lines = append(lines, f.call(theme.Accent, f.styles.Badge(viewer.Running).Symbol, "run", c, width)...)
		lines = append(lines, f.with(c, width)...)
	}
	for _, c := range p.InDoubt {
		lines = append(lines, f.call(theme.Danger, f.styles.Badge(viewer.InDoubt).Symbol, "doubt", c, width)...)
		lines = append(lines, f.with(c, width)...)
	}
	switch {
	case p.Row.Foreign():
		lines = append(lines, widget.Wrap("this store keeps no log of calls: whether one was under way is not known, and what runs again may happen twice", width)...)
	case len(p.Replay)+len(p.Rerun)+len(p.Runs)+len(p.InDoubt) == 0:
		lines = append(lines, "no call was under way")
	}
	if d := p.Decision; d != nil {
		lines = append(lines, sentence(f.shared, "decision", fmt.Sprintf("%s of %s by %s, %s ago, is used", d.Type, d.ID, d.By, age(f.now(), d.Time)), width)...)
	}
	return append(lines, sentence(f.shared, "then", strings.TrimPrefix(p.Then, "then "), width)...)
}

// call is what happens to one call. Only the result of one that is not run again
// is cut.
func (f *recoverForm) call(tone theme.Tone, symbol, what string, c viewer.Call, width int) []string {
	text := ""
	switch {
	case what == "doubt" && c.Status == "started" && c.Started != nil:
		text = "started " + clock(*c.Started) + ", no result, not idempotent"
	case what == "doubt":
		text = c.Why + "; not idempotent"
	case what == "run":
		text = "approved, runs for the first time"
	case what == "rerun":
		text = whyAgain(c)
	case c.Ended != nil:
		text = "done " + clock(*c.Ended)
		if len(c.Result) > 0 {
			text += ", " + string(c.Result)
		}
		text += ", not run again"
	}
	if f.alike[c.Tool] { // its arguments tell it from the others, but not of one that replays
		text = c.ID + ": " + text
	}
	head := f.styles.Tone(tone).Render(symbol + " " + widget.Fit(what, 7, ""))
	head += " " + widget.Fit(widget.Plain(c.Tool), toolCells(width), f.styles.Ellipsis)
	style := f.styles.Tone(theme.Normal)
	if what == "rerun" && tone == theme.Danger {
		style = f.styles.Tone(tone)
	}
	if plain := widget.Plain(text); what == "replay" || widget.Width(head)+2+widget.Width(plain) <= width {
		return []string{widget.Fit(head+"  "+style.Render(plain), width, f.styles.Ellipsis)}
	}
	lines := []string{widget.Fit(head, width, f.styles.Ellipsis)}
	for _, l := range widget.Wrap(text, max(1, width-callIndent)) {
		lines = append(lines, widget.Space(callIndent)+style.Render(l))
	}
	return lines
}

// severalOf are the tools of which the plan has several calls.
func severalOf(p viewer.Plan) map[string]bool {
	several, met := map[string]bool{}, map[string]bool{}
	for _, c := range slices.Concat(p.Replay, p.Rerun, p.Runs, p.InDoubt) {
		several[c.Tool] = met[c.Tool]
		met[c.Tool] = true
	}
	return several
}

// whyAgain is why a call is made again.
func whyAgain(c viewer.Call) string {
	switch failure := c.Failure(); {
	case failure != "" && c.Idempotent:
		return failure + "; idempotent, runs again"
	case failure != "":
		return failure + ", runs again"
	case c.Idempotent:
		return "idempotent, runs again"
	}
	return "it did not run, runs now"
}

// callIndent is how far to the right lines about a call begin, below its head.
const callIndent = 10

// toolCells is the room for the name of a tool before what happens to its call.
func toolCells(width int) int { return min(16, width/4) }

// with is what a call that would run is made with, all of it: its arguments, and
// the name of its tool where that was cut.
func (f *recoverForm) with(c viewer.Call, width int) []string {
	text := ""
	if widget.Width(widget.Plain(c.Tool)) > toolCells(width) {
		text = c.Tool + " "
	}
	if len(c.Args) > 0 && string(c.Args) != "null" {
		text += string(c.Args)
	}
	if text == "" {
		return nil
	}
	indent := widget.Space(callIndent)
	lines := widget.Break(text, max(1, width-widget.Width(indent)))
	for i, l := range lines {
		lines[i] = f.styles.Muted.Render(indent + l)
	}
	return lines
}

func (f *recoverForm) inputs(width int, _ bool) []string {
	var lines []string
	for i, w := range f.ways {
		lines = append(lines, f.choice(w.text, i == f.option, width))
	}
	if f.sure {
		for _, l := range widget.Wrap(f.way().twice, width) {
			lines = append(lines, f.styles.Tone(theme.Danger).Render(l))
		}
	}
	return lines
}
