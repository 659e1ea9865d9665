package flowfile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/flowfile"
)

func TestTheManualsExamplesLoad(t *testing.T) {
	manual, err := os.ReadFile("../../docs/flow-files.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, rest := range strings.Split(string(manual), "```yaml\n")[1:] {
		n++
		text, _, _ := strings.Cut(rest, "```\n")
		opts := flowfile.Options{AllowUnknownTools: !strings.Contains(text, "\ntools:")}
		if _, err := flowfile.Parse("example.yaml", []byte(text), opts); err != nil {
			t.Errorf("%s\n%v", text, err)
		}
	}
	if n < 2 {
		t.Errorf("only %d examples", n)
	}
}
