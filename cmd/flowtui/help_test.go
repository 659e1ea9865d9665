package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func testRoot(t *testing.T) *cobra.Command {
	t.Helper()
	a, _ := testApp(t)
	return newRootCommand(a)
}

// The examples of help are command lines that can be typed: the commands and
// flags are there, and each argument has its place.
func TestExamplesOfHelpAreCommandLines(t *testing.T) {
	known := map[string]bool{"": true}
	for _, cmd := range testRoot(t).Commands() {
		known[cmd.Name()] = true
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.Name())
		}
	}
	for name, text := range examples {
		if !known[name] {
			t.Errorf("there is no command %q", name)
		}
		for _, line := range strings.Split(text, "\n") {
			line, _, _ = strings.Cut(line, " > ")
			line, _, _ = strings.Cut(line, " < ")
			words, err := splitWords(line)
			check(t, err)
			cmd, args, err := testRoot(t).Find(words[1:])
			check(t, err)
			if name != "" && cmd.Name() != name {
				t.Errorf("%q is an example of %s", line, name)
			}
			if err := cmd.ParseFlags(args); err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
}

// Help names what a flag takes, and every flag and command is in the manual.
func TestHelpNamesWhatTheManualNames(t *testing.T) {
	manual := ""
	for _, name := range []string{"cli.md", "teff.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		check(t, err)
		manual += string(text)
	}
	vague := regexp.MustCompile(`(?m)^ +(-\w, )?--\S+ (string|int|strings|duration|stringArray)\b.*$|\(default -1\)`)
	for _, cmd := range append(testRoot(t).Commands(), testRoot(t)) {
		var help bytes.Buffer
		cmd.SetOut(&help)
		check(t, cmd.Help())
		if line := vague.FindString(help.String()); line != "" {
			t.Errorf("help of %s: %s", cmd.Name(), line)
		}
		for _, line := range strings.Split(cmd.Long, "\n") {
			if len([]rune(line)) > 96 {
				t.Errorf("help of %s has a long line: %s", cmd.Name(), line)
			}
		}
		if !strings.Contains(manual, "    flowtui "+cmd.Name()+" ") && cmd.HasParent() {
			t.Errorf("docs/cli.md does not have %s", cmd.Name())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(manual, "--"+f.Name) {
				t.Errorf("the manual does not have --%s of %s", f.Name, cmd.Name())
			}
		})
	}
}
