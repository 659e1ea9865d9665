package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/flowtui/flowtui/stores"
)

// Sniff tells whether path is a flowtui store, and why not when it is none. It
// writes nothing. A store of a newer schema is a store; opening it then says
// what can read it. err is set when path cannot be looked at.
//
// The file is read through SQLite, never opened directly: closing a direct
// handle would drop the locks that this process holds on the file.
func Sniff(path string) (ok bool, why string, err error) {
	s, err := Open(context.Background(), path, Options{ReadOnly: true, BusyTimeout: time.Second})
	switch {
	case err == nil:
		s.Close()
		return true, "", nil
	case errors.Is(err, stores.ErrTooNew):
		return true, "", nil
	}
	if e, is := errors.AsType[*stores.OpError](err); is && errors.Is(err, stores.ErrNotStore) {
		why = e.Why
		if why == "" && e.Err != nil {
			why = e.Err.Error()
		}
		return false, why, nil
	}
	return false, "", err
}

// resolve makes path absolute and follows links, as SQLite does: the side
// files are beside the real file.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
		if err != nil {
			return abs, nil // Open reports what is missing
		}
		return filepath.Join(dir, filepath.Base(abs)), nil
	}
	return real, err
}

// describe says what a file that is no database looks like, without a byte of
// it: it may be the key.
func describe(file string) string {
	f, err := os.Open(file) // safe: no SQLite connection has locks on it
	if err != nil {
		return "a file that cannot be read"
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	control := func(r rune) bool { return r < ' ' && !unicode.IsSpace(r) }
	if text := string(head[:n]); n > 0 && !strings.ContainsFunc(text, control) && utf8.ValidString(text[:max(0, n-utf8.UTFMax)]) {
		return "a text file"
	}
	return "a file that is neither text nor a database"
}
