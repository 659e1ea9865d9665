package views

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// overviewTab tells what one has to know of the run before acting, the most
// needed first.
type overviewTab struct {
	r    *runScreen
	pane widget.TextPane
}

func (o *overviewTab) title() widget.Tab    { return widget.Tab{Title: "Overview"} }
func (o *overviewTab) hints() []keymap.Hint { return nil }
func (o *overviewTab) back() bool           { return false }
func (o *overviewTab) typing() bool         { return false }
func (o *overviewTab) ready() bool          { return true }

// read reads what the overview tells of the run's conversation.
func (o *overviewTab) read(again bool) tea.Cmd {
	if !o.r.talks() {
		return nil
	}
	return o.r.talk.read(again)
}

// failed is about nothing: a conversation that cannot be read is one line of it.
func (o *overviewTab) failed() *failure { return nil }

func (o *overviewTab) key(msg tea.KeyMsg) (tea.Cmd, bool) {
	return nil, paneKey(msg, o.r.keys.Detail.Nav, &o.pane)
}

func (o *overviewTab) view(width, height int) []string {
	return paneLines(o.r.styles, &o.pane, o.lines(max(1, width-2), height), height)
}

// lines are all that the overview tells. Where there is no room for all of the
// arguments, each call shows a start of its own.
func (o *overviewTab) lines(width, height int) []string {
	waiting := o.waiting(o.r.detail.value, width)
	lines := o.told(waiting.lines(o.r.styles, width, all), width)
	if len(lines) <= height || len(waiting) == 0 {
		return lines
	}
	rest := len(lines) - len(waiting.lines(o.r.styles, width, all))
	return o.told(waiting.lines(o.r.styles, width, waiting.most(height-rest)), width)
}

// told is the overview around what the run waits for.
func (o *overviewTab) told(waiting []string, width int) []string {
	d := o.r.detail.value
	lines := labelled(o.r.shared, "Why", d.Why, width)
	lines = append(lines, labelled(o.r.shared, "Next", d.Next, width)...)
	for _, part := range [][]string{
		o.findings(d, width), o.talk(width), waiting, o.failure(d, width), o.nested(d, width), o.actions(width), o.facts(d, width), o.notes(d, width),
	} {
		if len(part) > 0 && len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, part...)
	}
	return lines
}

// findings are the first rows that do not verify.
func (o *overviewTab) findings(d viewer.Detail, width int) []string {
	const most = 3
	var lines []string
	found := badOnes(d.Findings)
	for i, f := range found {
		if i == most && len(found) > most+1 { // for one more there is that line
			more := fmt.Sprintf("%d more, the tab Verify shows all", len(found)-most)
			return append(lines, o.r.styles.Muted.Render(widget.Cut(more, width, o.r.styles.Ellipsis)))
		}
		lines = append(lines, findingLines(o.r.shared, f, width)...)
	}
	return lines
}

// failure is the whole error of a failed run, unless it was told already.
func (o *overviewTab) failure(d viewer.Detail, width int) []string {
	text := d.Error
	if text == "" {
		text = d.Row.Error
	}
	if text == "" || strings.Contains(d.Why, text) {
		return nil
	}
	lines := []string{o.r.styles.Tone(theme.Danger).Render(o.r.styles.Badge(viewer.Failed).Symbol + " it failed with")}
	for _, l := range widget.Wrap(text, max(1, width-2)) {
		lines = append(lines, "  "+l)
	}
	return lines
}

// nested are the runs below a foreign one.
func (o *overviewTab) nested(d viewer.Detail, width int) []string {
	var lines []string
	for i, n := range d.Nested {
		label := ""
		if i == 0 {
			label = "Below"
		}
		text := fmt.Sprintf("%s: %s at %s, %s", n.Run, n.Native, at(n), progressOf(n))
		lines = append(lines, labelled(o.r.shared, label, text, width)...)
	}
	if d.Parent != "" {
		lines = append(lines, labelled(o.r.shared, "Above", d.Parent, width)...)
	}
	return lines
}

