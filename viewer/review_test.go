package viewer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
)

const letter = "Send this?\n\nDear Ana,\x1b[2J\n  yours\n"

// What a person decides on comes in its lines, with no control character in it.
// In one line, wherever that is, a break is the same sign.
func TestReviewKeepsTheLinesOfTexts(t *testing.T) {
	b := newBench(t)
	if err := b.tools.Add(tool.Tool{Name: "mail", Approval: tool.ApprovalRequired, Run: b.tool("mail", nil)}); err != nil {
		t.Fatal(err)
	}
	b.flow(engine.NewFlow("letter").Node("ask", engine.Interrupt{Key: "ok", Prompt: func(engine.State) (string, error) { return letter, nil }}))
	b.flow(engine.NewFlow("mailing").Node("send", engine.Call{Tool: "mail", Args: func(engine.State) (any, error) {
		return map[string]any{"text": letter, "to": "ana"}, nil
	}}))
	b.start("letter", "letter-1")
	b.start("mailing", "letter-2")
	s := b.service()

	p := get[Plan](t)(s.Plan(t.Context(), s.Find("letter-1", ""), false))
	if want := "Send this?\n\nDear Ana,␛[2J\n  yours\n"; p.Review[0].Text != want {
		t.Errorf("asked: %q", p.Review[0].Text)
	}
	one := "Send this?⏎⏎Dear Ana,␛[2J⏎  yours⏎"
	row := b.row(s, "letter-1")
	if row.Waiting[0].Prompt != one || !strings.Contains(row.Why, `asks "`+one+`"`) {
		t.Errorf("in one line: %q, why %q", row.Waiting[0].Prompt, row.Why)
	}

	p = get[Plan](t)(s.Plan(t.Context(), s.Find("letter-2", ""), false))
	var got []string
	for _, l := range p.Review[0].Lines[1:] {
		if l.More != (l.Key == "") {
			t.Errorf("%+v", l)
		}
		got = append(got, l.Key+"|"+l.Text)
	}
	want := []string{`text|"Send this?`, "|", "|Dear Ana,␛[2J", `|  yours⏎"`, `to|"ana"`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// Whatever the text, its lines joined are the text.
func FuzzReviewLines(f *testing.F) {
	f.Add("a\nb\n")
	f.Add("\n")
	f.Add("\"\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		raw, _ := json.Marshal(map[string]string{"k": text})
		var stored map[string]string
		if err := json.Unmarshal(raw, &stored); err != nil {
			t.Fatal(err)
		}
		lines, cut := linesOf(maskedJSON{JSON: raw}, reviewing)
		var all []string
		for _, l := range lines[1:] {
			all = append(all, l.Text)
		}
		if got := strings.Join(all, "\n"); got != `"`+stored["k"]+`"` || cut != 0 {
			t.Errorf("%q became %q, %d left out", text, got, cut)
		}
	})
}
