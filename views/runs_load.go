package views

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

// refresh reads the rows again, from the start to where they were read before,
// and the counts. While a read is in flight, one more follows it.
func (r *runs) refresh() tea.Cmd {
	return tea.Batch(r.readPage(), r.readCounts())
}

// beat reads again when what is shown got old. A read that failed is tried
// again anyway.
func (r *runs) beat() tea.Cmd {
	told := r.tellLeft()
	if r.page.busy || r.troubled() {
		return told
	}
	rows := r.table.Rows()
	leases := make([]*viewer.Lease, len(rows))
	for i, row := range rows {
		leases[i] = row.Lease
	}
	if !outdated(r.now(), r.page.asked, leases...) {
		return told
	}
	return tea.Batch(told, r.refresh())
}

// tellLeft says once, and when nothing else is being told, that the run under
// the cursor went away: the cursor stands on another one now.
func (r *runs) tellLeft() tea.Cmd {
	if r.left == "" || !r.nav.quiet(r.id) {
		return nil
	}
	text := r.left
	r.left = ""
	return notice(text, theme.Attention)
}

// troubled reports that not all stores could be read.
func (r *runs) troubled() bool { return r.failed != nil || len(r.partial) > 0 }

// down reports that a store could not be read at all.
func (r *runs) down() bool {
	return r.failed != nil || slices.ContainsFunc(r.partial, func(p viewer.StoreProblem) bool { return !p.Partly })
}

func (r *runs) readPage() tea.Cmd {
	if r.page.wait() {
		return nil
	}
	r.more.drop() // its cursor belongs to the rows that are replaced now
	r.query = r.wanted()
	return loadPage(r.env, r.page.ask(r.env), r.query)
}

// wanted is the query for what the screen should show.
func (r *runs) wanted() viewer.Query {
	limit := pageSize
	if r.loaded {
		limit = min(maxRows, max(pageSize, len(r.table.Rows())))
	}
	return r.scope.of(viewer.Query{Tab: viewer.Tabs[r.tab], Text: r.filter.Value(), Limit: limit})
}

func (r *runs) readCounts() tea.Cmd {
	if r.tally.wait() {
		return nil
	}
	if r.now().Sub(r.tallied) < countsEvery {
		r.tally.again = true
		return nil
	}
	r.tallied = r.now()
	return loadCounts(r.env, r.tally.ask(r.env), r.scope.of(viewer.Query{}))
}

// readMore reads the next page when the cursor comes near the end.
func (r *runs) readMore() tea.Cmd {
	if r.next == "" || r.page.busy || r.more.busy || !r.table.NearEnd() || len(r.table.Rows()) >= maxRows {
		return nil
	}
	q := r.wanted()
	q.Limit, q.Cursor = pageSize, r.next
	return loadPage(r.env, r.more.ask(r.env), q)
}

// paged takes a page: the first one replaces the rows, a further one follows.
func (r *runs) paged(msg reply[viewer.Page]) tea.Cmd {
	switch {
	case r.page.take(msg.ticket):
		return r.firstPage(msg)
	case r.more.take(msg.ticket):
		return r.nextPage(msg)
	}
	return nil
}

func (r *runs) firstPage(msg reply[viewer.Page]) tea.Cmd {
	now := r.scope.of(viewer.Query{Tab: viewer.Tabs[r.tab], Text: r.filter.Value(), Limit: r.query.Limit})
	current := r.query == now
	if current {
		r.show(msg)
	}
	left := r.tellLeft()
	var again tea.Cmd
	if r.page.again || !current {
		again = r.readPage()
	} else {
		r.settleCounts()
	}
	return tea.Batch(left, again, r.readMore(), r.verifyNext())
}

// show replaces the rows with what was read. Rows of a store that could not be
// read stay.
func (r *runs) show(msg reply[viewer.Page]) {
	if msg.Problem != nil {
		r.fail(msg.Problem)
		return
	}
	p := msg.Value
	r.failed, r.partial = nil, p.Problems
	r.tried = r.now()
	if !r.down() {
		r.read = r.now()
	}
	rows := p.Rows
	for _, old := range r.table.Rows() {
		if r.loaded && r.unread(old.Store) != nil && !slices.ContainsFunc(rows, sameRef(old.Ref)) {
			rows = append(rows, old)
		}
	}
	r.replace(rows, p.Next == "")
	r.next = p.Next
	r.loaded = true
	r.table.Stale = false
	r.table.SetColumns(r.columns())
}

// replace puts other rows on the screen; whole says that they are all. The
// cursor stays on its run, also when a filter hid it for a while.
func (r *runs) replace(rows []viewer.Row, whole bool) {
	row, had := r.table.Selected()
	if had {
		r.last = row.Ref
	}
	if r.visible && r.now().Sub(r.back) > awayFor {
		r.away = viewer.Ref{}
	}
	kept := r.table.SetRows(rows)
	switch {
	case !had:
		r.table.Select(r.last)
	case r.away != viewer.Ref{} && r.table.Select(r.away):
		r.away, r.left, kept = viewer.Ref{}, "", true
	case !kept && !r.nav.front(r.id):
		r.away = row.Ref
	}
	if had && !kept && whole && r.loaded && r.text == r.query.Text {
		r.left = row.Run + " left this tab"
		if r.query.Tab == viewer.TabAll {
			r.left = row.Run + " is not there any more"
		}
	}
	r.text = r.query.Text
}

