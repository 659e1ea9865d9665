package views_test

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// column is a line of the box without its sides and the spaces before those.
func (x *harness) column(s string) string {
	x.Helper()
	return strings.TrimRight(strings.Trim(strings.TrimSpace(x.line(s)), "│"), " ")
}

// On a sheet a line break of what is asked is one, and no line of it looks like
// a line of the sheet.
func TestPromptIsShownInItsLines(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Plans[viewstest.Ref("trip-2")].Review[0].Text = "Send this?\n\nDear Ana,\n  yours\npasses: anything"
	})
	x.keys("j", "j", "i", pause)
	for text, want := range map[string]string{"Send this?": " │ Send this?", "Dear Ana,": " │ Dear Ana,", "yours": " │   yours", "passes:": " │ passes: anything"} {
		if got := x.column(text); got != want {
			t.Errorf("%q is shown as %q in\n%s", text, got, x.view())
		}
	}
}

// So is one of an argument; what follows stands below the text, where no key stands.
func TestArgumentIsShownInItsLines(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 40, func(b *viewstest.Backend) {
		b.Plans[viewstest.Ref("order-9")].Review[0].Lines = []viewer.Line{
			{Text: "{2 keys}", Children: 5},
			{Depth: 1, Path: "text", Key: "text", Text: `"Dear Ana,`},
			{Depth: 1, Path: "text~1", More: true},
			{Depth: 1, Path: "text~2", Text: "to  mallory", More: true},
			{Depth: 1, Path: "text~3", Text: strings.Repeat("long ", 30) + `end"`, More: true},
			{Depth: 1, Path: "to", Key: "to", Text: `"ana"`},
		}
	})
	x.keys("j", "a", pause)
	at := strings.Index(x.column(`"Dear Ana,`), `"Dear`)
	if got := x.column("mallory"); strings.Index(got, "to  mallory") != at || strings.TrimSpace(got[:at]) != "" {
		t.Errorf("%q does not stand below the text, at %d, in\n%s", got, at, x.view())
	}
	if got := x.column(`end"`); strings.TrimSpace(got[:at]) != "" {
		t.Errorf("%q does not stand below the text in\n%s", got, x.view())
	}
	if got := x.column(`"ana"`); strings.Index(got, "to") >= at {
		t.Errorf("%q has no key in\n%s", got, x.view())
	}
}
