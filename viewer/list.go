package viewer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// The bounds of one page.
const (
	defaultPage = 100
	maxPage     = 1000
	// maxWalk is how many heads of one store are read for one page that is
	// filtered or sorted by more than the store can do.
	maxWalk = 2000
)

// cursor is Page.Next, decoded.
type cursor struct {
	Tab   Tab             `json:"t"`
	Marks map[string]mark `json:"m"`           // by label of the store
	Shown *sortKey        `json:"s,omitempty"` // needs-you: the last row that was shown
}

func (c cursor) String() string {
	b, _ := json.Marshal(c) // strings and numbers always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseCursor(s string, tab Tab) (cursor, error) {
	c := cursor{Tab: tab, Marks: map[string]mark{}}
	if s == "" {
		return c, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Tab != tab || c.Marks == nil {
		return c, Problem{Code: "usage", Message: "this cursor is not of this list"}
	}
	return c, nil
}

// List returns one page of runs over all attached stores. It reads list
// entries only, and the calls of supersteps that may be in doubt.
func (s *Service) List(ctx context.Context, q Query) (Page, error) {
	if q.Tab == "" {
		q.Tab = TabAll
	}
	if q.Limit == 0 {
		q.Limit = defaultPage
	}
	if q.Limit < 0 || q.Limit > maxPage {
		return Page{}, Problem{Code: "usage", Message: fmt.Sprintf("limit %d, it goes from 1 to %d", q.Limit, maxPage)}
	}
	filter, ok := s.filter(q)
	if !ok {
		return Page{}, Problem{Code: "usage", Message: fmt.Sprintf("there is no tab %q", q.Tab)}
	}
	c, err := parseCursor(q.Cursor, q.Tab)
	if err != nil {
		return Page{}, err
	}
	var page Page
	if q.Tab == TabNeedsYou {
		page, err = s.needsYou(ctx, q, filter, c)
	} else {
		page, err = s.newest(ctx, q, filter, c)
	}
	if err != nil {
		return Page{}, err
	}
	if page.Rows == nil {
		page.Rows = []Row{}
	}
	if !q.Check { // which looks at every run
		s.lookCloser(ctx, page.Rows)
	}
	return out(s, page, false), ctx.Err()
}

// filter is what a store is asked for; what it cannot tell is left to the rows.
func (s *Service) filter(q Query) (stores.Filter, bool) {
	f := stores.Filter{Owner: s.owned(q.Owner, q.None), Text: q.Text}
	switch q.Tab {
	case TabAll:
	case TabNeedsYou:
		f.Statuses = []stores.Status{stores.StatusRunning, stores.StatusPaused, stores.StatusFailed}
	case TabInDoubt:
		f.Statuses, f.Open = []stores.Status{stores.StatusRunning}, true
	case TabRunning:
		f.Statuses = []stores.Status{stores.StatusRunning}
	case TabPaused:
		f.Statuses = []stores.Status{stores.StatusPaused}
	case TabFailed:
		f.Statuses = []stores.Status{stores.StatusFailed}
	case TabDone:
		f.Statuses = []stores.Status{stores.StatusDone}
	default:
		return f, false
	}
	return f, true
}

func (s *Service) streams(f stores.Filter, size int, c cursor) []*stream {
	var list []*stream
	for _, a := range s.stores {
		list = append(list, &stream{s: s, at: a, filter: f, size: size, mark: c.Marks[a.label]})
	}
	return list
}

// fillAll loads what is missing from all stores at once, so that a slow one
// costs its own time only.
func fillAll(ctx context.Context, list []*stream) {
	var g gang
	defer g.wait()
	for _, t := range list {
		if len(t.page) > 0 || t.mark.End || t.err != nil {
			continue
		}
		g.run(func() {
			if len(list) > 1 {
				ctx, stop := context.WithTimeout(ctx, storePatience)
				defer stop()
				t.fill(ctx)
				return
			}
			t.fill(ctx)
		})
	}
}

// newest merges the stores by newest update.
func (s *Service) newest(ctx context.Context, q Query, f stores.Filter, c cursor) (Page, error) {
	list := s.streams(f, q.Limit, c)
	var page Page
	for len(page.Rows) < q.Limit {
		fillAll(ctx, list)
		t := first(list)
		if t == nil {
			break
		}
		row, keep, err := s.listed(ctx, t, q)
		if err != nil {
			t.err = err
			continue
		}
		if keep {
			page.Rows = append(page.Rows, row)
		} else {
			page.Unread = append(page.Unread, unread(row)...)
		}
		if t.read >= maxWalk && !keep {
			break // a filter that finds little: go on with the next page
		}
	}
	if err := ctx.Err(); err != nil {
		return page, err
	}
	if q.Check {
		s.checkPage(ctx, &page)
	}
	page.Unread = append(page.Unread, unread(page.Rows...)...)
	page.Problems = s.lacks(ctx, list)
	page.Next = nextOf(cursor{Tab: q.Tab}, list)
	return page, ctx.Err()
}

// listed makes the row of a stream's next head, and reports whether the tab wants it.
func (s *Service) listed(ctx context.Context, t *stream, q Query) (Row, bool, error) {
	g, err := s.look(ctx, t.at, t.page[0], false)
	if err != nil {
		t.page = nil
		return Row{}, false, err
	}
	t.pop()
	row := s.row(g)
	return row, q.Tab != TabInDoubt || row.has(InDoubt), nil
}

// nextOf is the cursor behind what the streams gave, "" when all have ended.
// A store that failed is asked again from where it was.
func nextOf(c cursor, list []*stream) string {
	c.Marks = map[string]mark{}
	more := false
	for _, t := range list {
		if t.loaded && len(t.page) == 0 && t.next == "" {
			t.mark.End = true
		}
		c.Marks[t.at.label] = t.mark
		more = more || !t.mark.End && t.err == nil
	}
	if !more {
		return ""
	}
	return c.String()
}

// problems tells which stores could not be read, and since when.
func (s *Service) problems(list []*stream) []StoreProblem {
	var out []StoreProblem
	for _, t := range list {
		err := t.err
		if err == nil {
			err = t.partly
		}
		if p, down := s.health(t.at, err); down {
			p.Partly = t.err == nil
			out = append(out, p)
		}
	}
	return out
}

// lacks is problems, and which bundles lack runs for all that can be told. To
// verify, that is a finding.
func (s *Service) lacks(ctx context.Context, list []*stream) []StoreProblem {
	for _, t := range list {
		if b := s.bundled(ctx, t.at); b != nil && b.verdict.Bad() && t.partly == nil {
			t.partly = Problem{
				Code: codeCorrupt, Message: fmt.Sprintf("runs may be missing in %s: %s", t.at.label, b.why),
				Hint: "get the bundle again from where it was made, or export its runs anew",
			}
		}
	}
	return s.problems(list)
}

func (s *Service) health(a *attachment, err error) (StoreProblem, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.down = StoreProblem{}
		return a.down, false
	}
	since := a.down.Since
	if since.IsZero() {
		since = s.now()
	}
	a.down = StoreProblem{Store: a.label, Problem: s.Explain(err), Since: since}
	return a.down, true
}

