package flowfile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/flowfile"
)

func TestTheManualsExampleLoads(t *testing.T) {
	manual, err := os.ReadFile("../../docs/flow-files.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(manual), "```yaml\n")
	text, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("no example")
	}
	if _, err := flowfile.Parse("tickets.yaml", []byte(text), flowfile.Options{}); err != nil {
		t.Error(err)
	}
}
