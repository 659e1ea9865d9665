package seal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prod.key")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fails := func(name, want string) {
		t.Helper()
		r, err := ReadFile(path)
		if r != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
		if err != nil && strings.Contains(err.Error(), "tooshort") {
			t.Errorf("%s: the error shows the secret", name)
		}
	}
	_, err := ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("no file:", err)
	}
	fails("no file", "no such file")
	write("tooshort")
	fails("a short key", "at least 32")
	write("hex:tooshort")
	fails("no hexadecimal", "not hexadecimal")
	write("# tooshort\n")
	fails("only a comment", "no key")
	write(strings.Repeat("tooshort ", maxKeyFile))
	fails("a large file", "more than")

	write("# newest first\n" + secret + "\nan-older-secret-that-has-32-bytes\n")
	r, err := ReadFile(path)
	if err != nil || r.ID() != mustKey(t, secret).ID() || !r.Has(mustKey(t, "an-older-secret-that-has-32-bytes").ID()) {
		t.Error(r, err)
	}
	path = t.TempDir()
	fails("a folder", "directory")
}

func TestReadEnv(t *testing.T) {
	const name = "SEAL_TEST_KEY"
	t.Setenv(name, secret)
	r, err := ReadEnv(name)
	if err != nil || r.ID() != mustKey(t, secret).ID() {
		t.Fatal(r, err)
	}
	if _, there := os.LookupEnv(name); there {
		t.Error("the key is still in the environment")
	}
	if r, err := ReadEnv(name); r != nil || err == nil || !strings.Contains(err.Error(), name+": it is not set") {
		t.Error(r, err)
	}
	t.Setenv(name, "tooshort")
	if r, err := ReadEnv(name); r != nil || err == nil || strings.Contains(err.Error(), "tooshort") || !strings.Contains(err.Error(), "at least 32") {
		t.Error(r, err)
	}
}
