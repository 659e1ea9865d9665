package sqlite

import (
	"context"
	"database/sql"
)

// probe finds out cheaply whether anything was committed since it was last
// asked. While somebody writes it asks SQLite for the data version, on a
// connection of its own because the number means nothing on another one. Else
// it looks at the files. It never holds a transaction.
type probe struct {
	store *Store

	seen    sighting
	looked  bool
	src     *source // held while conn is open
	conn    *sql.Conn
	version int64
}

func (p *probe) changed(ctx context.Context) bool {
	now, err := look(p.store.file)
	if err != nil {
		return false // a reader will say what is wrong
	}
	before, first := p.seen, !p.looked
	p.seen, p.looked = now, true
	if now.quiet() {
		wasLive := p.conn != nil
		p.drop()
		// A second change may have left the same time stamp as the first.
		unsettled := before.at.Sub(before.db.mtime) <= settling
		return !first && (wasLive || unsettled || !before.same(now))
	}
	if p.conn != nil && !p.store.current(p.src) {
		p.drop()
	}
	version, fresh, err := p.dataVersion(ctx)
	if err != nil {
		p.drop()
		return !before.wal.same(now.wal)
	}
	changed := fresh && !first || !fresh && version != p.version
	p.version = version
	return changed
}

// dataVersion asks the connection; fresh says that it is a new one, whose
// number cannot be compared.
func (p *probe) dataVersion(ctx context.Context) (version int64, fresh bool, err error) {
	if p.conn == nil {
		fresh = true
		if p.src, err = p.store.acquire(ctx); err != nil {
			p.src = nil
			return 0, fresh, err
		}
		if p.conn, err = p.src.db.Conn(ctx); err != nil {
			return 0, fresh, err
		}
	}
	err = p.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	return version, fresh, err
}

// drop lets go of the connection.
func (p *probe) drop() {
	if p.conn != nil {
		_ = p.conn.Close()
		p.conn = nil
	}
	if p.src != nil {
		p.store.release(p.src)
		p.src = nil
	}
}

// current reports whether readers still use src.
func (s *Store) current(src *source) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return src == s.source
}
