package teff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// sighting is what a look at the files of a database gave.
type sighting struct {
	db, wal, journal trace
	at               time.Time
}

type trace struct {
	info  fs.FileInfo // nil: no such file
	size  int64
	mtime time.Time
}

func look(file string) (s sighting, err error) {
	s.at = time.Now()
	for _, f := range []struct {
		suffix string
		into   *trace
	}{{"", &s.db}, {"-wal", &s.wal}, {"-journal", &s.journal}} {
		info, err := os.Stat(file + f.suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, err
		}
		*f.into = trace{info, info.Size(), info.ModTime()}
	}
	return s, nil
}

func (t trace) same(u trace) bool {
	if t.info == nil || u.info == nil {
		return t.info == nil && u.info == nil
	}
	return t.size == u.size && t.mtime.Equal(u.mtime) && os.SameFile(t.info, u.info)
}

// same reports that nothing changed between the two looks.
func (s sighting) same(t sighting) bool {
	return s.db.same(t.db) && s.wal.same(t.wal) && s.journal.same(t.journal)
}

// settled reports that a change after the look would show in the next one.
func (s sighting) settled() bool {
	for _, t := range []trace{s.db, s.wal, s.journal} {
		if t.info != nil && s.at.Sub(t.mtime) <= settling {
			return false
		}
	}
	return true
}

func (s sighting) String() string {
	text := ""
	for _, t := range []trace{s.db, s.wal, s.journal} {
		text += fmt.Sprintf("%d %d;", t.size, t.mtime.UnixNano())
	}
	return text
}
