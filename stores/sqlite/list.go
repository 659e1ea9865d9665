package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
)

// listed is a head with its place in the order of lists. The place is kept as
// stored, so that a spoiled row can end a page like any other.
type listed struct {
	stores.Head
	place [3]any // updated, owner, run
}

// selectHeads reads heads and their leases. %s is replaced by the index that
// gives the wanted order.
const selectHeads = `SELECT r.owner, r.run, r.store, r.incarnation, r.step, r.base, r.segment, r.kind, r.flow, r.digest, r.status,
		r.user, r.thread, r.principal, r.created, r.updated, r.format, r.key_id, r.prev, r.mac, r.open, r.payload,
		l.holder, l.expires, r.updated, r.owner, r.run
	FROM runs AS r INDEXED BY %s LEFT JOIN leases AS l ON l.owner = r.owner AND l.run = r.run
	WHERE `

func (s *Store) bindHead(r *row, h *listed) []any {
	raw := func(i int) column { return func(v any) { h.place[i] = keep(v) } }
	return slices.Concat(r.place(&h.Place), []any{
		r.number("step", &h.Step), r.number("base", &h.Base), r.number("segment", &h.Segment),
		r.text("kind", &h.Kind), r.text("flow", &h.Flow), r.text("digest", &h.Digest), r.status(&h.Status),
		r.text("user", &h.User), r.text("thread", &h.Thread), r.text("principal", &h.Principal),
		r.time("created", &h.Created), r.time("updated", &h.Updated),
	}, r.seal(&h.Seal), []any{
		r.number("open", &h.Open), r.bytes("payload", &h.Payload),
		r.holder(&h.Lease), r.expiry(&h.Lease, s.opts.Clock()),
		raw(0), raw(1), raw(2),
	})
}

func finishHead(h *listed, bad string) { h.Bad = bad }

// conditions collects the parts of a WHERE clause.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

func (c *conditions) String() string {
	if len(c.parts) == 0 {
		return "TRUE"
	}
	return strings.Join(c.parts, " AND ")
}

// where turns a filter with at most one status into conditions, and names the
// index that walks the fewest rows in the order of lists.
func where(f stores.Filter, status stores.Status) (c conditions, index string) {
	index = "runs_updated"
	if status != "" {
		c.add("r.status = ?", string(status))
		index = "runs_status"
	}
	if f.Flow != "" {
		c.add("r.flow = ?", f.Flow)
		index = "runs_flow"
	}
	// The + keeps SQLite from sorting what an index without the owner in front
	// gives sorted already; it still looks at the owner before it reads the row.
	switch any := f.Owner == stores.AnyOwner; {
	case f.Open && any:
		c.add("r.open > 0")
		index = "runs_open"
	case f.Open:
		c.add("r.open > 0 AND +r.owner = ?", f.Owner)
		index = "runs_open"
	case any:
	case status != "" && status != stores.StatusDone && f.Flow == "":
		// In a store that has worked for long most runs of an owner are done, so
		// those that are not are found sooner among the others of their status.
		c.add("+r.owner = ?", f.Owner)
	default:
		c.add("r.owner = ?", f.Owner)
		index = "runs_owner"
	}
	if strings.ContainsRune(f.Text, 0) {
		c.add("FALSE") // no run id has a NUL, and to SQLite it ends a text
	} else if f.Text != "" {
		c.add("instr(lower(r.run), lower(?)) > 0", f.Text)
	}
	return c, index
}

// statuses is what a filter asks for, one query each: a page of several
// statuses is merged from a page of each, so that no query has to sort.
func statuses(f stores.Filter) []stores.Status {
	if len(f.Statuses) == 0 {
		return []stores.Status{""}
	}
	return slices.Compact(slices.Sorted(slices.Values(f.Statuses)))
}

// List implements stores.Lister.
func (s *Store) List(ctx context.Context, q stores.Query) (page stores.Page, err error) {
	size, err := q.Size()
	if err != nil {
		return page, s.wrap("list", stores.Key{}, err)
	}
	after, err := parseCursor(q.Cursor)
	if err != nil {
		return page, s.wrap("list", stores.Key{}, err)
	}
	err = s.read(ctx, "list", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		page = stores.Page{}
		var all []listed
		for _, status := range statuses(q.Filter) {
			query, args := pageQuery(q.Filter, status, after, size+1)
			rows, err := db.QueryContext(ctx, query, args...)
			heads, err := collect(rows, err, s.bindHead, finishHead)
			if err != nil {
				return err
			}
			all = append(all, heads...)
		}
		page = cut(all, size)
		return nil
	})
	return page, err
}

