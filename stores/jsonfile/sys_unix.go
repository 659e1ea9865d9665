//go:build unix

package jsonfile

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// mayWrite asks the system without touching the file.
func mayWrite(path string) error { return unix.Access(path, unix.W_OK) }

// syncFile makes a file, or the names in a folder, durable.
func syncFile(f *os.File) error { return f.Sync() }

// inode tells files of one name apart.
func inode(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

func isReadOnlyDisk(err error) bool { return errors.Is(err, syscall.EROFS) }

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

// unlock does not leave it to closing: a process that is being forked may have
// the file open for a moment longer.
func unlock(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }
