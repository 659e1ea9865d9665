package views

import (
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
)

type (
	// noticeMsg shows one sentence until the next key.
	noticeMsg struct {
		Text string
		Tone theme.Tone
	}
	// tickMsg comes every second, for ages and retries.
	tickMsg time.Time
	// beatMsg comes every second to the layers that can be seen, for reading
	// again what got old without a notice: a lease runs out in silence.
	beatMsg struct{}
	// restedMsg says that no key may have come for a moment.
	restedMsg struct{ ticket }
	// changedMsg says that something in a store may have changed.
	changedMsg struct{ notices <-chan struct{} }
	// watchingMsg says that change notices arrive, or why they do not.
	watchingMsg struct {
		notices <-chan struct{}
		problem *viewer.Problem
	}
	// watchEndedMsg says that no more notices come.
	watchEndedMsg struct{}
	// rewatchMsg says that it is time to subscribe again.
	rewatchMsg struct{}
	// progressMsg is a stage of an action under way.
	progressMsg struct {
		ticket
		Progress viewer.Progress
		more     <-chan viewer.Progress
	}
	// outcomeMsg is the end of an action. When its sheet is closed, the program
	// shows it as a notice.
	outcomeMsg struct {
		ticket
		Action  viewer.Action
		Run     string
		Outcome viewer.Outcome
		Problem *viewer.Problem
	}
)
