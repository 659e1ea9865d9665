package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

const secret = "correct horse battery staple, and then some"

func testApp(t *testing.T) (*app, *bytes.Buffer) {
	t.Helper()
	var stderr bytes.Buffer
	return &app{stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &stderr}, &stderr
}

func keyFile(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo.key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeySources(t *testing.T) {
	t.Setenv("A_KEY", secret)
	a, stderr := testApp(t)
	file := keyFile(t, "# demo\n"+secret+"\n", 0o600)
	ids := map[string]bool{}
	for _, s := range []keySource{{file: file}, {env: "A_KEY"}, {cmd: "cat '" + file + "'"}} {
		ring, err := a.keyring(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		ids[ring.ID()] = true
	}
	if len(ids) != 1 {
		t.Errorf("the same key has the ids %v", ids)
	}
	if _, set := os.LookupEnv("A_KEY"); set {
		t.Error("tools inherit the key")
	}
	if stderr.Len() > 0 {
		t.Errorf("said %q", stderr)
	}
	if ring, err := a.keyring(t.Context(), keySource{}); ring != nil || err != nil {
		t.Errorf("no source: %v, %v", ring, err)
	}
}

// A worker attaches again when its store was down: the variable is gone by then.
func TestAKeyOfTheEnvironmentIsReadOnce(t *testing.T) {
	t.Setenv("MYKEY", strings.Repeat("k", 32))
	a, _ := testApp(t)
	for range 2 {
		ring, err := a.keyring(t.Context(), keySource{env: "MYKEY"})
		if err != nil || ring == nil {
			t.Fatal(err)
		}
	}
	if os.Getenv("MYKEY") != "" {
		t.Error("tools would inherit it")
	}
}

func TestBadKeysAreRefusedAndNeverShown(t *testing.T) {
	short := "s3cret"
	t.Setenv("SHORT_KEY", short)
	for name, s := range map[string]keySource{
		"short file":     {file: keyFile(t, short, 0o600)},
		"empty file":     {file: keyFile(t, "", 0o600)},
		"only comments":  {file: keyFile(t, "# "+short, 0o600)},
		"bad hex":        {file: keyFile(t, "hex:"+short, 0o600)},
		"no file":        {file: filepath.Join(t.TempDir(), "none.key")},
		"folder":         {file: t.TempDir()},
		"large":          {file: keyFile(t, strings.Repeat("x", maxKeyBytes+1), 0o600)},
		"short variable": {env: "SHORT_KEY"},
		"no variable":    {env: "NO_SUCH_VARIABLE"},
		"no command":     {cmd: "no-such-program-here " + short},
		"failing":        {cmd: "sh -c 'echo " + short + " >&2; exit 3'"},
		"short output":   {cmd: "echo " + short},
		"open quote":     {cmd: "echo '" + short},
		"empty command":  {cmd: "  "},
	} {
		t.Run(name, func(t *testing.T) {
			a, stderr := testApp(t)
			ring, err := a.keyring(t.Context(), s)
			p, ok := err.(viewer.Problem)
			if ring != nil || !ok || p.Code != "refused" {
				t.Fatalf("%v, %v", ring, err)
			}
			a.report(p)
			if strings.Contains(stderr.String(), short) {
				t.Errorf("the key is shown: %s", stderr)
			}
			if s.file != "" && !strings.Contains(p.Message, s.file) {
				t.Errorf("the source is not named: %s", p.Message)
			}
		})
	}
}

func TestKeyFileThatOthersReadIsWarnedAbout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not permissions there")
	}
	a, stderr := testApp(t)
	if _, err := a.keyring(t.Context(), keySource{file: keyFile(t, secret, 0o644)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stderr.String(), "0644") || strings.Contains(stderr.String(), secret) {
		t.Errorf("said %q", stderr)
	}
}

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		`a b  c`:                  {"a", "b", "c"},
		`a 'b c' "d \"e\" \n"`:    {"a", "b c", `d "e" \n`},
		`a\ b ''`:                 {"a b", ""},
		`pass show 'x'"y"z $HOME`: {"pass", "show", "xyz", "$HOME"},
		`a 'back\slash'`:          {"a", `back\slash`},
	} {
		got, err := splitWords(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", line, got, err)
		}
	}
	for _, line := range []string{"", " ", "'a", `"a`, `a\`, "''"} {
		if got, err := splitWords(line); err == nil {
			t.Errorf("%q: %q", line, got)
		}
	}
}
