package jsonfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// A run has one of many locks, so that writers of different runs seldom wait
// for one another. Lock files are empty and stay; the lock itself is the
// system's and ends with its holder.
const (
	stripes   = 32
	storeLock = stripes     // the marker
	graphLock = stripes + 1 // all graphs; taken last
)

func lockName(i int) string {
	switch i {
	case storeLock:
		return locksDir + "/store"
	case graphLock:
		return locksDir + "/graphs"
	}
	return fmt.Sprintf("%s/%02x", locksDir, i)
}

func stripe(k stores.Key) int {
	sum := sha256.Sum256([]byte(k.Owner + "\x00" + k.Run))
	return int(sum[0]) % stripes
}

// lock waits for a lock; first for the turn within this process, then for other
// processes. The wait obeys ctx, the busy timeout and Close.
func (s *Store) lock(ctx context.Context, root *os.Root, i int) (free func(), err error) {
	select {
	case s.turns[i] <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.done:
		return nil, stores.ErrClosed
	}
	f, err := s.lockFile(ctx, root, lockName(i))
	if err != nil {
		<-s.turns[i]
		return nil, err
	}
	return func() {
		unlock(f)
		f.Close()
		<-s.turns[i]
	}, nil
}

func (s *Store) lockFile(ctx context.Context, root *os.Root, name string) (*os.File, error) {
	deadline := time.Now().Add(s.opts.BusyTimeout)
	for delay := time.Millisecond; ; delay = min(2*delay, 25*time.Millisecond) {
		f, err := openLock(root, name)
		if err != nil {
			return nil, err
		}
		ok, err := tryLock(f)
		if ok && isAt(f, root, name) {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%w: the file system cannot lock files: %w", stores.ErrUnavailable, err)
		}
		if !time.Now().Before(deadline) {
			return nil, fmt.Errorf("%w: another process was writing for too long; nothing was saved, try again", stores.ErrBusy)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(delay):
		}
	}
}

func openLock(root *os.Root, name string) (*os.File, error) {
	f, _, err := openFile(root, name, os.O_RDWR)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := root.MkdirAll(locksDir, 0o777); err != nil {
		return nil, err
	}
	return root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
}

// isAt reports whether the file that is locked is the one that others will
// lock: somebody may have removed it.
func isAt(f *os.File, root *os.Root, name string) bool {
	mine, err1 := f.Stat()
	now, err2 := root.Lstat(name)
	return err1 == nil && err2 == nil && os.SameFile(mine, now)
}
