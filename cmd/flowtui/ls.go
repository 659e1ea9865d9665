package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newLsCommand(a *app) *cobra.Command {
	var tab, text string
	var q viewer.Query
	cmd := &cobra.Command{
		Use:   "ls [STORE]",
		Short: "List runs, newest update first",
		Long: `List runs, newest update first; with no STORE those of the default context. Words of
--query must all fit: text is a part of the run id, is:paused a badge or a status,
is:needs-you what the tab of this name has, flow:NAME and owner:NAME are exact. When
there are more runs than --limit, stderr has the --cursor that goes on.`,
		Args: arguments("[STORE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q.Tab = viewer.Tab(tab)
			if len(args) == 0 {
				name, err := a.defaultContext()
				if err == nil && name == "" {
					err = usagef("flowtui ls needs STORE: the config file names no default context")
				}
				if err != nil {
					return err
				}
				args = []string{name}
			}
			return a.ls(cmd.Context(), args[0], q, text)
		},
	}
	f := cmd.Flags()
	f.StringVar(&text, "query", "", "`Q`: part of the run id, and words is:BADGE, is:STATUS, is:needs-you, flow:NAME, owner:NAME, id:TEXT")
	f.StringVar(&tab, "tab", string(viewer.TabAll), "`TAB` of the screens: one of "+tabNames())
	f.IntVar(&q.Limit, "limit", stores.DefaultLimit, fmt.Sprintf("at most `N` runs, 1 to %d", stores.MaxLimit))
	f.StringVar(&q.Cursor, "cursor", "", "go on at `C`, where another page ended")
	return cmd
}

