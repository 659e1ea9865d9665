//go:build unix

package teff

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite asks the system without touching the file.
func mayWrite(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// takeOwner gives a new file the user and the group of another, or says that
// this user may not.
func takeOwner(file *os.File, model os.FileInfo) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	have, okHave := info.Sys().(*syscall.Stat_t)
	want, okWant := model.Sys().(*syscall.Stat_t)
	if !okHave || !okWant || have.Uid == want.Uid && have.Gid == want.Gid {
		return nil
	}
	if err := file.Chown(int(want.Uid), int(want.Gid)); err != nil {
		return fmt.Errorf("the file belongs to user %d and group %d, and user %d may not write one for them (act as that user): %w", want.Uid, want.Gid, have.Uid, errors.Unwrap(err))
	}
	return nil
}

// syncNames makes the names in a folder durable.
func syncNames(folder *os.File) error { return folder.Sync() }

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isTooLong(err error) bool { return errors.Is(err, syscall.ENAMETOOLONG) }

func isReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

// openLock opens what is locked: the folder itself, which takes no file for it.
func openLock(dir string) (*os.File, error) { return os.Open(dir) }

// tryLock takes the lock of an open file; false when another holder has it. The
// system gives it back when the holder ends, however it ends.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, os.NewSyscallError("flock", err)
		}
	}
}

func releaseLock(f *os.File) {
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN)
	_ = f.Close()
}
