//go:build unix

package teff

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowtui/flowtui/internal/testuser"
	"github.com/flowtui/flowtui/stores"
)

// What may not be read or written is told, and hides nothing else.
func TestFilesThatMayNotBeUsed(t *testing.T) {
	if testuser.Unprivileged(t) {
		return
	}
	dir := t.TempDir()
	for _, run := range []string{"ana/a", "bob/b", "default/c", "default/d"} {
		put(t, good, dir, run+".json")
	}
	check(t, os.Chmod(filepath.Join(dir, "default", "d.json"), 0))
	s := attach(t, dir)
	info, err := s.Info(t.Context())
	check(t, err)
	if info.ReadOnly {
		t.Errorf("it says %+v", info)
	}
	if c := latest(t, s, "default", "d"); c.Bad != "no permission to read default/d.json" {
		t.Errorf("it says %q", c.Bad)
	}
	for folder, mode := range map[string]os.FileMode{"ana": 0, "bob": 0o555} {
		path := filepath.Join(dir, folder)
		check(t, os.Chmod(path, mode))
		t.Cleanup(func() { _ = os.Chmod(path, 0o755) })
	}
	for owner, want := range map[string]int{stores.AnyOwner: 3, "ana": 0, "bob": 1, "default": 2} {
		page, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: owner}})
		if told := errors.Is(err, os.ErrPermission); len(page.Heads) != want || told != (owner == stores.AnyOwner || owner == "ana") || err != nil && !told {
			t.Errorf("%s: %d runs, %v", owner, len(page.Heads), err)
		}
	}
	e, err := s.(stores.Examiner).Examine(t.Context())
	check(t, err)
	for _, f := range e.Facts {
		if f.Problem == "" {
			t.Errorf("nothing is wrong with %+v", f)
		}
	}
	if len(e.Facts) != 3 {
		t.Errorf("it says %+v", e)
	}
	b := latest(t, s, "bob", "b")
	_, err = s.Replace(t.Context(), stores.Replacement{Key: b.Key, Seen: b.Payload, Next: []byte(written)})
	var at *os.PathError
	if !errors.Is(err, stores.ErrReadOnly) || !errors.As(err, &at) || at.Path != filepath.Join(dir, "bob") {
		t.Errorf("writing: %v", err)
	}
	check(t, os.Chmod(filepath.Join(dir, "default"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "default"), 0o755) })
	if info, err := s.Info(t.Context()); err != nil || !info.ReadOnly || !strings.Contains(info.Why, "no permission to write") {
		t.Errorf("it says %+v, %v", info, err)
	}
}

// Who could read and write a run's file still can after it was replaced, whoever
// replaced it, also the files of its nested runs that come new.
func TestReplaceKeepsWhoMayUseAFile(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []os.FileMode{0o600, 0o666} { // the usual umask takes from both, or from new files only
		id := mode.String()
		put(t, good, dir, "default", id+".json")
		path := filepath.Join(dir, "default", id+".json")
		check(t, os.Chmod(path, mode))
		uid, gid := os.Getuid(), os.Getgid()
		if uid == 0 {
			uid, gid = 12345, 12346
			check(t, os.Chown(path, uid, gid))
		}
		s := attach(t, dir)
		k, nested := stores.Key{Owner: "default", Run: id}, stores.Key{Owner: "default", Run: id + ":sub:a:sub:b"}
		_, err := s.Replace(t.Context(), stores.Replacement{Key: k, Seen: []byte(good), Next: []byte(written)}, stores.Replacement{Key: nested, Next: []byte(written)})
		check(t, err)
		for _, run := range []string{k.Run, nested.Run} {
			info, err := os.Stat(filepath.Join(dir, "default", run+".json"))
			check(t, err)
			if of := info.Sys().(*syscall.Stat_t); info.Mode().Perm() != mode || int(of.Uid) != uid || int(of.Gid) != gid {
				t.Errorf("%s is %s of user %d and group %d, want %s of %d and %d", run, info.Mode(), of.Uid, of.Gid, mode, uid, gid)
			}
		}
	}
}

// A file that could not be given back to whose it was is not written.
func TestAFileOfSomebodyElseIsRefused(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "new"))
	check(t, err)
	defer file.Close()
	root, err := os.Stat("/")
	check(t, err)
	err = fileError(takeAfter(file, root))
	if os.Geteuid() == 0 {
		check(t, err) // who may do anything may do this
		return
	}
	if !errors.Is(err, stores.ErrReadOnly) {
		t.Errorf("got %v", err)
	}
}