func tabNames() string {
	names := make([]string, len(viewer.Tabs))
	for i, t := range viewer.Tabs {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

func (a *app) ls(ctx context.Context, store string, q viewer.Query, text string) error {
	words, err := parseQuery(text)
	switch {
	case err != nil:
		return err
	case !slices.Contains(viewer.Tabs, q.Tab):
		return usagef("there is no tab %q; there are %s", q.Tab, tabNames())
	case q.Limit < 1 || q.Limit > stores.MaxLimit:
		return usagef("--limit goes from 1 to %d", stores.MaxLimit)
	}
	s, err := a.attach(ctx, false, store)
	if err != nil {
		return err
	}
	defer s.Close()
	q.Text, q.Owner = words.text, words.owner
	if q.Tab == viewer.TabAll {
		q.Tab = words.tab()
	}
	if q.Tab == viewer.TabNeedsYou { // tampered runs that have ended need a person too
		if _, err := s.Verify(ctx, viewer.VerifyRequest{Owner: q.Owner, Newest: lookNewest}); err != nil {
			return err
		}
	}
	page, err := s.list(ctx, q, words)
	if err != nil {
		return err
	}
	for i := range page.Rows {
		s.sayTurns(ctx, &page.Rows[i])
	}
	if err := a.result(page.Rows, func(w io.Writer) {
		if len(page.Rows) > 0 || len(page.Problems) == 0 { // else the problem says that none could be read
			a.rows(w, page.Rows, s.owner == stores.AnyOwner, a.width())
		}
	}); err != nil {
		return err
	}
	if len(page.Rows) == 0 && len(page.Problems) == 0 {
		a.noteOthers(ctx, s, q.Owner)
	}
	if page.Next != "" {
		fmt.Fprintf(textWriter{a.stderr}, "next page: --cursor %s\n", page.Next)
	}
	return unread(page)
}

// noteOthers says that nothing was found of one owner where others have runs.
func (a *app) noteOthers(ctx context.Context, s *session, owner string) {
	if n := s.Others(ctx, owner); n > 0 {
		a.note("hint: %s", othersHint(n))
	}
}

func othersHint(n int64) string {
	return fmt.Sprintf("other owners have %s: --owner '*' is all of them", plural(int(n), "run"))
}

// lookNewest is of how many runs of a store those that have ended are verified
// for the queue of what needs a person; the screens do the same.
const lookNewest = 2000

// unread is the error of a list that could be read only in part.
func unread(page viewer.Page) error {
	for _, p := range page.Problems {
		return p.Problem
	}
	n := len(page.Unread)
	if n == 0 {
		return nil
	}
	p := page.Unread[0]
	p.Message = fmt.Sprintf("run %q: %s", p.Run, p.Message)
	if n > 1 {
		p.Message += fmt.Sprintf("; and %s more cannot be read either", plural(n-1, "run"))
	}
	p.Hint = "verify lists all that cannot be read"
	return p
}

// list returns one page of the rows that match, looking at as many pages as it
// takes; only pages that may have one are verified. When it is full in the middle
// of a page, that page is read again up to there, for the cursor that goes on
// exactly behind the last row.
func (s *session) list(ctx context.Context, q viewer.Query, words query) (viewer.Page, error) {
	var found viewer.Page
	for {
		page, err := s.candidates(ctx, q, words)
		if err != nil {
			return found, err
		}
		found.Problems, found.Next = page.Problems, page.Next
		found.Unread = append(found.Unread, page.Unread...)
		for i, row := range page.Rows {
			if words.matches(row) {
				found.Rows = append(found.Rows, row)
			}
			if len(found.Rows) < q.Limit {
				continue
			}
			if i+1 < len(page.Rows) {
				q.Limit, q.Check = i+1, false
				page, err = s.List(ctx, q)
				found.Next = page.Next
			}
			return found, err
		}
		if page.Next == "" {
			return found, nil
		}
		q.Cursor = page.Next
	}
}

// candidates is one page, verified unless no run of it can match.
func (s *session) candidates(ctx context.Context, q viewer.Query, words query) (viewer.Page, error) {
	if words.narrow() {
		q.Limit = stores.MaxLimit // few may match: a small page would make many
		page, err := s.List(ctx, q)
		if err != nil || !slices.ContainsFunc(page.Rows, words.mayMatch) {
			page.Rows = nil
			return page, err
		}
	}
	q.Check = true
	return s.List(ctx, q)
}

// rows prints a list of runs for people, in lines of at most width cells; 0 is
// any width.
func (a *app) rows(w io.Writer, rows []viewer.Row, owners bool, width int) {
	if len(rows) == 0 {
		a.note("no runs")
		return
	}
	var t table
	head := []string{"WHAT", "RUN", "FLOW", "OWNER", "AT", "STEP", "WAITING FOR", "AGE"}
	yield := []room{{}, {24, 8, true}, {12, 6, true}, {12, 6, true}, {12, 4, true}, {}, {24, 8, false}, {}}
	for i, r := range append([]viewer.Row{{}}, rows...) {
		cells := head
		if i > 0 {
			cells = []string{a.badges(r), r.Run, dash(r.Flow), r.Owner, dash(strings.Join(r.Where(), ",")), fmt.Sprint(r.Step),
				dash(waitingFor(r)), age(a.now(), r.Updated)}
		}
		if !owners {
			cells = slices.Delete(slices.Clone(cells), 3, 4)
		}
		t.add(cells...)
	}
	if !owners {
		yield = slices.Delete(yield, 3, 4)
	}
	if t.fit(width, yield, a.ellipsis()) {
		a.note("hint: names are cut to fit the terminal; through a pipe, as with | cat, they are whole")
	}
	t.write(w)
}

// waitingFor says in a few words what a run waits for or why it is where it is.
func waitingFor(r viewer.Row) string {
	switch {
	case r.Verdict.Bad(): // what it waits for comes to nothing
		return clip(oneLine(r.Why), 60)
	case len(r.Waiting) == 0 && r.Recoverable(): // whose worker is gone says less than what it takes
		return clip("a recovery: "+oneLine(r.Why), 60)
	case len(r.Waiting) == 0:
		return clip(oneLine(r.Why), 60)
	}
	w := r.Waiting[0]
	text := ""
	switch w.Type {
	case viewer.WaitApproval:
		text = "approve " + w.Tool
	case viewer.WaitInDoubt:
		text = w.Doubt()
	case viewer.WaitInterrupt:
		if unanswered(w) {
			w.Prompt = cmp.Or(w.Why, "the turn before gave no reply to show")
		}
		text = "answer " + w.Key + ": " + oneLine(w.Prompt)
	}
	if more := len(r.Waiting) - 1; more > 0 {
		text = fmt.Sprintf("%s (and %d more)", clip(text, 50), more)
	}
	return clip(text, 60)
}
