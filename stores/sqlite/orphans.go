package sqlite

import (
	"context"
	"database/sql"

	"github.com/flowtui/flowtui/stores"
)

// Orphans implements stores.Auditor.
func (s *Store) Orphans(ctx context.Context, owner string) (keys []stores.Key, err error) {
	err = s.read(ctx, "orphans", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, `SELECT owner, run FROM (
				SELECT owner, run FROM checkpoints UNION SELECT owner, run FROM calls UNION SELECT owner, run FROM events
				EXCEPT SELECT owner, run FROM runs)
			WHERE ?1 = '*' OR owner = ?1 ORDER BY owner, run`, owner)
		keys, err = collect(rows, err, func(r *row, k *stores.Key) []any {
			return []any{r.text("owner", &k.Owner), r.text("run", &k.Run)}
		}, func(*stores.Key, string) {})
		return err
	})
	return keys, err
}
