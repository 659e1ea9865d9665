package views

import (
	"cmp"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

// latest is the step cursor that follows the newest step.
const latest int64 = -1

// runScreen shows one run, a tab at a time. What a tab needs is read when the
// tab is shown, and again when the store changes while it is shown.
type runScreen struct {
	*env
	ref    viewer.Ref
	detail source[viewer.Detail]
	calls  source[[]viewer.Call] // of Timeline and Calls
	step   int64                 // that Timeline, Calls, State and Conversation show
	reveal bool                  // secrets were asked for
	open   bool                  // calls were read with secrets

	tabs     []runTab
	at       int
	timeline *timelineTab
	called   *callsTab
	state    *stateTab
	events   *eventsTab
	verifies *verifyTab
	talk     *conversationTab // among the tabs once the run has a conversation

	width, height int
}

// runTab is one tab of the screen.
type runTab interface {
	title() widget.Tab
	// read reads what the tab shows; again says that it is not enough to have
	// it already.
	read(again bool) tea.Cmd
	// key does what a key means in the tab, and reports false for a key that
	// means nothing there.
	key(tea.KeyMsg) (tea.Cmd, bool)
	hints() []keymap.Hint
	// back goes one level back inside the tab, and reports false at the top.
	back() bool
	// typing reports that a text field of the tab takes all keys.
	typing() bool
	// view draws the tab; more lines than height are cut.
	view(width, height int) []string
	// failed is about what the tab reads besides the detail.
	failed() *failure
	// ready reports that there is something to show.
	ready() bool
}

// newRunScreen opens the run; nothing is read before Init.
func newRunScreen(e *env, ref viewer.Ref) Screen {
	r := &runScreen{env: e, ref: ref, step: latest}
	r.timeline, r.called, r.state = newTimelineTab(r), newCallsTab(r), newStateTab(r)
	r.events, r.verifies, r.talk = &eventsTab{r: r}, &verifyTab{r: r}, &conversationTab{r: r}
	r.tabs = []runTab{&overviewTab{r: r}, r.timeline, r.called, r.state, r.events, r.verifies}
	return r
}

// Init reads the run.
func (r *runScreen) Init() tea.Cmd { return r.readDetail() }

// Title implements Screen.
func (r *runScreen) Title() string { return "run" }

// Typing implements Screen.
func (r *runScreen) Typing() bool { return r.tab().typing() }

// Update implements Screen.
func (r *runScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyMsg:
		return r.key(msg)
	case reply[viewer.Detail]:
		return r.gotDetail(msg)
	case reply[[]viewer.Call]:
		return r.gotCalls(msg)
	case reply[viewer.StateView]:
		return r.state.got(msg)
	case reply[viewer.Conversation]:
		return r.talk.got(msg)
	case reply[[]viewer.Event]:
		return r.events.got(msg)
	case reply[viewer.Report]:
		return r.verifies.got(msg)
	case changedMsg:
		return r.refresh()
	case tickMsg:
		return r.tick()
	case beatMsg:
		return r.beat()
	}
	return nil
}

// SetSize implements Screen.
func (r *runScreen) SetSize(w, h int) { r.width, r.height = w, h }

func (r *runScreen) tab() runTab { return r.tabs[r.at] }

func (r *runScreen) shows(t runTab) bool { return r.tab() == t }

// talks reports that the run has a conversation. Its tab comes last, so that the
// numbers of the others are those of every run.
func (r *runScreen) talks() bool { return slices.Contains(r.tabs, runTab(r.talk)) }

// choose shows another tab and reads what it needs.
func (r *runScreen) choose(tab int) tea.Cmd {
	n := len(r.tabs)
	r.at = (tab + n) % n
	r.called.showAll()
	return r.tab().read(false)
}

func (r *runScreen) show(t runTab) tea.Cmd { return r.choose(slices.Index(r.tabs, t)) }

// refresh reads the run and the tab in front again. The other tabs are read
// when they are shown.
func (r *runScreen) refresh() tea.Cmd { return tea.Batch(r.readDetail(), r.tab().read(false)) }

func (r *runScreen) readDetail() tea.Cmd {
	if r.detail.wait() {
		return nil
	}
	return loadDetail(r.env, r.detail.ask(r.env), r.ref)
}

func (r *runScreen) gotDetail(msg reply[viewer.Detail]) tea.Cmd {
	if !r.detail.got(msg, r.now()) {
		return nil
	}
	cmds := []tea.Cmd{}
	if r.detail.again {
		cmds = append(cmds, r.readDetail())
	}
	if msg.Problem == nil {
		slices.SortStableFunc(r.detail.value.History, func(a, b viewer.HistoryStep) int { return cmp.Compare(a.Step, b.Step) })
		cmds = append(cmds, r.keepStep())
		r.timeline.changed()
		r.called.changed()
		if r.detail.value.Talks && !r.talks() {
			r.tabs = append(r.tabs, r.talk)
		}
		if r.shows(r.state) || r.talks() && (r.shows(r.talk) || r.shows(r.tabs[0])) {
			cmds = append(cmds, r.tab().read(false))
		}
	}
	return tea.Batch(cmds...)
}

func (r *runScreen) readCalls() tea.Cmd {
	if r.calls.wait() {
		return nil
	}
	return loadCalls(r.env, r.calls.ask(r.env), r.ref, r.reveal)
}

func (r *runScreen) gotCalls(msg reply[[]viewer.Call]) tea.Cmd {
	if !r.calls.got(msg, r.now()) {
		return nil
	}
	if msg.Problem == nil {
		r.open = r.reveal
		r.timeline.changed()
		r.called.changed()
		r.talk.callsChanged()
	}
	if r.calls.again {
		return r.readCalls()
	}
	return nil
}

// beat reads again when what is shown got old.
func (r *runScreen) beat() tea.Cmd {
	if r.failure() != nil || !outdated(r.now(), r.detail.asked, r.row().Lease) {
		return nil
	}
	return r.refresh()
}

// tick tries again what failed, and lets bars of running work grow.
func (r *runScreen) tick() tea.Cmd {
	r.timeline.ticked()
	var again tea.Cmd
	if f := r.tab().failed(); f != nil && !f.busy && r.now().Sub(f.tried) >= retryAfter {
		again = r.tab().read(true)
	}
	if r.detail.due(r.now()) {
		return tea.Batch(again, r.readDetail())
	}
	return again
}
