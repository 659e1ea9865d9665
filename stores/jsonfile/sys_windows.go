package jsonfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// mayWrite looks at the read-only attribute; there is no cheap way to ask for more.
func mayWrite(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && info.Mode().Perm()&0o200 == 0 {
		err = fs.ErrPermission
	}
	return err
}

// syncFile makes a file durable. Folders cannot be synced here: the file system
// logs what changes in them.
func syncFile(f *os.File) error {
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return err
	}
	return f.Sync()
}

// inode is not to be had without opening the file.
func inode(os.FileInfo) uint64 { return 0 }

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

func isReadOnlyDisk(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// tryLock takes the lock of an open file; false when another holder has it. The
// system gives it back when the holder ends, however it ends.
func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, os.NewSyscallError("LockFileEx", err)
}

func unlock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
}
