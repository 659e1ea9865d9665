package keymap_test

import (
	"flag"
	"os"
	"testing"

	"github.com/flowtui/flowtui/keymap"
)

var update = flag.Bool("update", false, "write docs/keys.md anew")

// The manual's page of keys is made from the bindings and may not go stale.
func TestKeysPageIsCurrent(t *testing.T) {
	const path = "../docs/keys.md"
	want := "# Keys\n\nMade from package `keymap`; `go test ./keymap -update` writes it anew.\n\n" + keymap.Markdown()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is stale: go test ./keymap -update writes it anew", path)
	}
}
