package model

import (
	"context"
	"fmt"
	"slices"
)

// Scripted is a model that answers from a list. Which answer is next follows
// from the conversation alone: the n-th for a request with n messages of the
// assistant. So it answers a recovered run as it would have answered before
// the crash, and one script serves many runs.
type Scripted struct {
	replies []Message
	end     error // instead of a further answer; nil: asking for one is a mistake
}

// NewScripted returns a model that answers with the given messages, in order.
// A message without a role is the assistant's; a tool call without an id gets
// one as from [NumberCalls], and one without arguments gets {}.
func NewScripted(replies ...Message) *Scripted {
	s := &Scripted{replies: slices.Clone(replies)}
	for i := range s.replies {
		m := &s.replies[i]
		if m.Role == "" {
			m.Role = Assistant
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		NumberCalls(m.ToolCalls)
		for j := range m.ToolCalls {
			if len(m.ToolCalls[j].Args) == 0 {
				m.ToolCalls[j].Args = ParseArgs("")
			}
		}
	}
	return s
}

// ThenError returns the same script with an error as its last entry: every
// conversation that has had all the answers gets it, again and again. To let a
// run go on after it, give the next worker a longer script.
func (s *Scripted) ThenError(err error) *Scripted {
	return &Scripted{replies: s.replies, end: err}
}

// Complete returns the next answer. Asking for more than the script has is
// [ErrRejected], or the script's own error.
func (s *Scripted) Complete(ctx context.Context, req Request) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, err
	}
	n := 0
	for _, m := range req.Messages {
		if m.Role == Assistant {
			n++
		}
	}
	if n >= len(s.replies) {
		if s.end != nil {
			return Reply{}, s.end
		}
		return Reply{}, fmt.Errorf("%w: scripted model: answer %d was asked for, the script has %d", ErrRejected, n+1, len(s.replies))
	}
	m := s.replies[n]
	m.ToolCalls = slices.Clone(m.ToolCalls)
	return Reply{Message: m}, nil
}
