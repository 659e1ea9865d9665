package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/flowtui/flowtui/stores"
	lib "modernc.org/sqlite/lib"
)

// A source is a handle to read from.
type source struct {
	db       *sql.DB
	kind     kind
	seen     sighting
	readers  int
	replaced bool // close it when the last reader is done
}

type kind int

const (
	// own: this store writes. A plain read-only handle: SQLite's locks and the
	// -shm file give it every committed row.
	own kind = iota
	// live: another process writes, or was killed while it did (the -wal file is
	// not empty). A plain read-only handle too.
	live
	// snapshot: nobody writes (no -wal file, or an empty one). An immutable
	// handle: a plain one would create side files, or fail in a read-only
	// folder. SQLite does not look for changes behind it, so this file does.
	snapshot
	// empty: nothing was written yet. A database in memory with the same tables.
	empty
)

// sighting is what a look at the files gave.
type sighting struct {
	db, wal, journal trace
	at               time.Time
}

type trace struct {
	info  fs.FileInfo // nil: no such file
	size  int64
	mtime time.Time
}

// settling is how long after a change another one may leave the same time
// stamp, because file systems keep coarse times.
const settling = 100 * time.Millisecond

func look(file string) (s sighting, err error) {
	s.at = time.Now()
	if s.db, err = traceOf(file); err != nil {
		return s, err
	}
	if s.wal, err = traceOf(file + "-wal"); err != nil {
		return s, err
	}
	s.journal, err = traceOf(file + "-journal")
	return s, err
}

func traceOf(file string) (trace, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return trace{}, nil
	}
	if err != nil {
		return trace{}, err
	}
	return trace{info, info.Size(), info.ModTime()}, nil
}

func (t trace) same(u trace) bool {
	return t.size == u.size && t.mtime.Equal(u.mtime) && t.sameFile(u)
}

func (t trace) sameFile(u trace) bool {
	if t.info == nil || u.info == nil {
		return t.info == nil && u.info == nil
	}
	return os.SameFile(t.info, u.info)
}

// quiet reports that no writer has left anything outside the main file.
func (s sighting) quiet() bool { return s.wal.size == 0 && s.journal.size == 0 }

// same reports that nothing changed between the two looks.
func (s sighting) same(t sighting) bool {
	return s.db.same(t.db) && s.wal.same(t.wal) && s.journal.same(t.journal)
}

// fits reports whether a source opened after s.seen still shows all that is
// in files that look like now.
func (s *source) fits(now sighting) bool {
	switch s.kind {
	case own:
		return true
	case live:
		return s.seen.db.sameFile(now.db) && !now.quiet()
	case snapshot:
		return s.seen.same(now) && s.seen.at.Sub(s.seen.db.mtime) > settling
	}
	return now.db.size == 0
}

// acquire returns the source to read from now; release it after use.
func (s *Store) acquire(ctx context.Context) (*source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, stores.ErrClosed
	}
	if err := s.update(ctx); err != nil {
		return nil, err
	}
	s.source.readers++
	return s.source, nil
}

// update sees to it that the current source fits the files.
func (s *Store) update(ctx context.Context) error {
	if s.writer != nil {
		if s.source != nil && s.source.kind == own {
			return nil
		}
		return s.open(ctx, own, sighting{})
	}
	for {
		now, err := look(s.file)
		if err != nil {
			return err
		}
		err = s.attachTo(ctx, now)
		if err == nil || ctx.Err() != nil {
			return err
		}
		// A writer that came or left meanwhile may be the reason.
		if after, lookErr := look(s.file); lookErr != nil || after.same(now) {
			return err
		}
	}
}

func (s *Store) attachTo(ctx context.Context, now sighting) error {
	switch {
	case now.db.info == nil && !s.opts.Create:
		return fmt.Errorf("%w: the file is gone", stores.ErrNotFound)
	case s.source != nil && s.source.fits(now):
		return nil
	case now.db.size == 0:
		return s.openEmpty(ctx)
	case now.quiet():
		return s.open(ctx, snapshot, now)
	}
	return s.open(ctx, live, now)
}

