//go:build unix

package teff

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/flowtui/flowtui/stores"
)

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
