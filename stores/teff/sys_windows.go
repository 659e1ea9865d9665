package teff

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// mayWrite looks at the read-only attribute; there is no cheap way to ask for more.
func mayWrite(path string) bool {
	info, err := os.Stat(path)
	return err == nil && (info.IsDir() || info.Mode().Perm()&0o200 != 0)
}

// takeOwner does nothing: a new file has the rights of its folder.
func takeOwner(*os.File, os.FileInfo) error { return nil }

// syncNames does nothing: the file system logs what changes in folders.
func syncNames(*os.File) error { return nil }

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

func isTooLong(err error) bool {
	return errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) || errors.Is(err, windows.ERROR_INVALID_NAME)
}

func isReadOnlyDisk(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

// openLock opens what is locked: a file beside no store, since folders cannot
// be locked here.
func openLock(dir string) (*os.File, error) {
	name := fmt.Sprintf("flowtui-teff-%x.lock", sha256.Sum256([]byte(dir)))
	return os.OpenFile(filepath.Join(os.TempDir(), name), os.O_RDWR|os.O_CREATE, 0o600)
}

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

func releaseLock(f *os.File) {
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, new(windows.Overlapped))
	_ = f.Close()
}