// unread tells of which rows a part could not be read.
func unread(rows ...Row) (list []Problem) {
	for _, r := range rows {
		if r.Unread != "" {
			list = append(list, Problem{Code: codeCorrupt, Message: r.Unread, Run: r.Run})
		}
	}
	return list
}

// checkPage verifies every run of a page and makes its row anew. A run that was
// deleted meanwhile leaves the page.
func (s *Service) checkPage(ctx context.Context, page *Page) {
	s.parallel(ctx, verifiers, len(page.Rows), func(i int) {
		page.Rows[i] = s.checkRow(ctx, page.Rows[i])
	})
	page.Rows = slices.DeleteFunc(page.Rows, func(r Row) bool { return r.Ref == Ref{} })
}

func (s *Service) checkRow(ctx context.Context, r Row) Row {
	if r.Foreign() {
		return r // its list entry says all that can be checked
	}
	a, k, err := s.at(r.Ref)
	if err != nil {
		return r
	}
	c, err := s.inspect(ctx, a, k)
	if errors.Is(err, engine.ErrCheckpointNotFound) {
		return Row{}
	}
	g, gone := s.glimpse(ctx, a, k)
	if gone != nil { // the list had it, so its entry is there
		g = glimpse{at: a, head: stores.Head{Place: stores.Place{Key: k}, Flow: r.Flow, Kind: r.Kind, Updated: r.Updated, Bad: gone.Error()}}
	}
	switch {
	case c.passing:
		g.distrust(c.reason)
	case err != nil:
		g.distrust("it could not be verified: " + err.Error())
	case gone != nil:
		g.distrust("its list entry cannot be read: " + gone.Error())
	}
	return s.row(g)
}

// glimpse reads what a row of one run needs.
func (s *Service) glimpse(ctx context.Context, a *attachment, k stores.Key) (glimpse, error) {
	h, err := s.head(ctx, a, k)
	if err != nil {
		return glimpse{}, err
	}
	return s.look(ctx, a, h, true)
}

const (
	verifiers = 2 // runs that are verified at a time
	readers   = 8 // runs of which little is read at a time: that waits for the store
)

// parallel calls f for 0 to n-1, most of them at a time, until ctx ends.
func (s *Service) parallel(ctx context.Context, most, n int, f func(i int)) {
	var g gang
	defer g.wait()
	next := make(chan int)
	for range min(most, n) {
		g.run(func() {
			defer func() { // after a panic the others are still waited for
				for range next {
				}
			}()
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
			close(next)
			return
		}
	}
	close(next)
}

// gang is goroutines whose panic reaches who waits for them: there the screens
// restore the terminal, in a goroutine of its own it would end the process.
type gang struct {
	wg       sync.WaitGroup
	once     sync.Once
	panicked any
}

func (g *gang) run(f func()) {
	g.wg.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				g.once.Do(func() { g.panicked = r })
			}
		}()
		f()
	})
}

func (g *gang) wait() {
	g.wg.Wait()
	if g.panicked != nil {
		panic(g.panicked)
	}
}
