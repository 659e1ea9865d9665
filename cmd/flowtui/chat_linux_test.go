package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What passes is a pattern of Python's, which only the flow can tell.
const pythonCode = `name: code
dialect: flowtui
steps:
  - {id: ask, type: interrupt, config: {key: code, prompt: "Your code?"}}
  - {id: check, type: validate, config: {input_key: code, regex: '^(?!00)\d{2}(?=-)', hint: two digits and a dash}}
edges: [{from: ask, to: check}]
conversation: {}
`

// In a terminal an answer that would not pass is told, nothing is sent, and the
// question is asked again.
func TestChatAsksAgain(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "k"), []byte(secret), 0o600))
	check(t, os.WriteFile(filepath.Join(dir, "code.yaml"), []byte(pythonCode), 0o600))
	x := openScreens(t, dir, "chat", "t.db", "code.yaml", "--id", "c-1", "--key-file", "k", "--yes")
	read := 0
	sees := func(want string) {
		t.Helper()
		x.Until(want, func() bool {
			at := strings.Index(x.Text()[read:], want)
			if at >= 0 {
				read += at + len(want)
			}
			return at >= 0
		})
	}
	sees("> ")
	for _, turn := range []struct {
		say  string
		want []string
	}{
		{"hello", []string{"Your code?", "> "}},
		{"00-", []string{"the answer would not pass: ", "hint: answer as wanted, or with --unchecked; nothing was saved", "Your code?", "passes: two digits and a dash", "> "}},
		{"12-", []string{"> "}},
		{"hello again", []string{"Your code?", "> "}},
	} {
		x.Keys(turn.say + "\n")
		for _, want := range turn.want {
			sees(want)
		}
	}
	x.Keys("\x04")
	check(t, x.Cmd.Wait())
}
