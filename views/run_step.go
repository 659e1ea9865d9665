package views

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

// history is the saved steps, the first one first.
func (r *runScreen) history() []viewer.HistoryStep { return r.detail.value.History }

// stepIndex is where the step cursor stands in the history, -1 when there is
// no history.
func (r *runScreen) stepIndex() int {
	if r.step == latest {
		return len(r.history()) - 1
	}
	return stepAt(r.history(), r.step)
}

// stepVerdict is the verdict of a saved step, as far as it is known.
func (r *runScreen) stepVerdict(step int64) viewer.Verdict {
	if at := stepAt(r.history(), step); at >= 0 {
		return r.history()[at].Verdict
	}
	return viewer.Unchecked
}

func stepAt(history []viewer.HistoryStep, step int64) int {
	return slices.IndexFunc(history, func(h viewer.HistoryStep) bool { return h.Step == step })
}

// before is the step before the given one.
func (r *runScreen) before(step int64) (int64, bool) {
	i := stepAt(r.history(), step)
	if i <= 0 {
		return 0, false
	}
	return r.history()[i-1].Step, true
}

// moveStep moves the step cursor; on the last step it follows the newest one.
func (r *runScreen) moveStep(n int) tea.Cmd {
	last := len(r.history()) - 1
	if last < 0 {
		return nil
	}
	at := max(0, min(r.stepIndex()+n, last))
	if at == last {
		return r.setStep(latest)
	}
	return r.setStep(r.history()[at].Step)
}

// setStep moves everything that shows a step there.
func (r *runScreen) setStep(step int64) tea.Cmd {
	if step == r.step {
		return nil
	}
	r.step = step
	r.timeline.follow()
	r.called.follow()
	if r.shows(r.state) || r.shows(r.talk) {
		return r.tab().read(false)
	}
	return nil
}

// keepStep goes back to the newest step when the one under the cursor is gone.
func (r *runScreen) keepStep() tea.Cmd {
	if r.step == latest || stepAt(r.history(), r.step) >= 0 {
		return nil
	}
	return tea.Batch(r.setStep(latest), notice("the step is not there any more; this is the latest", theme.Attention))
}
