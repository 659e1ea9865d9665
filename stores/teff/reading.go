package teff

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/flowtui/flowtui/stores"
)

// read runs f on a handle that changes nothing. f starts its results afresh
// each time it is called: what was read while the file changed is read again.
func (d *database) read(ctx context.Context, f func(context.Context, *sql.DB) error) error {
	return d.readNoting(ctx, new(string), f)
}

// readNoting also says, in copied, why a copy had to be read instead.
//
// There are three ways. With a rollback journal, as teff has it, a plain
// read-only handle shares SQLite's locks and makes no side file. In WAL mode,
// while there is no log, an immutable handle makes none either; that nobody
// wrote is checked afterwards. What would need a change first (a transaction
// that was cut off, a write-ahead log) is copied.
func (d *database) readNoting(ctx context.Context, copied *string, f func(context.Context, *sql.DB) error) error {
	const tries = 5
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		before, err := look(d.file)
		switch {
		case err != nil:
			return err
		case before.db.info == nil:
			return fmt.Errorf("%w: the file is gone", stores.ErrNotFound)
		case before.db.size == 0:
			return fmt.Errorf("%w: looked for the table checkpoints of teff, found an empty file", stores.ErrNotStore)
		}
		*copied = ""
		wal, err := d.inWALMode(before)
		if err != nil {
			return err
		}
		switch {
		case before.wal.size > 0:
			*copied = "it is in WAL mode and changes are not in the main file yet, so a copy is read; close what has it open, or set journal_mode to delete as teff does"
			err = d.onCopy(ctx, before, f)
		case !wal:
			err = onHandle(ctx, d.file, url.Values{"mode": {"ro"}, "_pragma": {"query_only(1)"}}, f)
			if code(err) == lib.SQLITE_READONLY_ROLLBACK {
				*copied = fmt.Sprintf("a process was killed inside a transaction and left %s-journal; that is undone in a copy, which is what you see. "+
					"teff undoes it in the file when it opens it; never delete the journal", filepath.Base(d.file))
				err = d.onCopy(ctx, before, f)
			}
		case !before.settled() && try < tries:
			pause(ctx, settling)
			continue
		default:
			err = onHandle(ctx, d.file, url.Values{"mode": {"ro"}, "immutable": {"1"}}, f)
			if after, lookErr := look(d.file); lookErr == nil && !after.same(before) && try < tries*2 {
				continue
			}
		}
		if errors.Is(err, errMoved) && try < tries*2 {
			continue
		}
		return explain(err)
	}
}

// inWALMode looks at the file's header. The handle for that stays open: closing
// it would drop the locks that SQLite holds on the file in this process.
func (d *database) inWALMode(now sighting) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.header != nil {
		if info, err := d.header.Stat(); err != nil || !os.SameFile(info, now.db.info) {
			d.header.Close()
			d.header = nil
		}
	}
	if d.header == nil {
		var err error
		if d.header, err = os.Open(d.file); err != nil {
			return false, err
		}
	}
	var versions [2]byte // of the format, for writing and for reading
	if _, err := d.header.ReadAt(versions[:], 18); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return versions[0] == 2 || versions[1] == 2, nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func onHandle(ctx context.Context, file string, options url.Values, f func(context.Context, *sql.DB) error) error {
	db, err := sql.Open("sqlite", dsn(file, options))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	return f(ctx, db)
}

var errMoved = fmt.Errorf("%w: the database changes while it is copied", stores.ErrBusy)

// maxCopy is the largest database that is copied to be read.
const maxCopy = 4 << 30

// onCopy reads a copy of the database with all that belongs to it, in a folder
// of its own that goes away again. There SQLite may do what it has to.
func (d *database) onCopy(ctx context.Context, before sighting, f func(context.Context, *sql.DB) error) error {
	if total := before.db.size + before.wal.size + before.journal.size; total > maxCopy {
		return fmt.Errorf("%w: its %d bytes would have to be copied to be read; let teff open it first", stores.ErrUnreadable, total)
	}
	dir, err := os.MkdirTemp("", "flowtui-teff-")
	if err != nil {
		return fmt.Errorf("%w: it can be read from a copy only, and there is no place for one: %w", stores.ErrUnreadable, err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "copy.db")
	for _, part := range []struct {
		suffix string
		trace
	}{{"", before.db}, {"-wal", before.wal}, {"-journal", before.journal}} {
		if part.info == nil {
			continue
		}
		if err := copyFile(ctx, d.file+part.suffix, name+part.suffix); err != nil {
			return fmt.Errorf("%w: it can be read from a copy only, which failed: %w", stores.ErrUnreadable, err)
		}
	}
	after, err := look(d.file)
	if err != nil {
		return err
	}
	if !after.same(before) {
		return errMoved
	}
	return onHandle(ctx, name, url.Values{"mode": {"rw"}}, f)
}

func copyFile(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, reader{ctx, in})
	return errors.Join(err, out.Close())
}

// reader reads until its context ends.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// explain gives an error of SQLite its class.
func explain(err error) error {
	switch primary(err) {
	case 0:
		return err
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", stores.ErrBusy, err)
	case lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: looked for a SQLite file, found something else: %w", stores.ErrNotStore, err)
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: %w", stores.ErrFull, err)
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return fmt.Errorf("%w: %w", stores.ErrReadOnly, err)
	}
	return fmt.Errorf("%w: %w", stores.ErrUnreadable, err)
}
