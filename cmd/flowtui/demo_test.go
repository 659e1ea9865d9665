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
	stop()
	var said bytes.Buffer
	if code := run(ctx, []string{"demo", "--no-open"}, strings.NewReader(""), &said, &said); code == 0 {
		t.Fatalf("it was made: %s", said.String())
	}
	if !strings.Contains(said.String(), "making a demo in "+temp) {
		t.Fatalf("said %q", said.String())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	named := filepath.Join(t.TempDir(), "mine")
	if code := run(ctx, []string{"demo", "--no-open", "--dir", named}, strings.NewReader(""), &said, &said); code == 0 {
		t.Fatalf("it was made: %s", said.String())
	}
	if _, err := os.Stat(named); err != nil {
		t.Errorf("the named folder: %v", err)
	}
}
