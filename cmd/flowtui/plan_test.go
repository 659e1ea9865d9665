package main

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

// The lines of an argument stand below its first one, where no key stands.
func TestPlanShowsTextsInTheirLines(t *testing.T) {
	var b strings.Builder
	review(&b, func(string, string) {}, viewer.ReviewEntry{Waiting: viewer.Waiting{Type: viewer.WaitApproval, ID: "send.1", Tool: "mail"}, Lines: []viewer.Line{
		{Text: "{1 key}", Children: 3},
		{Depth: 1, Path: "text", Key: "text", Text: `"Dear Ana,`},
		{Depth: 1, Path: "text~1", More: true},
		{Depth: 1, Path: "text~2", Text: `yours"`, More: true},
	}})
	want := "      text \"Dear Ana,\n           \n           yours\"\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("no\n%s in\n%s", want, b.String())
	}
}
