package views_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLaws checks what doc.go promises and the compiler does not.
func TestLaws(t *testing.T) {
	t.Parallel()
	laws := []struct {
		name   string
		breach *regexp.Regexp
		except string
	}{
		{"styles come from theme", regexp.MustCompile(`lipgloss\.NewStyle|\.NewStyle\(\)`), "theme/"},
		{"keys are matched against keymap", regexp.MustCompile(`(msg|k|key)\.String\(\)|\.Type == tea\.Key[^RS]`), ""},
		{"the clock is injected", regexp.MustCompile(`time\.(Now|Since|Sleep)\(`), ""},
		{"the backend is called in commands.go", regexp.MustCompile(`backend\.[A-Z]`), "commands.go run_commands.go"},
		{"commands take a context of the screen", regexp.MustCompile(`context\.(Background|TODO)\(`), "app.go"},
	}
	files, _ := filepath.Glob("*.go")
	more, _ := filepath.Glob("*/*.go")
	for _, f := range append(files, more...) {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(src, []byte("\n")); n > 400 {
			t.Errorf("%s has %d lines", f, n)
		}
		if strings.HasSuffix(f, "_test.go") || strings.HasPrefix(f, "viewstest/") {
			continue
		}
		for _, l := range laws {
			exempt := l.except != "" && (strings.Contains(l.except, filepath.Base(f)) || strings.HasPrefix(f, l.except))
			if m := l.breach.Find(src); m != nil && !exempt {
				t.Errorf("%s: %s, but there is %q", f, l.name, m)
			}
		}
	}
}
