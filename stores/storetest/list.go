package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/flowtui/flowtui/stores"
)

var listCases = []testCase{
	{"empty", listEmpty},
	{"order", listOrder},
	{"pages", listPages},
	{"default page", listDefault},
	{"pages while runs come", listWhileRunsCome},
	{"bad questions", badQueries},
	{"unfinished", unfinished},
	{"owners", owners},
}

var anyRun = stores.Filter{Owner: stores.AnyOwner}

// seconds sets the time of a checkpoint.
func seconds(n int) func(*stores.Checkpoint) {
	return func(c *stores.Checkpoint) { c.Time = Epoch.Add(time.Duration(n) * time.Second) }
}

// list reads all pages of a filter and names the runs.
func (s *suite) list(f stores.Filter, limit int) (runs []string) {
	s.Helper()
	for cursor := ""; ; {
		page, err := s.List(s.ctx, stores.Query{Filter: f, Limit: limit, Cursor: cursor})
		s.ok(err)
		if len(page.Heads) > limit {
			s.Fatalf("a page of %d heads, want at most %d", len(page.Heads), limit)
		}
		runs = append(runs, names(page.Heads)...)
		if cursor = page.Next; cursor == "" {
			return runs
		}
	}
}

func names(heads []stores.Head) (runs []string) {
	for _, h := range heads {
		runs = append(runs, h.Run)
	}
	return runs
}

func (s *suite) listed(f stores.Filter, want ...string) {
	s.Helper()
	if got := s.list(f, 100); !slices.Equal(got, want) {
		s.Errorf("%+v lists %q, want %q", f, got, want)
	}
}

func listEmpty(s *suite) {
	page, err := s.List(s.ctx, stores.Query{Filter: anyRun})
	s.ok(err)
	n, err := s.Count(s.ctx, anyRun)
	s.ok(err)
	owners, err := s.Owners(s.ctx)
	s.ok(err)
	if len(page.Heads)+len(n.ByStatus)+len(owners) > 0 || page.Next != "" || n.Open != 0 {
		s.Errorf("an empty store has %+v, %+v, %q", page, n, owners)
	}
}

// listOrder is newest update first, then owner, then run.
func listOrder(s *suite) {
	save := func(owner, run string, at int) {
		s.save(Step(s.placeOf(stores.Key{Owner: owner, Run: run}), 0, seconds(at)))
	}
	save("b", "1", 5)
	save("a", "2", 5)
	save("a", "1", 5)
	save("c", "new", 9)
	save("a", "old", 1)
	s.listed(anyRun, "new", "1", "2", "1", "old")
	p := s.placeOf(stores.Key{Owner: "a", Run: "old"})
	s.save(Step(p, 1, seconds(20)))
	s.listed(anyRun, "old", "new", "1", "2", "1")
}

func listPages(s *suite) {
	var want []string
	for n := range 23 {
		run := fmt.Sprintf("run %02d", n)
		s.save(Step(s.place(run), 0, seconds(n/5))) // five share a time
		want = append(want, run)
	}
	slices.SortStableFunc(want, func(a, b string) int {
		var i, j int
		fmt.Sscanf(a, "run %d", &i)
		fmt.Sscanf(b, "run %d", &j)
		return j/5 - i/5
	})
	for _, limit := range []int{1, 2, 7, 22, 23, 24, 1000} {
		if got := s.list(anyRun, limit); !slices.Equal(got, want) {
			s.Errorf("in pages of %d: got %q, want %q", limit, got, want)
		}
		two := stores.Filter{Owner: stores.AnyOwner, Statuses: []stores.Status{stores.StatusPaused, stores.StatusRunning}}
		if got := s.list(two, limit); !slices.Equal(got, want) {
			s.Errorf("two statuses in pages of %d: got %q, want %q", limit, got, want)
		}
	}
	page, err := s.List(s.ctx, stores.Query{Filter: anyRun, Limit: 23})
	s.ok(err)
	if page.Next != "" {
		s.Error("the last page names a next one")
	}
}

func listDefault(s *suite) {
	for n := range stores.DefaultLimit + 1 {
		s.save(Step(s.place(fmt.Sprint(n)), 0))
	}
	page, err := s.List(s.ctx, stores.Query{Filter: anyRun})
	s.ok(err)
	if len(page.Heads) != stores.DefaultLimit || page.Next == "" {
		s.Errorf("a page of %d heads, next %q", len(page.Heads), page.Next)
	}
}

// listWhileRunsCome: what was there at the first page comes once, although new
// runs are put before it all the time.
func listWhileRunsCome(s *suite) {
	old := map[string]int{}
	for n := range 20 {
		run := fmt.Sprintf("old %d", n)
		s.save(Step(s.place(run), 0, seconds(n)))
		old[run] = 0
	}
	for cursor, n := "", 0; ; n++ {
		page, err := s.List(s.ctx, stores.Query{Filter: anyRun, Limit: 3, Cursor: cursor})
		s.ok(err)
		for _, run := range names(page.Heads) {
			if _, isOld := old[run]; isOld {
				old[run]++
			}
		}
		s.save(Step(s.place(fmt.Sprintf("new %d", n)), 0, seconds(100+n)))
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for run, times := range old {
		if times != 1 {
			s.Errorf("%q was listed %d times", run, times)
		}
	}
}

func badQueries(s *suite) {
	s.steps("r", 0)
	for _, q := range []stores.Query{
		{Filter: anyRun, Limit: -1},
		{Filter: anyRun, Limit: 1001},
		{Filter: anyRun, Cursor: "%"},
		{Filter: anyRun, Cursor: "bm90IGEgY3Vyc29y"},
		{Filter: anyRun, Cursor: "e30"},
		{Filter: anyRun, Cursor: "W10"},
	} {
		_, err := s.List(s.ctx, q)
		s.fails(err, stores.ErrInvalid)
	}
	s.listed(stores.Filter{}) // selects nothing by owner
}

func unfinished(s *suite) {
	for n, edit := range []func(*stores.Checkpoint){seconds(3), paused, done, failed} {
		s.save(Step(s.place(fmt.Sprint(n)), 0, edit))
	}
	s.save(Step(s.placeOf(stores.Key{Owner: "alice", Run: "hers"}), 0, seconds(1)))
	for owner, want := range map[string][]string{
		stores.AnyOwner:     {"1", "hers", "0"},
		stores.DefaultOwner: {"1", "0"},
		"alice":             {"hers"},
		"bob":               nil,
	} {
		heads, err := s.ListUnfinished(s.ctx, owner)
		s.ok(err)
		if got := names(heads); !slices.Equal(got, want) {
			s.Errorf("unfinished runs of %q: got %q, want %q", owner, got, want)
		}
	}
}

func owners(s *suite) {
	for _, owner := range []string{"b", "B", "a", "é", "a b"} {
		for _, run := range []string{"1", "2"} {
			s.save(Step(s.placeOf(stores.Key{Owner: owner, Run: run}), 0))
		}
	}
	got, err := s.Owners(s.ctx)
	s.ok(err)
	if want := []string{"B", "a", "a b", "b", "é"}; !slices.Equal(got, want) {
		s.Errorf("owners are %q, want %q", got, want)
	}
	s.ok(s.Delete(s.ctx, stores.Key{Owner: "B", Run: "1"}))
	s.ok(s.Delete(s.ctx, stores.Key{Owner: "B", Run: "2"}))
	got, err = s.Owners(s.ctx)
	s.ok(err)
	if slices.Contains(got, "B") {
		s.Error("an owner without runs is listed")
	}
}