// open replaces the current source by one for files that look like now.
func (s *Store) open(ctx context.Context, kind kind, now sighting) error {
	db, err := settings{mode: "ro", immutable: kind == snapshot, busy: s.opts.BusyTimeout}.open(s.file)
	if err != nil {
		return err
	}
	found, err := inspect(db.QueryContext(ctx, selectContents))
	// A store has a rollback journal only while it is being created. One that
	// was left behind is undone by the first write; there is nothing to see yet.
	interrupted := code(err) == lib.SQLITE_READONLY_ROLLBACK
	if s.opts.Create && (interrupted || err == nil && found.empty()) {
		db.Close()
		return s.openEmpty(ctx)
	}
	if err != nil {
		db.Close()
		return s.explain(err, now)
	}
	if err := found.check(); err != nil {
		db.Close()
		return err
	}
	s.replace(&source{db: db, kind: kind, seen: now})
	return nil
}

func (s *Store) openEmpty(ctx context.Context) error {
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // a second connection would be a second database
	err = migrate(ctx, db, time.Time{})
	if err == nil {
		_, err = db.ExecContext(ctx, "DELETE FROM meta")
	}
	if err != nil {
		db.Close()
		return err
	}
	s.replace(&source{db: db, kind: empty})
	return nil
}

// replace makes next the current source. The old one closes when its last
// reader is done.
func (s *Store) replace(next *source) {
	if old := s.source; old != nil {
		old.replaced = true
		if old.readers == 0 {
			old.db.Close()
		}
	}
	s.source = next
}

func (s *Store) release(src *source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	src.readers--
	if src.replaced && src.readers == 0 {
		src.db.Close()
	}
}

// read runs f on the current source, and again if the files changed in a way
// that the source cannot follow. f must start its results afresh each time.
func (s *Store) read(ctx context.Context, op string, k stores.Key, f func(context.Context, *sql.DB) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return s.wrap(op, k, err)
		}
		if err := s.writerGone(); err != nil {
			return s.wrap(op, k, err)
		}
		src, err := s.acquire(ctx)
		if err != nil {
			return s.wrap(op, k, err)
		}
		err = f(ctx, src.db)
		again := s.outdated(src, err)
		s.release(src)
		if !again {
			return s.wrap(op, k, err)
		}
	}
}

// writerGone tells a store that this process has written to and whose file is
// no longer there; the next write drops the old one.
func (s *Store) writerGone() error {
	s.mu.Lock()
	w := s.writer
	s.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.gone(s.file)
}

// outdated reports that what was read, or the error instead, may come from
// files that have changed meanwhile.
func (s *Store) outdated(src *source, err error) bool {
	switch src.kind {
	case snapshot:
		now, lookErr := look(s.file)
		return lookErr == nil && !src.seen.same(now)
	case live:
		if err == nil {
			return false
		}
		now, lookErr := look(s.file)
		return lookErr == nil && !src.fits(now)
	}
	return false
}

// explain adds to an error from opening a file what can be told about it.
func (s *Store) explain(err error, now sighting) error {
	e := &stores.OpError{Op: "open", Store: s.file, Class: stores.ErrUnreadable, Err: err}
	c := code(err)
	switch {
	case primary(c) == lib.SQLITE_NOTADB:
		e.Class = stores.ErrNotStore
		e.Why = "looked for a SQLite file, found " + describe(s.file)
	case now.wal.size > 0 && (c == lib.SQLITE_READONLY_DIRECTORY || c == lib.SQLITE_READONLY_CANTINIT || primary(c) == lib.SQLITE_CANTOPEN):
		e.Why = fmt.Sprintf("%[1]s-wal holds %[2]d bytes of changes that are not in the main file yet; reading them needs %[1]s-shm, "+
			"which cannot be opened or created here. Copy both files to a folder that you may write to and open the copy", s.file, now.wal.size)
	case primary(c) == lib.SQLITE_CANTOPEN || primary(c) == lib.SQLITE_PERM:
		e.Why = "the file cannot be opened for reading, check its permissions"
	default:
		return err
	}
	return e
}
