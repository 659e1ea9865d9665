package views

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// View implements Screen.
func (r *runScreen) View() string {
	lines := append(r.head(), r.tabBar(), r.styles.Muted.Render(widget.Rule(r.styles.Rule, r.width)))
	lines = append(lines, troubleLines(r.shared, r.trouble(), r.width, r.height)...)
	lines = append(lines, r.body(max(0, r.height-len(lines)))...)
	return strings.Join(widget.Fill(lines, r.width, r.height, r.styles.Ellipsis), "\n")
}

// head says which run this is and how it stands: on one line when that fits,
// else on two.
func (r *runScreen) head() []string {
	row := r.row()
	if !r.detail.loaded {
		row.Run = r.ref.Run
	}
	row.Ref = r.ref
	who := []string{row.Flow, ownerShown(r.shared, row), prefixed("user ", row.User), thread(row.Thread)}
	name := " " + r.styles.Title.Render(widget.Plain(row.Run)) + "  "
	if storeInfo(r.shared, row).Production {
		name += r.styles.Tone(theme.Danger).Render("PRODUCTION") + "  "
	}
	name += widget.Plain(strings.Join(nonEmpty(who...), "  "))
	fresh := widget.Plain(r.freshness()) + " "
	if !r.detail.loaded {
		return []string{widget.Ends(name, fresh, r.width, r.styles.Ellipsis)}
	}
	v := r.styles.Verdict(row.Verdict)
	verdict := r.styles.Tone(v.Tone).Render(v.Symbol + " " + widget.Plain(v.Word))
	badges, place := " "+r.badgeWords(), r.place()
	switch p := r.detail.problem; { // what is not known any more is not said as if it were
	case vanished(p):
		verdict, badges = "", " "+r.styles.Tone(theme.Danger).Render("not there any more")
	case p != nil:
		verdict, badges = r.styles.Muted.Render("was "+ansi.Strip(verdict)), r.styles.Muted.Render(" was "+ansi.Strip(r.badgeWords()))
	}
	if widget.Width(name+badges+verdict+place+fresh)+8 <= r.width {
		return []string{widget.Ends(name+"  "+badges, verdict+"  "+place+"  "+fresh, r.width, r.styles.Ellipsis)}
	}
	return []string{
		widget.Ends(name, verdict+"  "+fresh, r.width, r.styles.Ellipsis),
		widget.Ends(badges, place+" ", r.width, r.styles.Ellipsis),
	}
}

func (r *runScreen) badgeWords() string {
	var words []string
	for _, b := range r.row().Badges {
		look := r.styles.Badge(b)
		words = append(words, r.styles.Tone(look.Tone).Render(look.Symbol+" "+widget.Plain(look.Word)))
	}
	return strings.Join(words, "  ")
}

// place is where the run is, and where the step cursor is.
func (r *runScreen) place() string {
	row := r.row()
	text := progressOf(row)
	if r.step != latest {
		text = r.styles.Tone(theme.Attention).Render(fmt.Sprintf("at step %d of %d", r.step, row.Step))
	}
	if r.secretsShown() {
		text = r.styles.Tone(theme.Attention).Render("secrets shown") + "  " + text
	}
	return text
}

func (r *runScreen) secretsShown() bool {
	talk := r.shows(r.talk) || r.shows(r.tabs[0]) && r.talks()
	return r.shows(r.state) && r.state.open || (r.shows(r.called) || r.shows(r.talk)) && r.open || talk && r.talk.open
}

// freshness says how old what is shown is.
func (r *runScreen) freshness() string {
	switch f := r.failure(); {
	case f != nil && f.read.IsZero():
		return "not read yet"
	case !r.detail.loaded:
		return "reading" + r.styles.Ellipsis
	case f != nil:
		return r.shared.freshness(f.read, slot{busy: f.busy, asked: f.tried}, true)
	}
	return r.shared.freshness(r.detail.read, r.detail.slot, false)
}

func (r *runScreen) tabBar() string {
	tabs := make([]widget.Tab, len(r.tabs))
	for i, t := range r.tabs {
		tabs[i] = t.title()
	}
	return widget.Tabs(r.styles, tabs, r.at, r.width)
}

// failure is about what could not be read, nil when all is well.
func (r *runScreen) failure() *failure {
	if f := r.detail.failed(); f != nil {
		return f
	}
	return r.tab().failed()
}

// trouble is the sentence about what could not be read, "" when all is well.
func (r *runScreen) trouble() string {
	f := r.failure()
	if f == nil {
		return ""
	}
	next := "next try in " + short(max(0, retryAfter-r.now().Sub(f.tried)))
	if f.busy {
		next = "trying again now"
	}
	text := fmt.Sprintf("%s (since %s), %s", advised(inStore(r.ref.Store, f.problem.Message), f.problem.Hint), clock(f.since), next)
	if r.detail.problem != nil {
		text += "; no actions until then"
	}
	return text + "."
}

// advised is a message with what to do.
func advised(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + ": " + strings.TrimSuffix(hint, ".")
}

// inStore is a message that names the store.
func inStore(store, message string) string {
	message = strings.TrimSuffix(message, ".")
	if strings.Contains(message, store) {
		return message
	}
	return store + ": " + message
}

// body is the tab in front. What could not be read again is greyed.
func (r *runScreen) body(height int) []string {
	f := r.failure()
	if !r.detail.loaded || !r.tab().ready() {
		lines := []string{"", "  reading" + r.styles.Ellipsis}
		if f != nil {
			lines = []string{""}
			for _, l := range widget.Wrap(f.problem.Hint, max(1, r.width-4)) {
				lines = append(lines, "  "+l)
			}
		}
		return widget.Fill(lines, r.width, height, r.styles.Ellipsis)
	}
	lines := widget.Fill(r.tab().view(r.width, height), r.width, height, r.styles.Ellipsis)
	if f != nil {
		for i := range lines {
			lines[i] = r.styles.Muted.Render(ansi.Strip(lines[i]))
		}
	}
	return lines
}
