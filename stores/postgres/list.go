package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowtui/flowtui/stores"
)

// listed is a head with its place in the order of lists.
type listed struct {
	stores.Head
	place cursor
}

// selectHeads reads heads and their leases. The lease is looked up for each
// head of the page, so that the heads keep the order of their index.
var selectHeads = `SELECT ` + of("r", headColumns) + `, r.open, l.holder, l.expires, l.expires > {now}
	FROM {runs} AS r LEFT JOIN LATERAL (SELECT holder, expires FROM {leases} AS l
		WHERE l.owner = r.owner AND l.run = r.run LIMIT 1) AS l ON true
	WHERE `

const order = ` ORDER BY r.updated DESC, r.owner, r.run`

func bindHead(r *row, h *listed) []column {
	updated := r.time("updated", &h.Updated)
	return slices.Concat(r.place(&h.Place), []column{
		r.number("step", &h.Step), r.number("base", &h.Base), r.number("segment", &h.Segment),
		r.text("kind", &h.Kind), r.text("flow", &h.Flow), r.text("digest", &h.Digest), r.status(&h.Status),
		r.text("user", &h.User), r.text("thread", &h.Thread), r.text("principal", &h.Principal),
		r.time("created", &h.Created), func(v any) {
			if n, ok := v.(int64); ok { // as it is stored, also when it is absurd
				h.place.Updated = &n
			}
			updated(v)
		},
	}, r.seal(&h.Seal), []column{r.bytes("payload", &h.Payload), r.number("open", &h.Open)}, r.lease(&h.Lease))
}

func finishHead(h *listed, bad string) {
	h.Bad, h.place.Owner, h.place.Run = bad, h.Owner, h.Run
}

// conditions collects the parts of a WHERE clause.
type conditions struct {
	parts []string
	args  []any
}

// arg adds an argument and returns its mark.
func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return fmt.Sprintf("$%d", len(c.args))
}

func (c *conditions) add(format string, args ...any) {
	for i, v := range args {
		args[i] = c.arg(v)
	}
	c.parts = append(c.parts, fmt.Sprintf(format, args...))
}

func (c *conditions) String() string {
	if len(c.parts) == 0 {
		return "true"
	}
	return strings.Join(c.parts, " AND ")
}

// filter adds what a filter asks for, but for the statuses.
func (c *conditions) filter(f stores.Filter) {
	if f.Owner != stores.AnyOwner {
		c.add("r.owner = %s", f.Owner)
	}
	if f.Open {
		c.add("r.open > 0")
	}
	if f.Flow != "" {
		c.add("r.flow = %s", f.Flow)
	}
	switch {
	case f.Text == "":
	case strings.ContainsRune(f.Text, 0) || !utf8.ValidString(f.Text):
		c.add("false") // no run id has it
	default: // in the collation C only the letters of ASCII have two cases
		c.add(`strpos(lower(r.run), lower(%s COLLATE "C")) > 0`, f.Text)
	}
}

// statuses is what a filter asks for, sorted and each once; nil for any.
func statuses(f stores.Filter) []string {
	list := each(f.Statuses, func(s stores.Status) string { return string(s) })
	slices.Sort(list)
	return slices.Compact(list)
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
	sql, args := pageQuery(q.Filter, after, size+1)
	res, err := s.query(ctx, "list", stores.Key{}, sql, args...)
	if err != nil {
		return page, err
	}
	return cut(collect(res, bindHead, finishHead), size), nil
}

// pageQuery selects the heads after a place. Each status is a part with its own
// index, order and limit; so no part sorts, and cut merges them. It is one
// statement, so that a run whose status changes meanwhile is in one of them.
func pageQuery(f stores.Filter, after *cursor, limit int) (string, []any) {
	var shared []any
	list := statuses(f)
	if len(list) == 0 {
		return part(f, "", after, limit, shared)
	}
	parts := make([]string, len(list))
	for i, status := range list {
		parts[i], shared = part(f, status, after, limit, shared)
	}
	return "(" + strings.Join(parts, ") UNION ALL (") + ")", shared
}

