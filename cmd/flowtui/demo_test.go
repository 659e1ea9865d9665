package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A demo that was stopped while it was made leaves nothing in the folder for
// temporary files; a folder that was named is left to who named it.
func TestStoppedDemoLeavesNothingBehind(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp) // Windows
	ctx, stop := context.WithCancel(t.Context())
	said := stopsAt{word: "making a demo in " + temp, stop: stop}
	if code := run(ctx, []string{"demo", "--no-open"}, strings.NewReader(""), &said, &said); code == 0 {
		t.Fatalf("it was made: %s", said.said.String())
	}
	if ctx.Err() == nil {
		t.Fatalf("said %q", said.said.String())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	named := filepath.Join(t.TempDir(), "mine")
	if code := run(ctx, []string{"demo", "--no-open", "--dir", named}, strings.NewReader(""), &said, &said); code == 0 {
		t.Fatalf("it was made: %s", said.said.String())
	}
	if _, err := os.Stat(named); err != nil {
		t.Errorf("the named folder: %v", err)
	}
}

// stopsAt stops the program once it says a word.
type stopsAt struct {
	said bytes.Buffer
	word string
	stop func()
}

func (s *stopsAt) Write(b []byte) (int, error) {
	s.said.Write(b)
	if strings.Contains(s.said.String(), s.word) {
		s.stop()
	}
	return len(b), nil
}

// What refuses the demo comes before it is said to be made.
func TestRefusedDemoIsNotAnnounced(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "demo.key"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if code := run(t.Context(), []string{"demo", "--no-open", "--dir", dir}, strings.NewReader(""), &said, &said); code == 0 || said.String() != "flowtui: there is a demo in "+dir+" already; open it, or choose another folder\n" {
		t.Errorf("code %d: %s", code, said.String())
	}
}
