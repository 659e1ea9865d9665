package views

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

const (
	pageSize = 100
	anyOwner = "*" // of a viewer.Query
	// maxRows bounds what the list keeps; who looks for more narrows it.
	maxRows = 2000
	// checkBatch is how many runs are verified with one request.
	checkBatch = 25
	// lookNewest bounds one look at all runs in the background, for those that
	// were tampered with where no list shows it; lookEvery is the pause between.
	lookNewest = 2000
	lookEvery  = 30 * time.Second
	// awayFor is how long after the list is in front again the cursor still goes
	// back to a run that left: later it would move under the hands of its user.
	awayFor = 3 * time.Second
	// countsEvery is the least time between two counts, which may be dear.
	countsEvery = 2 * time.Second
)

// runs is the list of runs, the first screen.
type runs struct {
	*env
	table  *widget.Table[viewer.Ref, viewer.Row]
	tab    int
	filter *widget.Field
	typing bool

	page   slot         // the rows from the start
	more   slot         // the next page
	tally  slot         // counts
	beyond slot         // counts of all owners, when there is nothing of this one
	check  slot         // verdicts
	look   slot         // verdicts of runs that are on no page
	query  viewer.Query // of the page in flight
	next   string       // cursor of the next page
	loaded bool         // the rows belong to the tab and the filter
	counts viewer.Counts
	others int64         // runs of other owners, counted when there are none of this one
	doubt  viewer.Counts // lower than before: perhaps a store was left out

	failed   *viewer.Problem // of the last read, when nothing could be read
	failedAt time.Time       // when reading began to fail
	partial  []viewer.StoreProblem
	tried    time.Time // last failed try
	read     time.Time // last good read
	tallied  time.Time // last request of counts
	looked   time.Time // last look in the background
	checked  map[viewer.Ref]string
	asked    viewer.Row // run that is verified because the user asked for it
	text     string     // filter of the rows that are shown
	last     viewer.Ref // run that the cursor was on
	away     viewer.Ref // run that left while something was in front of the list
	back     time.Time  // since when the list is in front again
	left     string     // sentence about a run that the cursor lost, not told yet

	visible       bool
	width, height int
}

func newRuns(e *env) *runs {
	r := &runs{env: e, visible: true, filter: widget.NewField(e.styles, 200, false), checked: map[viewer.Ref]string{}}
	r.table = widget.NewTable(e.styles, r.columns(), func(row viewer.Row) viewer.Ref { return row.Ref }, r.cells)
	return r
}

// Init reads the first page and the counts.
func (r *runs) Init() tea.Cmd { return r.refresh() }

// Title implements Screen.
func (r *runs) Title() string { return "runs" }

// Typing implements Screen.
func (r *runs) Typing() bool { return r.typing }

// Update implements Screen.
func (r *runs) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		if r.typing {
			return r.filterKey(msg)
		}
		return r.key(msg)
	case reply[viewer.Page]:
		return r.paged(msg)
	case reply[viewer.Counts]:
		return r.counted(msg)
	case reply[viewer.Report]:
		return r.verified(msg)
	case changedMsg:
		return r.refresh()
	case tickMsg:
		return r.tick()
	case beatMsg:
		return r.beat()
	}
	return nil
}

// SetVisible implements visible.
func (r *runs) SetVisible(v bool) {
	if v && !r.visible {
		r.back = r.now()
	}
	r.visible = v
}

// SetSize implements Screen.
func (r *runs) SetSize(w, h int) {
	r.width, r.height = w, h
	r.arrange()
}
