//go:build unix

package crash

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"modernc.org/sqlite"
)

// limitPages bounds how many pages the store can grow by, on every connection
// that this process opens from now on: SQLite then says that the disk is full.
func limitPages(more int) {
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, _ string) error {
		ctx := context.Background()
		pages, err := number(ctx, conn, "PRAGMA page_count")
		if err != nil {
			return err
		}
		_, err = number(ctx, conn, fmt.Sprintf("PRAGMA max_page_count = %d", pages+int64(more)))
		return err
	})
}

func number(ctx context.Context, conn sqlite.ExecQuerierContext, query string) (int64, error) {
	rows, err := conn.QueryContext(ctx, query, nil)
	if err != nil {
		return 0, err
	}
	value := make([]driver.Value, 1)
	err = errors.Join(rows.Next(value), rows.Close())
	n, _ := value[0].(int64)
	return n, err
}
