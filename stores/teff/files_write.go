package teff

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// replace writes files as teff does, a temporary one that is renamed, and also
// makes that durable. The rows of a nested pause are two files: they are
// compared before the first is written, and written in teff's own order, so that
// what a crash leaves between them is what it leaves of teff.
func (f *files) replace(ctx context.Context, list []change) (err error) {
	root, err := f.root()
	if err != nil {
		return err
	}
	defer root.Close()
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, c := range list {
		if now, found, err := f.now(ctx, c.key); err != nil {
			return err
		} else if !c.unchanged(now, found) {
			return errChanged(c.key)
		}
	}
	for i, c := range list {
		if err := f.put(root, c); err != nil {
			if i > 0 {
				return fmt.Errorf("%d of %d rows were written before: %w", i, len(list), err)
			}
			return err
		}
	}
	return nil
}

func (f *files) now(ctx context.Context, k stores.Key) (record, bool, error) {
	r, err := f.row(ctx, k)
	if errors.Is(err, stores.ErrNotFound) {
		return record{}, false, nil
	}
	return r, err == nil, err
}

func (f *files) put(root *os.Root, c change) error {
	name := f.pathOf(c.key)
	if path.Base(name) != c.key.Run+rowSuffix || strings.ContainsRune(name, 0) {
		return fmt.Errorf("%w: no file can be named after %q", stores.ErrInvalid, c.key.Run)
	}
	if c.next == nil {
		return fileError(errors.Join(root.Remove(name), syncFolder(root, c.key.Owner)))
	}
	if c.key.Owner != "" && c.seen == nil {
		if err := root.MkdirAll(c.key.Owner, 0o777); err != nil {
			return fileError(err)
		}
	}
	// Not teff's own temporary name: a process of it may be writing that now.
	temp := path.Join(c.key.Owner, ".flowtui-"+rand.Text()[:12]+".tmp")
	if err := writeSynced(root, temp, c.next, modelOf(root, c)); err != nil {
		_ = root.Remove(temp)
		if e, ok := errors.AsType[*os.PathError](err); ok {
			e.Path = filepath.Join(f.dir, c.key.Owner) // the temporary file is nobody's business
		}
		return fileError(err)
	}
	if err := takePlace(root, temp, name, c); err != nil {
		_ = root.Remove(temp)
		return err
	}
	if err := syncFolder(root, c.key.Owner); err != nil {
		return fmt.Errorf("%w: it was written, but the folder could not be synced: %w", stores.ErrUnknown, err)
	}
	return nil
}

// takePlace gives a temporary file its name. A new row never takes the place of
// one that came meanwhile, as far as the file system has a way for that.
func takePlace(root *os.Root, temp, name string, c change) error {
	if c.seen == nil {
		err := root.Link(temp, name)
		if errors.Is(err, os.ErrExist) {
			return errChanged(c.key)
		}
		if err == nil {
			_ = root.Remove(temp) // which nobody lists or reads
			return nil
		}
	}
	return fileError(root.Rename(temp, name))
}

// modelOf is the file whose permissions and owner the new one takes, nil for
// none: the one that it replaces, for a new row of a nested run that of a run
// above it. Whoever could read and write the run still can.
func modelOf(root *os.Root, c change) os.FileInfo {
	for id := c.key.Run; ; {
		if info, err := root.Stat(path.Join(c.key.Owner, id+rowSuffix)); err == nil {
			return info
		}
		end := strings.LastIndex(id, sub)
		if end < 0 {
			return nil
		}
		id = id[:end]
	}
}

func writeSynced(root *os.Root, name string, text []byte, model os.FileInfo) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, modeUntil(model))
	if err != nil {
		return err
	}
	err = takeAfter(file, model)
	if err == nil {
		_, err = file.Write(text)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// modeUntil is the mode of a new file until it has its owner: nobody else reads
// it before.
func modeUntil(model os.FileInfo) os.FileMode {
	if model == nil {
		return 0o666
	}
	return 0o600
}

// takeAfter gives a file the owner and the permissions of another.
func takeAfter(file *os.File, model os.FileInfo) error {
	if model == nil {
		return nil
	}
	if err := takeOwner(file, model); err != nil {
		return err
	}
	return file.Chmod(model.Mode().Perm()) // what the umask has left out of it too
}

func syncFolder(root *os.Root, owner string) error {
	folder, err := root.Open(path.Join(owner, "."))
	if err != nil {
		return err
	}
	return errors.Join(syncNames(folder), folder.Close())
}

func fileError(err error) error {
	switch {
	case err == nil:
		return nil
	case isFull(err):
		return fmt.Errorf("%w: nothing was saved: %w", stores.ErrFull, err)
	case isTooLong(err):
		return fmt.Errorf("%w: the id is too long for a file's name: %w", stores.ErrInvalid, err)
	case errors.Is(err, os.ErrPermission) || isReadOnlyDisk(err):
		return fmt.Errorf("%w: nothing was saved: %w", stores.ErrReadOnly, err)
	}
	return err
}

// lock keeps other processes of ours out; teff itself has no locks, which the
// comparison with what was seen is for. Nothing is put into the store's folder.
func (f *files) lock(ctx context.Context) (unlock func(), err error) {
	file, err := openLock(f.dir)
	if err != nil {
		return nil, fileError(err)
	}
	const patience = 5 * time.Second
	for until := time.Now().Add(patience); ; pause(ctx, 10*time.Millisecond) {
		ok, err := tryLock(file)
		if err == nil && !ok && time.Now().Before(until) && ctx.Err() == nil {
			continue
		}
		if err == nil && !ok {
			err = errors.Join(ctx.Err(), fmt.Errorf("%w: another flowtui writes to it, nothing was saved", stores.ErrBusy))
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return func() { releaseLock(file) }, nil
	}
}
