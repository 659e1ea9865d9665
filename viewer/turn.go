package viewer

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// TurnRequest is one message of a conversation.
type TurnRequest struct {
	Store   string // label, "" is the first
	Owner   string // "" is the Service's
	Run     string // the session
	Message string
	// Question is the interrupt that the message answers, by id or key; "" when
	// there is only one.
	Question string
	Flow     *engine.Flow
	Tools    *tool.Registry
}

// Reply is what a turn came to. Its JSON is the contract of `flowtui chat`.
type Reply struct {
	Run     string    `json:"run"`
	Waiting bool      `json:"waiting"` // the turn is not over: it waits for a person
	Prompt  string    `json:"prompt"`
	Key     string    `json:"key"`
	Reply   string    `json:"reply"`
	Status  string    `json:"status"`
	Choices []string  `json:"choices,omitempty"`
	Want    string    `json:"want,omitempty"` // what passes, in words
	Open    []Waiting `json:"-"`              // all that the turn waits for
	Failed  string    `json:"-"`              // why the turn failed; the next message starts another one
}

// Turn brings a conversation on by one message, and starts it when there is
// none of this id. A turn that failed is no error when the session goes on.
func (s *Service) Turn(ctx context.Context, r TurnRequest) (Reply, error) {
	a, err := s.attached(r.Store)
	if err != nil {
		return Reply{}, err
	}
	k := stores.Key{Owner: s.Find(r.Run, r.Owner).Owner, Run: r.Run}
	if err := s.writable(a, k); err != nil {
		return Reply{}, err
	}
	if r.Flow == nil || !r.Flow.Talks() {
		return Reply{}, Problem{Code: codeRefused, Message: "the flow is no conversation", Run: k.Run, Hint: "add conversation: to its file"}
	}
	t := engine.Turn{Key: k, Message: r.Message, Identity: s.o.Identity, By: s.o.By, Question: r.Question}
	switch g, err := s.glimpse(ctx, a, k); {
	case err == nil && g.setBack:
		return Reply{}, Problem{Code: codeCorrupt, Message: g.reason, Run: k.Run, Hint: forgetHint}
	case err == nil:
		t.Identity = stores.Identity{Principal: s.o.Identity.Principal} // the run keeps its user, whoever writes
	case !errors.Is(err, stores.ErrNotFound) && !errors.Is(err, engine.ErrCheckpointNotFound):
		return Reply{}, err
	}
	tell := &teller{s: s}
	runner, err := s.runner(a, r.Tools, tell)
	if err != nil {
		return Reply{}, err
	}
	res, err := runner.Turn(ctx, r.Flow, t)
	if err != nil && (!errors.Is(err, engine.ErrTurn) || res.Question == "") {
		return Reply{}, tell.wrap(err)
	}
	reply := Reply{
		Run: res.SessionID, Waiting: res.Waiting, Prompt: res.Prompt, Key: res.Key, Reply: res.Reply, Status: string(stores.StatusPaused),
		Choices: res.Choices, Want: res.Want.String(),
	}
	for _, w := range res.Open {
		reply.Open = append(reply.Open, waitingOf(w, true))
	}
	if err != nil {
		reply.Failed = fmt.Sprint(err)
	}
	return out(s, reply, false), nil
}