// part is the page of one status, "" for any. Its arguments follow args; a
// negative limit is none.
func part(f stores.Filter, status string, after *cursor, limit int, args []any) (string, []any) {
	c := conditions{args: args}
	switch {
	case status == "":
	case f.Open:
		// The index of open runs has the order, and to the planner's mind too few
		// rows that also have the status: it would read them all and sort. In this
		// form it cannot use the index of the status, and expects many.
		c.add("coalesce(r.status = %s, false)", status)
	default:
		c.add("r.status = %s", status)
	}
	c.filter(f)
	switch {
	case after == nil:
	case after.Updated == nil:
		owner := c.arg(after.Owner)
		c.parts = append(c.parts, fmt.Sprintf("(r.updated IS NOT NULL OR (r.owner, r.run) > (%s, %s))", owner, c.arg(after.Run)))
	default:
		// The first condition is what the index can seek to.
		updated := c.arg(*after.Updated)
		owner := c.arg(after.Owner)
		c.parts = append(c.parts, fmt.Sprintf("r.updated <= %s AND (r.updated < %s OR (r.owner, r.run) > (%s, %s))",
			updated, updated, owner, c.arg(after.Run)))
	}
	sql := selectHeads + c.String() + order
	if limit >= 0 {
		sql += " LIMIT " + c.arg(int64(limit))
	}
	return sql, c.args
}

// cut makes a page of the first heads.
func cut(all []listed, size int) (page stores.Page) {
	slices.SortStableFunc(all, func(a, b listed) int { return a.place.compare(b.place) })
	if len(all) > size {
		all = all[:size]
		page.Next = all[size-1].place.String()
	}
	for _, h := range all {
		page.Heads = append(page.Heads, h.Head)
	}
	return page
}

// ListUnfinished implements stores.Store.
func (s *Store) ListUnfinished(ctx context.Context, owner string) ([]stores.Head, error) {
	f := stores.Filter{Owner: owner, Statuses: []stores.Status{stores.StatusRunning, stores.StatusPaused}}
	sql, args := pageQuery(f, nil, -1)
	res, err := s.query(ctx, "list unfinished", stores.Key{}, sql, args...)
	if err != nil {
		return nil, err
	}
	all := collect(res, bindHead, finishHead)
	heads := cut(all, len(all)).Heads
	slices.Reverse(heads)
	return heads, nil
}

// Head implements stores.Lister.
func (s *Store) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	res, err := s.query(ctx, "head", k, selectHeads+"r.owner = $1 AND r.run = $2", k.Owner, k.Run)
	if err != nil {
		return stores.Head{}, err
	}
	h, err := one(collect(res, bindHead, finishHead))
	return h.Head, s.wrap("head", k, err)
}

// Count implements stores.Lister.
func (s *Store) Count(ctx context.Context, f stores.Filter) (stores.Counts, error) {
	n := stores.Counts{ByStatus: map[stores.Status]int64{}}
	var c conditions
	if list := statuses(f); len(list) > 0 {
		c.add("r.status = ANY (%s)", list)
	}
	c.filter(f)
	res, err := s.query(ctx, "count", stores.Key{}, `SELECT r.status, count(*), count(*) FILTER (WHERE r.open > 0)
		FROM {runs} AS r WHERE `+c.String()+` GROUP BY r.status`, c.args...)
	if err != nil {
		return n, err
	}
	type counted struct {
		status     string
		runs, open int64
	}
	for _, c := range collect(res, func(r *row, c *counted) []column {
		return []column{r.text("status", &c.status), r.number("runs", &c.runs), r.number("open", &c.open)}
	}, func(*counted, string) {}) {
		n.ByStatus[stores.Status(c.status)] += c.runs
		n.Open += c.open
	}
	return n, nil
}

// Owners implements stores.Lister. It jumps from owner to owner in the index
// instead of reading all runs.
func (s *Store) Owners(ctx context.Context) ([]string, error) {
	res, err := s.query(ctx, "owners", stores.Key{}, `WITH RECURSIVE owners (owner) AS (
			(SELECT r.owner FROM {runs} AS r ORDER BY r.owner LIMIT 1)
			UNION ALL
			SELECT (SELECT r.owner FROM {runs} AS r WHERE r.owner > owners.owner ORDER BY r.owner LIMIT 1)
				FROM owners WHERE owners.owner IS NOT NULL)
		SELECT owner FROM owners WHERE owner IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	return collect(res, func(r *row, o *string) []column { return []column{r.text("owner", o)} }, func(*string, string) {}), nil
}
