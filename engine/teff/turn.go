package teff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// ErrChanged is for a message to a run that another process went on with while
// the message was given: it could land on a question that its writer never saw.
// Nothing was saved.
var ErrChanged = errors.New("the run changed while the message was given; nothing was saved")

// A Conversation is a run whose id is a session and that is told messages.
type Conversation struct {
	Runner
	MessagesKey   string   // "": messages
	TransientKeys []string // set to "" before each further turn
}

// A TurnResult is what one turn of a conversation gave (teff format,
// conversation turns).
type TurnResult struct {
	SessionID string
	Reply     string // the last reply stored, which may be that of an earlier turn
	Replied   bool   // no message of the user follows it: it is of this turn
	Waiting   bool
	Prompt    string   // when waiting
	Key       string   // when waiting
	State     *py.Dict // when completed
}

// Text is what a channel shows of a turn: the prompt when it waits, else the
// reply, else the first of answer, summary, output and reply in the state that
// is a text.
func (t TurnResult) Text() string {
	if t.Waiting {
		return t.Prompt
	}
	if t.Reply != "" || t.State == nil {
		return t.Reply
	}
	for _, key := range []string{"answer", "summary", "output", "reply"} {
		if s, ok := t.State.GetOr(key, nil).(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// Turn tells a conversation a message: the answer when it waits, else the next
// message of the user, with which the graph runs from its entry. What the
// message means is decided on one look at the run, and it is [ErrChanged] when
// the run is another one by the time that it goes on. A workflow that [Check]
// refuses is, also where the turn would not come to what the engine lacks: the
// next one may.
func (c *Conversation) Turn(ctx context.Context, session, message string) (TurnResult, error) {
	if err := Check(c.Workflow); err != nil {
		return TurnResult{}, err
	}
	h, err := c.hear(ctx, session, message)
	if err != nil {
		return TurnResult{}, err
	}
	runner := c.Runner
	if !h.saved {
		runner.Store = &sameRow{Checkpointer: c.Store, id: session, row: h.row}
	}
	r, err := runner.Run(ctx, session, h.initial, h.answer)
	if err != nil {
		return TurnResult{}, err
	}
	turn := TurnResult{SessionID: session, State: r.State}
	if r.Interrupt != nil {
		turn.Waiting, turn.Prompt, turn.Key = true, r.Interrupt.Prompt, r.Interrupt.Key
	}
	turn.Reply, turn.Replied, err = c.reply(ctx, session)
	return turn, err
}

func (c *Conversation) messagesKey() string {
	if c.MessagesKey == "" {
		return "messages"
	}
	return c.MessagesKey
}

// heard is what a message means for a run.
type heard struct {
	row     *Checkpoint // that it was decided on, nil for a new run
	answer  *py.Dict    // the message, when the run waits
	initial *py.Dict    // the message, when the run is new
	saved   bool        // the message is in the row, which is set to the entry
}

// hear decides what a message means, and saves it for a run that waits for none.
func (c *Conversation) hear(ctx context.Context, session, message string) (heard, error) {
	said := py.NewDict(py.Entry{Key: "role", Value: "user"}, py.Entry{Key: "content", Value: message})
	row, found, err := c.Store.Load(ctx, session)
	if err != nil {
		return heard{}, err
	}
	if !found {
		return heard{initial: py.NewDict(py.Entry{Key: c.messagesKey(), Value: py.NewList(said)})}, nil
	}
	state, err := loadState(session, row)
	if err != nil {
		return heard{}, err
	}
	pause, err := readInterrupt(state)
	if err != nil {
		return heard{}, fmt.Errorf("run %s: %w", session, err)
	}
	if pause != nil {
		return heard{row: &row, answer: py.NewDict(py.Entry{Key: pause.Key, Value: message})}, nil
	}
	return heard{saved: true}, c.restart(ctx, session, state, said)
}

// sameRow gives a run's row as long as it is the one that was decided on, which
// counts for the first look: what follows is what the run itself saved.
type sameRow struct {
	Checkpointer
	id  string
	row *Checkpoint // nil: there was none
	met bool
}

// Load implements Checkpointer.
func (s *sameRow) Load(ctx context.Context, id string) (Checkpoint, bool, error) {
	c, found, err := s.Checkpointer.Load(ctx, id)
	if err != nil || id != s.id || s.met {
		return c, found, err
	}
	s.met = true
	if found != (s.row != nil) || found && !bytes.Equal(c.Payload(), s.row.Payload()) {
		return Checkpoint{}, false, fmt.Errorf("run %s: %w", id, ErrChanged)
	}
	return c, found, nil
}

func (c *Conversation) restart(ctx context.Context, session string, state, said *py.Dict) error {
	old := orElse(state.GetOr(c.messagesKey(), nil), py.NewList())
	messages, ok := old.(*py.List)
	if !ok {
		return fmt.Errorf("run %s: %w", session, inexact("its %q is %s, not a list", c.messagesKey(), py.TypeName(old)))
	}
	state.Set(c.messagesKey(), py.NewList(append(append([]py.Value(nil), messages.Items...), said)...))
	for _, key := range c.TransientKeys {
		state.Set(key, "")
	}
	text, err := py.Dumps(state)
	if err != nil {
		return fmt.Errorf("run %s: %w", session, err)
	}
	return c.Store.Save(ctx, session, Checkpoint{State: text, Next: nodeID(c.Workflow.Graph.Entry)})
}

// reply is the content of the last message of the assistant in the stored state,
// and whether it is of the newest turn.
func (c *Conversation) reply(ctx context.Context, session string) (reply string, own bool, err error) {
	row, found, err := c.Store.Load(ctx, session)
	if err != nil || !found {
		return "", false, err
	}
	state, err := loadState(session, row)
	if err != nil {
		return "", false, err
	}
	messages, ok := state.GetOr(c.messagesKey(), nil).(*py.List)
	if !ok {
		return "", false, nil
	}
	own = true
	for _, item := range slices.Backward(messages.Items) {
		m, ok := item.(*py.Dict)
		if !ok {
			continue
		}
		switch m.GetOr("role", nil) {
		case "user":
			own = false
		case "assistant":
			return py.Str(m.GetOr("content", "")), own, nil
		}
	}
	return "", false, nil
}
