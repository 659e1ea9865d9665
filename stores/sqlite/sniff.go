package sqlite

import (
	"context"
	"errors"
	"io"
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
// A file that may be open in this process is read through SQLite: closing a
// direct handle would drop the locks that the process holds on it.
func Sniff(path string) (ok bool, why string, err error) {
	if ok, why, err := sniffAside(path); !ok || err != nil {
		return ok, why, err
	}
	return sniff(path)
}

// sniffAside looks at a copy of what a killed writer left, or what was copied
// without its -shm file: opening that in its place would make a -shm file, also
// beside a database that is none of ours. Everything else passes.
func sniffAside(path string) (ok bool, why string, err error) {
	file, err := resolve(path)
	if err != nil {
		return false, "", err
	}
	wal, err := os.Stat(file + "-wal")
	if err != nil || wal.Size() == 0 {
		return true, "", nil
	}
	if _, err := os.Stat(file + "-shm"); !errors.Is(err, fs.ErrNotExist) {
		return true, "", nil
	}
	dir, err := os.MkdirTemp("", "flowtui-look-")
	if err != nil {
		return false, "", err
	}
	defer os.RemoveAll(dir)
	aside := filepath.Join(dir, "aside.db")
	for _, side := range []string{"", "-wal"} { // safe: who has it open has a -shm file
		if err := duplicate(file+side, aside+side); err != nil {
			return false, "", err
		}
	}
	return sniff(aside)
}

func duplicate(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

func sniff(path string) (ok bool, why string, err error) {
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
