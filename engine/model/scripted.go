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
}

// NewScripted returns a model that answers with the given messages, in order.
// A message without a role is the assistant's.
func NewScripted(replies ...Message) *Scripted {
	s := &Scripted{replies: slices.Clone(replies)}
	for i := range s.replies {
		if s.replies[i].Role == "" {
			s.replies[i].Role = Assistant
		}
	}
	return s
}

// Complete returns the next answer. It is an error when there is none.
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
		return Reply{}, fmt.Errorf("scripted model: answer %d was asked for, the script has %d", n+1, len(s.replies))
	}
	m := s.replies[n]
	m.ToolCalls = slices.Clone(m.ToolCalls)
	return Reply{Message: m}, nil
}
