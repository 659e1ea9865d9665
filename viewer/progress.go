package viewer

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// teller turns the engine's events into progress. It also knows whether the
// action was stored, which matters when something fails afterwards.
type teller struct {
	s        *Service
	progress func(Progress)

	mu     sync.Mutex
	stored string // what was stored last, "" for nothing
}

// event is told every event after it was stored.
func (t *teller) event(e stores.Event) {
	t.mu.Lock()
	first := t.stored == ""
	var text string
	switch e.Type {
	case engine.EventSaved:
		text = savedText(e)
	case engine.EventResolved:
		text = "the resolution is stored"
	default:
		t.mu.Unlock()
		return
	}
	t.stored = text
	t.mu.Unlock()
	stage := "picked up"
	if first {
		stage = "recorded"
	}
	t.tell(stage, text)
}

func (t *teller) tell(stage, text string) {
	if t.progress != nil {
		t.progress(out(t.s, Progress{stage, text}, false))
	}
}

// wrap tells with an error that the action itself was stored, and how far the
// run came.
func (t *teller) wrap(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stored == "" {
		return err
	}
	return &acceptedError{t.stored, err}
}

func savedText(e stores.Event) string {
	var data struct {
		Status string `json:"status"`
	}
	_ = json.Unmarshal(e.Payload, &data) // made by the engine just now
	return fmt.Sprintf("step %d is saved, the run is %s", e.Step, data.Status)
}

func pastTense(a Action) string {
	switch a {
	case Approve:
		return "approved"
	case Deny:
		return "denied"
	case Answer:
		return "answered"
	case Resolve:
		return "resolved"
	case Recover:
		return "recovered"
	}
	return string(a)
}

// standing says in one sentence where the run stands.
func standing(r engine.Result) string {
	switch r.Status {
	case stores.StatusDone:
		return fmt.Sprintf("the run is done, at step %d", r.Step)
	case stores.StatusFailed:
		return fmt.Sprintf("the run failed at step %d: %s", r.Step, r.Error)
	case stores.StatusPaused:
		return fmt.Sprintf("the run waits at step %d for %s", r.Step, nameOr(waitNames(r.Waiting), "something"))
	}
	return fmt.Sprintf("the run is %s at step %d", r.Status, r.Step)
}

// waitNames are what a run waits for; what bears the same name is counted.
func waitNames(list []engine.Waiting) string {
	var names []string
	times := map[string]int{}
	for _, w := range list {
		name := waitName(w)
		if times[name]++; times[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if n := times[name]; n > 1 {
			name = strings.TrimPrefix(name, "an ")
			what, of, _ := strings.Cut(name, " ")
			names[i] = plural(n, what) + " " + of
		}
	}
	return strings.Join(names, ", ")
}

func waitName(w engine.Waiting) string {
	if w.Type == engine.WaitApproval {
		return "approval of " + w.Tool
	}
	return "an answer to " + nameOr(w.Key, w.ID)
}

func outcomeOf(r engine.Result, text string) Outcome {
	o := Outcome{
		Run: r.Key.Run, Status: string(r.Status), Outcome: text, Step: r.Step, Segment: r.Segment, Waiting: []Waiting{}, Denied: r.Denied != nil,
		Replayed: append([]string{}, r.Replayed...), Rerun: append([]string{}, r.Rerun...), Unreplayed: append([]string{}, r.Unreplayed...),
	}
	for _, w := range r.Waiting {
		o.Waiting = append(o.Waiting, waitingOf(w, true))
		if w.Turn {
			o.Reply = w.Prompt
		}
	}
	return o
}
