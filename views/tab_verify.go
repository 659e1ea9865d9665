package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// verifyTab verifies the run when it is opened, and shows every row that does
// not verify.
type verifyTab struct {
	r       *runScreen
	report  source[viewer.Report]
	version string // of the run when the verification began
	pane    widget.TextPane
}

func (v *verifyTab) title() widget.Tab    { return widget.Tab{Title: "Verify"} }
func (v *verifyTab) back() bool           { return false }
func (v *verifyTab) typing() bool         { return false }
func (v *verifyTab) failed() *failure     { return v.report.failed() }
func (v *verifyTab) ready() bool          { return v.report.loaded }
func (v *verifyTab) hints() []keymap.Hint { return nil }

func (v *verifyTab) key(msg tea.KeyMsg) (tea.Cmd, bool) {
	return nil, paneKey(msg, v.r.keys.Detail.Nav, &v.pane)
}

// read verifies once: a verification reads every row, so it is done again only
// when asked for.
func (v *verifyTab) read(again bool) tea.Cmd {
	if !again && (v.report.loaded || v.report.busy) {
		return nil
	}
	return v.start()
}

// start verifies, unless that is being done already.
func (v *verifyTab) start() tea.Cmd {
	if v.report.busy {
		return nil
	}
	v.version = v.r.row().Version
	return verify(v.r.env, v.report.ask(v.r.env), viewer.VerifyRequest{Refs: []viewer.Ref{v.r.ref}})
}

func (v *verifyTab) got(msg reply[viewer.Report]) tea.Cmd {
	if !v.report.got(msg, v.r.now()) || msg.Problem != nil {
		return nil
	}
	v.pane.Reset()
	return v.r.readDetail() // its verdict is shown in the header
}

func (v *verifyTab) view(width, height int) []string {
	return paneLines(v.r.styles, &v.pane, v.lines(max(1, width-2)), height)
}

func (v *verifyTab) lines(width int) []string {
	verdict := v.verdict()
	look := v.r.styles.Verdict(verdict)
	head := look.Symbol + " " + look.Word
	if key := v.keyNote(); key != "" && verdict != viewer.NoKeyGiven {
		head += ", " + key
	}
	lines := []string{v.r.styles.Tone(look.Tone).Render(widget.Cut(widget.Plain(head), width, v.r.styles.Ellipsis))}
	lines = append(lines, widget.Wrap(meaning(verdict), width)...)
	lines = append(lines, v.when(width)...)
	for _, p := range v.report.value.Problems {
		lines = append(lines, "")
		lines = append(lines, widget.Wrap(p.Store+" could not be read: "+p.Problem.Message, width)...)
	}
	lines = append(lines, v.findings(width)...)
	lines = append(lines, "")
	for _, l := range widget.Wrap("cannot show: the newest rows cut off all together", width) {
		lines = append(lines, v.r.styles.Muted.Render(l))
	}
	return lines
}

// badOnes leaves out what could only not be checked: that is no finding, and
// the verdict tells it.
func badOnes(all []viewer.Finding) []viewer.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f viewer.Finding) bool { return !f.Verdict.Bad() })
}

// findings are the rows that do not verify.
func (v *verifyTab) findings(width int) []string {
	found := badOnes(v.report.value.Findings)
	if len(found) == 0 {
		return nil
	}
	rows := plural(len(found), "row") + " do not verify"
	if len(found) == 1 {
		rows = "1 row does not verify"
	}
	lines := []string{"", v.r.styles.Strong.Render(rows)}
	for _, f := range found {
		lines = append(lines, findingLines(v.r.shared, f, width)...)
	}
	return lines
}

// verdict is that of the report, and that of the run where it has none.
func (v *verifyTab) verdict() viewer.Verdict {
	for _, row := range v.report.value.Rows {
		if row.Ref == v.r.ref {
			return row.Verdict
		}
	}
	if found := v.report.value.Findings; len(found) > 0 {
		return found[0].Verdict
	}
	return v.r.row().Verdict
}

// keyNote is what is known of the key of the run's store.
func (v *verifyTab) keyNote() string {
	for _, info := range stores(v.r.shared) {
		if info.Label == v.r.ref.Store {
			return info.Key
		}
	}
	return ""
}

func (v *verifyTab) when(width int) []string {
	text := "checked " + ago(v.r.now(), v.report.read)
	if notChecked(v.verdict()) {
		text = "read " + ago(v.r.now(), v.report.read)
	}
	tone := theme.Muted
	switch {
	case v.report.busy:
		text = "verifying again" + v.r.styles.Ellipsis
	case v.version != "" && v.version != v.r.row().Version:
		text += "; the run was written to since, V verifies again"
		tone = theme.Attention
	}
	lines := widget.Wrap(text, width)
	for i := range lines {
		lines[i] = v.r.styles.Tone(tone).Render(lines[i])
	}
	return lines
}

// notChecked reports that the rows were read, and nothing is known about them.
func notChecked(v viewer.Verdict) bool {
	return v == viewer.NoKeyGiven || v == viewer.UnknownKey || v == viewer.Unsigned
}

// meaning says what a verdict means.
func meaning(v viewer.Verdict) string {
	switch v {
	case viewer.Verified:
		return "Every row of the run carries a signature made with the key that was given; none was changed, moved or taken out."
	case viewer.NoKeyGiven:
		return "Not checked: no key was given, so nothing is known about the rows. Leave and open the store again with --key-file FILE, --key-env NAME or --key-cmd CMD."
	case viewer.UnknownKey:
		return "Not checked: the rows are signed with a key that was not given, so nothing is known about them. Leave and open the store again with that key, see --key-file."
	case viewer.Unsigned:
		return "Not checked: the store carries no signatures, so nothing is known about the rows."
	case viewer.Forged:
		return "A row does not carry the signature that its content needs: somebody without the key wrote it or changed it."
	case viewer.Gap:
		return "Rows are missing in the middle of the run."
	case viewer.Regressed:
		return "A newer state of this run was seen before: old rows were put back."
	case viewer.Unreadable:
		return "A row cannot be read."
	case viewer.Unchecked:
		return "The run has not been verified yet."
	}
	return ""
}

// findingLines is one row that does not verify: which one, and why.
func findingLines(s *shared, f viewer.Finding, width int) []string {
	look := s.styles.Verdict(f.Verdict)
	where := cmp.Or(f.Record, "row")
	if f.Record != "head" {
		where += fmt.Sprintf(" step %d", f.Step)
	}
	if f.N > 0 {
		where += fmt.Sprintf(" n %d", f.N)
	}
	text := fmt.Sprintf("%s %s: %s", look.Symbol, where, look.Word)
	if f.Reason != "" {
		text += ", " + f.Reason
	}
	lines := widget.Wrap(text, max(1, width-2))
	for i := range lines {
		if i > 0 {
			lines[i] = "  " + strings.TrimLeft(lines[i], " ")
		}
		lines[i] = s.styles.Tone(look.Tone).Render(lines[i])
	}
	return lines
}
