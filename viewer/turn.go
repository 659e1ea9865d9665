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
	// Question is what the message answers: Reply.Question as it was shown, or an
	// interrupt by id or key; it is refused when something else is asked by now.
	// "" is whatever is asked, when it is one thing.
	Question  string
	New       bool // the writer saw no session: refused when there is one by now
	Unchecked bool // sends also an answer that the question says would not pass
	Flow      *engine.Flow
	Tools     *tool.Registry
}

// Reply is what a turn came to. Its JSON is the contract of `flowtui chat`.
type Reply struct {
	Run     string `json:"run"`
	Waiting bool   `json:"waiting"` // the turn is not over: it waits for a person
	Prompt  string `json:"prompt"`
	Key     string `json:"key"`
	Reply   string `json:"reply"`
	Status  string `json:"status"`
	// Question names what the next message answers; "" when it is to be named,
	// among several, or when no message brings the turn on.
	Question string    `json:"question"`
	Choices  []string  `json:"choices,omitempty"`
	Want     string    `json:"want,omitempty"` // what passes, in words
	Open     []Waiting `json:"-"`              // all that the turn waits for
	Failed   string    `json:"-"`              // why the turn failed; the next message starts another one
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
	t := engine.Turn{Key: k, Message: r.Message, Identity: s.o.Identity, By: s.o.By, Question: r.Question, New: r.New, Strict: !r.Unchecked, Unchecked: r.Unchecked}
	switch g, err := s.glimpse(ctx, a, k); {
	case err == nil && g.setBack:
		return Reply{}, s.setBackProblem(a, k, g.reason)
	case err == nil:
		t.Identity = s.restored()
	case !errors.Is(err, stores.ErrNotFound) && !errors.Is(err, engine.ErrCheckpointNotFound):
		return Reply{}, err
	default: // it is started
		if err := s.MayBegin(ctx, a.ref(k)); err != nil {
			return Reply{}, err
		}
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
		Run: res.SessionID, Waiting: res.Waiting, Prompt: res.Prompt, Key: res.Key, Status: string(stores.StatusPaused),
		Choices: res.Choices, Want: res.Want.String(),
	}
	if res.Replied {
		reply.Reply = res.Reply
	}
	for _, w := range res.Open {
		reply.Open = append(reply.Open, waitingOf(w, true))
	}
	if len(res.Open) <= 1 {
		reply.Question = res.Question
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
	w := s.theWorkflow()
	if w.err != nil {
		return Reply{}, w.err
	}
	if w.unsupported != nil {
		return Reply{}, foreignProblem(k, w.unsupported)
	}
	rows := rowsOf(a, k.Owner)
	row, err := asSeen(ctx, rows, k.Run, r)
	if err != nil {
		return Reply{}, err
	}
	c := teff.Conversation{Runner: teff.Runner{Workflow: w.Workflow, Store: rows, MaxIterations: maxTurn, Now: s.o.Clock}}
	if err := s.takes(ctx, a, k, w, &c.Runner, row, r); err != nil {
		return Reply{}, err
	}
	res, err := c.Turn(ctx, k.Run, r.Message)
	if err != nil {
		problem := foreignProblem(k, err)
		if rows.writes > 0 {
			return Reply{}, &acceptedError{what: "the message is given", err: problem}
		}
		return Reply{}, problem
	}
	reply := Reply{Run: k.Run, Waiting: res.Waiting, Prompt: res.Prompt, Key: res.Key, Status: string(stores.StatusPaused)}
	if res.Waiting {
		if res.Replied {
			reply.Reply = res.Reply
		}
		reply.Open = []Waiting{{Type: WaitInterrupt, Key: res.Key, Prompt: res.Prompt}}
	} else {
		reply.Status, reply.Reply = string(stores.StatusDone), res.Text()
	}
	if reply.Question, _, err = rows.question(ctx, k.Run); err != nil {
		return Reply{}, &acceptedError{what: "the message is given", err: foreignProblem(k, err)}
	}
	return out(s, reply, false), nil
}

// Standing is what a session that is there asks now, as Turn would have told it.
// What no message brings on has no Question.
func (s *Service) Standing(ctx context.Context, ref Ref) (Reply, error) {
	a, k, err := s.at(ref)
	if err != nil {
		return Reply{}, err
	}
	if a.format.Unsigned {
		return s.standingForeign(ctx, a, k)
	}
	d, err := s.Show(ctx, ref)
	if err != nil {
		return Reply{}, err
	}
	reply := Reply{Run: d.Run, Status: d.Status}
	if d.Status != string(stores.StatusPaused) {
		return reply, nil
	}
	if len(d.Waiting) != 1 || d.Waiting[0].Type != WaitInterrupt {
		reply.Waiting, reply.Open = true, d.Waiting
		return reply, nil
	}
	w := d.Waiting[0]
	if reply.Question = w.ID; w.Turn {
		reply.Reply = w.Prompt
		return reply, nil
	}
	reply.Waiting, reply.Open = true, d.Waiting
	reply.Prompt, reply.Key, reply.Choices, reply.Want = w.Prompt, w.Key, w.Choices, w.Want
	return reply, nil
}

func (s *Service) standingForeign(ctx context.Context, a *attachment, k stores.Key) (Reply, error) {
	version, row, err := rowsOf(a, k.Owner).question(ctx, k.Run)
	if err != nil {
		return Reply{}, err
	}
	if row == nil {
		return Reply{}, Problem{Code: codeNotFound, Run: k.Run, Message: "there is no such session"}
	}
	reply := Reply{Run: k.Run, Status: row.Status, Question: version}
	if row.Status == teff.Paused {
		reply.Waiting, reply.Prompt, reply.Key = true, row.Prompt, row.Key
		reply.Open = []Waiting{{Type: WaitInterrupt, Key: row.Key, Prompt: row.Prompt}}
	}
	return out(s, reply, false), nil
}

// asSeen reads the row that a message is for, and refuses the message when the
// row is not what its writer saw. The turn then goes on from this row only.
func asSeen(ctx context.Context, rows *teffRows, run string, r TurnRequest) (*teff.Row, error) {
	version, row, err := rows.question(ctx, run)
	switch {
	case err != nil:
		return nil, err
	case r.New && row != nil:
		return nil, Problem{Code: codeConflict, Run: run, Message: "the session is there already, and what it asks was not seen", Hint: "look at it, then send the message again"}
	case r.Question == "" || row != nil && r.Question == version:
		return row, nil
	case row == nil:
		return nil, Problem{Code: codeNotFound, Run: run, Message: fmt.Sprintf("there is no session that asks %q", r.Question)}
	case row.Status != teff.Paused:
		return nil, Problem{Code: codeConflict, Run: run, Message: fmt.Sprintf("it does not ask %q: it is %s at iteration %d", r.Question, row.Status, row.Iteration), Hint: "look at it again before you act"}
	}
	w := waitingIn(*row)[0]
	if r.Question == w.ID || r.Question == row.Key {
		return row, nil
	}
	return nil, Problem{Code: codeConflict, Run: run, Message: fmt.Sprintf("it does not ask %q; it asks %q (%s)", r.Question, row.Key, w.ID), Hint: "look at it again before you act"}
}