// pageQuery selects the heads after a place, in the order of lists.
func pageQuery(f stores.Filter, status stores.Status, after *cursor, limit int) (string, []any) {
	c, index := where(f, status)
	if after != nil {
		updated, owner, run := after[0], after[1], after[2]
		// The first condition is what the index can seek to.
		c.add("r.updated <= ?", updated)
		c.add("(r.updated < ? OR r.owner > ? OR (r.owner = ? AND r.run > ?))", updated, owner, owner, run)
	}
	return strings.Replace(selectHeads, "%s", index, 1) + c.String() +
		" ORDER BY r.updated DESC, r.owner, r.run LIMIT ?", append(c.args, limit)
}

// cut makes a page of the first heads.
func cut(all []listed, size int) (page stores.Page) {
	slices.SortStableFunc(all, func(a, b listed) int { return comparePlaces(a.place, b.place) })
	if len(all) > size {
		all = all[:size]
		page.Next = cursor(all[size-1].place).String()
	}
	for _, h := range all {
		page.Heads = append(page.Heads, h.Head)
	}
	return page
}

// ListUnfinished implements stores.Store.
func (s *Store) ListUnfinished(ctx context.Context, owner string) (heads []stores.Head, err error) {
	err = s.read(ctx, "list unfinished", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		heads = nil
		var all []listed
		for _, status := range []stores.Status{stores.StatusRunning, stores.StatusPaused} {
			query, args := pageQuery(stores.Filter{Owner: owner}, status, nil, -1)
			rows, err := db.QueryContext(ctx, query, args...)
			part, err := collect(rows, err, s.bindHead, finishHead)
			if err != nil {
				return err
			}
			all = append(all, part...)
		}
		heads = cut(all, len(all)).Heads
		slices.Reverse(heads)
		return nil
	})
	return heads, err
}

// Head implements stores.Lister.
func (s *Store) Head(ctx context.Context, k stores.Key) (head stores.Head, err error) {
	query := strings.Replace(selectHeads, "INDEXED BY %s", "", 1) + "r.owner = ? AND r.run = ?"
	err = s.read(ctx, "head", k, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, query, k.Owner, k.Run)
		h, err := one(collect(rows, err, s.bindHead, finishHead))
		head = h.Head
		return err
	})
	return head, err
}

// Count implements stores.Lister.
func (s *Store) Count(ctx context.Context, f stores.Filter) (n stores.Counts, err error) {
	err = s.read(ctx, "count", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		n = stores.Counts{ByStatus: map[stores.Status]int64{}}
		for _, status := range statuses(f) {
			if err := count(ctx, db, f, status, &n); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

func count(ctx context.Context, db *sql.DB, f stores.Filter, status stores.Status, n *stores.Counts) error {
	c, _ := where(f, status)
	rows, err := db.QueryContext(ctx, `SELECT r.status, count(*) FROM runs AS r WHERE `+c.String()+` GROUP BY r.status`, c.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var status string
		var runs int64
		if err := rows.Scan((&row{}).text("status", &status), &runs); err != nil {
			return err
		}
		n.ByStatus[stores.Status(status)] += runs
	}
	if err := rows.Err(); err != nil {
		return err
	}
	f.Open = true
	c, index := where(f, status)
	var open int64
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM runs AS r INDEXED BY `+index+` WHERE `+c.String(), c.args...).Scan(&open)
	n.Open += open
	return err
}

// Owners implements stores.Lister. It jumps from owner to owner in the index
// instead of reading all runs.
func (s *Store) Owners(ctx context.Context) (owners []string, err error) {
	err = s.read(ctx, "owners", stores.Key{}, func(ctx context.Context, db *sql.DB) error {
		rows, err := db.QueryContext(ctx, `WITH RECURSIVE owners (owner) AS (
				SELECT min(owner) FROM runs
				UNION ALL
				SELECT (SELECT min(r.owner) FROM runs AS r WHERE r.owner > owners.owner) FROM owners WHERE owners.owner IS NOT NULL)
			SELECT owner FROM owners WHERE owner IS NOT NULL`)
		owners, err = collect(rows, err, func(r *row, o *string) []any { return []any{r.text("owner", o)} }, func(*string, string) {})
		return err
	})
	return owners, err
}
