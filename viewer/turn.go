package viewer

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
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
	if a.format.Unsigned {
		return s.turnForeign(ctx, a, k, r)
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

// maxTurn is how many node executions teff gives a turn (teff format,
// conversation turns).
const maxTurn = 80

// turnForeign is a turn of a conversation of teff's, in its format.
func (s *Service) turnForeign(ctx context.Context, a *attachment, k stores.Key, r TurnRequest) (Reply, error) {
	if r.Question != "" {
		return Reply{}, Problem{Code: codeUsage, Message: "a run of teff's asks one thing at a time: no question is to be named", Run: k.Run}
	}
	w := s.workflow()
	if w.err != nil {
		return Reply{}, w.err
	}
	if w.unsupported != nil {
		return Reply{}, foreignProblem(k, w.unsupported)
	}
	rows := rowsOf(a, k.Owner)
	c := teff.Conversation{Runner: teff.Runner{Workflow: w.Workflow, Store: rows, MaxIterations: maxTurn, Now: s.o.Clock}}
	res, err := c.Turn(ctx, k.Run, r.Message)
	if err != nil {
		problem := foreignProblem(k, err)
		if rows.writes > 0 {
			return Reply{}, &acceptedError{what: "the message is given", err: problem}
		}
		return Reply{}, problem
	}
	reply := Reply{Run: k.Run, Waiting: res.Waiting, Prompt: res.Prompt, Key: res.Key, Status: string(stores.StatusPaused), Reply: res.Reply}
	if res.Waiting {
		reply.Open = []Waiting{{Type: WaitInterrupt, Key: res.Key, Prompt: res.Prompt}}
	} else {
		reply.Status, reply.Reply = string(stores.StatusDone), res.Text()
	}
	return out(s, reply, false), nil
}
