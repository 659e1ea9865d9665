package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/flowtui/flowtui/stores"
)

// Examine implements stores.Examiner.
func (s *Store) Examine(ctx context.Context) (stores.Examination, error) {
	now, err := look(s.file)
	if err != nil {
		return stores.Examination{}, s.wrap("examine", stores.Key{}, err)
	}
	var pages, size, free int64
	err = s.read(ctx, "examine", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		return db.QueryRowContext(ctx, `SELECT c.page_count, s.page_size, f.freelist_count
			FROM pragma_page_count AS c, pragma_page_size AS s, pragma_freelist_count AS f`).Scan(&pages, &size, &free)
	})
	if err != nil {
		return stores.Examination{}, err
	}
	e := stores.Examination{Bytes: now.db.size + now.wal.size + now.journal.size}
	e.Facts = append(e.Facts, journalFact(now), stores.Fact{Name: "pages", Value: fmt.Sprintf("%d of %d bytes, %d free", pages, size, free)})
	if now.db.info != nil {
		e.Facts = append(e.Facts, stores.Fact{Name: "mode", Value: now.db.info.Mode().String()})
	}
	return e, nil
}

// journalFact tells what lies beside the main file. A store is in WAL mode from
// its first write on.
func journalFact(now sighting) stores.Fact {
	f := stores.Fact{Name: "journal"}
	switch {
	case now.journal.size > 0:
		f.Value = fmt.Sprintf("a rollback journal of %d bytes is left", now.journal.size)
		f.Problem = "a write was interrupted while the store was made: open the store once with write permission to undo it"
	case now.wal.size > 0:
		f.Value = fmt.Sprintf("WAL, a writer has it open or was killed: %d bytes are not in the main file yet", now.wal.size)
	default:
		f.Value = "WAL, all of it is in the main file"
	}
	return f
}