func (r *runs) fail(p *viewer.Problem) {
	if r.failed == nil {
		r.failedAt = r.now()
	}
	r.failed = p
	r.tried = r.now()
	r.table.Stale = true
}

func (r *runs) nextPage(msg reply[viewer.Page]) tea.Cmd {
	if msg.Problem != nil {
		r.fail(msg.Problem)
		return nil
	}
	rows := slices.Clone(r.table.Rows())
	for _, row := range msg.Value.Rows {
		if !slices.ContainsFunc(rows, sameRef(row.Ref)) {
			rows = append(rows, row)
		}
	}
	r.next = msg.Value.Next
	r.table.SetRows(rows)
	return tea.Batch(r.readMore(), r.verifyNext())
}

func sameRef(ref viewer.Ref) func(viewer.Row) bool {
	return func(r viewer.Row) bool { return r.Ref == ref }
}

// unread is the problem of the store with the label, if it could not be read.
func (r *runs) unread(store string) *viewer.StoreProblem {
	for i := range r.partial {
		if r.partial[i].Store == store {
			return &r.partial[i]
		}
	}
	return nil
}

func (r *runs) counted(msg reply[viewer.Counts]) tea.Cmd {
	if r.beyond.take(msg.ticket) {
		if msg.Problem == nil {
			r.others = msg.Value[viewer.TabAll]
		}
		return nil
	}
	if !r.tally.take(msg.ticket) {
		return nil
	}
	switch {
	case msg.Problem != nil || r.troubled():
		return nil
	case msg.Value[viewer.TabAll] < r.counts[viewer.TabAll]:
		r.doubt = msg.Value
		return r.readPage()
	}
	r.counts = msg.Value
	if r.counts[viewer.TabAll] > 0 {
		r.others = 0
		return nil
	}
	if r.beyond.wait() {
		return nil
	}
	return loadCounts(r.env, r.beyond.ask(r.env), viewer.Query{Owner: anyOwner})
}

// settleCounts takes counts that went down, once a page read after them says
// that no store is missing: one that cannot be read counts as empty.
func (r *runs) settleCounts() {
	if r.doubt != nil && !r.troubled() {
		r.counts = r.doubt
	}
	r.doubt = nil
}

// tick counts again when that was put off, and reads again after a failure.
func (r *runs) tick() tea.Cmd {
	if r.tally.again && !r.tally.busy {
		return tea.Batch(r.readCounts(), r.retry())
	}
	return r.retry()
}

// verifyNext asks for the verdict of rows that have none yet, a batch at a
// time. A row is asked for once per version.
func (r *runs) verifyNext() tea.Cmd {
	if r.check.busy || r.table.Stale {
		return nil
	}
	var refs []viewer.Ref
	for _, row := range r.table.Rows() {
		v, seen := r.checked[row.Ref]
		if row.Verdict != viewer.Unchecked && !row.Verdict.Keyless() || (seen && v == row.Version) {
			continue
		}
		r.checked[row.Ref] = row.Version
		if refs = append(refs, row.Ref); len(refs) == checkBatch {
			break
		}
	}
	if len(refs) == 0 {
		return r.lookAround()
	}
	return verify(r.env, r.check.ask(r.env), viewer.VerifyRequest{Refs: refs})
}

// lookAround verifies the newest runs that nobody has looked at: a run that was
// tampered with needs a person, also when it is done.
func (r *runs) lookAround() tea.Cmd {
	if r.look.busy || (!r.looked.IsZero() && r.now().Sub(r.looked) < lookEvery) {
		return nil
	}
	r.looked = r.now()
	q := r.scope.of(viewer.Query{})
	return verify(r.env, r.look.ask(r.env), viewer.VerifyRequest{Owner: q.Owner, None: q.None, Newest: lookNewest})
}

func (r *runs) verified(msg reply[viewer.Report]) tea.Cmd {
	if r.look.take(msg.ticket) {
		if msg.Value.Runs == 0 {
			return nil
		}
		r.tallied = time.Time{} // what was found counts at once
		return r.refresh()
	}
	if !r.check.take(msg.ticket) {
		return nil
	}
	told := r.tellVerdict(msg)
	return tea.Batch(told, r.readPage(), r.verifyNext())
}

// tellVerdict says what came of the verification that the user asked for.
func (r *runs) tellVerdict(msg reply[viewer.Report]) tea.Cmd {
	run, ref := r.asked.Run, r.asked.Ref
	if ref == (viewer.Ref{}) {
		return nil
	}
	r.asked = viewer.Row{}
	if msg.Problem != nil {
		return notice(run+" could not be verified: "+msg.Problem.Message, theme.Danger)
	}
	for _, found := range msg.Value.Rows {
		if found.Ref != ref {
			continue
		}
		look := r.styles.Verdict(found.Verdict)
		text := run + ": " + look.Symbol + " " + look.Word
		if i := slices.IndexFunc(msg.Value.Findings, func(f viewer.Finding) bool { return f.Verdict == found.Verdict && f.Verdict.Bad() }); i >= 0 {
			text += ", " + msg.Value.Findings[i].Reason
		}
		return notice(text, look.Tone)
	}
	return notice(run+" could not be verified: the store tells nothing of it", theme.Danger)
}

// retry reads again some time after a read failed.
func (r *runs) retry() tea.Cmd {
	if !r.troubled() || r.page.busy || r.now().Sub(r.tried) < retryAfter {
		return nil
	}
	return r.refresh()
}
