package main

import (
	"strings"
	"testing"
)

// A command line to copy never carries the arguments of the key command: they
// may be secrets.
func TestCopiedFlagsCarryNoArgumentOfTheKeyCommand(t *testing.T) {
	for cmd, want := range map[string]string{
		"vault-key": "--key-cmd vault-key", "vault-key --token CANARY": "--key-cmd vault-key …", "  vault-key\tCANARY": "--key-cmd vault-key …",
		"vault-key\nCANARY": "--key-cmd vault-key …", "": "",
	} {
		got := strings.Join(keySource{cmd: cmd}.flags(), " ")
		if strings.Contains(got, "CANARY") || got != want {
			t.Errorf("%q: %q, want %q", cmd, got, want)
		}
	}
}