// notes are what one has to know of a foreign format.
func (o *overviewTab) notes(d viewer.Detail, width int) []string {
	var lines []string
	for _, note := range d.Notes {
		lines = append(lines, labelled(o.r.shared, "Note", note, width)...)
	}
	return lines
}

// actions are the keys of what can be done, and behind them greyed what cannot,
// with the reason.
func (o *overviewTab) actions(width int) []string {
	var lines, not []string
	for _, k := range actionKeys(o.r.keys.Detail.Actions) {
		help := k.binding.Help()
		if off := k.refusal(o.r.row(), o.r.off()); off != "" {
			text := widget.Pad(help.Key, 3) + help.Desc + ": not now, " + off
			for i, l := range widget.Wrap(text, max(1, width-3)) {
				if i > 0 {
					l = "   " + strings.TrimLeft(l, " ")
				}
				not = append(not, o.r.styles.Muted.Render(l))
			}
			continue
		}
		lines = append(lines, o.r.styles.Key.Render(widget.Pad(help.Key, 3))+widget.Plain(strings.Join(titles(o.r.row(), k), "; ")))
	}
	v := o.r.keys.Detail.Verify.Help()
	lines = append(lines, o.r.styles.Key.Render(widget.Pad(v.Key, 3))+v.Desc)
	return append(lines, not...)
}

// titles name what the key would act on.
func titles(row viewer.Row, k actionKey) []string {
	var all []string
	times := map[string]int{}
	for _, o := range row.Actions {
		if o.Action != k.action || o.Disabled != "" || o.Title == "" {
			continue
		}
		if times[o.Title]++; times[o.Title] == 1 {
			all = append(all, o.Title)
		}
	}
	for i, title := range all {
		if n := times[title]; n > 1 { // several calls of one tool
			all[i] = fmt.Sprintf("%s, %d times", title, n)
		}
	}
	if len(all) == 0 {
		return []string{k.binding.Help().Desc}
	}
	return all
}

// facts is who the run is and where it stands.
func (o *overviewTab) facts(d viewer.Detail, width int) []string {
	place := fmt.Sprintf("%s, %s, status %s", at(d.Row), progressOf(d.Row), d.Status)
	if d.Foreign() {
		place += " (" + d.Native + ")"
	}
	who := []string{prefixed("owner ", d.Owner), prefixed("user ", cmp.Or(d.Identity.User, d.User)),
		thread(cmp.Or(d.Identity.Thread, d.Thread)), prefixed("principal ", d.Identity.Principal)}
	flow := strings.Join(nonEmpty(d.Row.Flow, prefixed("kind ", d.Kind), prefixed("digest ", d.Digest)), ", ")
	var lines []string
	for _, f := range [][2]string{
		{"At", place},
		{"Work", lease(o.r.shared, d.Row) + o.expiry(d.Row)},
		{"For", strings.Join(nonEmpty(who...), ", ")},
		{"Flow", flow},
		{"Store", d.Store},
		{"Made", o.moment(d.Created)},
		{"Last", o.moment(d.Updated)},
		{"Ends", o.dropped(d.Expires)},
	} {
		if f[1] == "" {
			continue
		}
		lines = append(lines, labelled(o.r.shared, f[0], f[1], width)...)
	}
	return lines
}

func (o *overviewTab) expiry(row viewer.Row) string {
	if row.Lease == nil || row.Lease.Holder == "" || row.Lease.Expires.Before(o.r.now()) {
		return ""
	}
	return ", its lease ends " + clock(row.Lease.Expires)
}

// dropped is when the store drops the run by itself, "" when it does not.
func (o *overviewTab) dropped(at *time.Time) string {
	if at == nil {
		return ""
	}
	left := "now"
	if d := at.Sub(o.r.now()); d > 0 {
		left = "in " + short(d)
	}
	return "the store drops it " + left + ", unless it is written to before"
}

// moment is a time with its age, always in UTC.
func (o *overviewTab) moment(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC") + ", " + ago(o.r.now(), t)
}

// ago is the age of t in a sentence.
func ago(now, t time.Time) string {
	a := age(now, t)
	if a == "clock skew" {
		return "in the future: clock skew " + short(t.Sub(now))
	}
	return a + " ago"
}
