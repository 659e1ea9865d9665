package viewer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// flowHint says how a flow is found.
const flowHint = "give the folder of its flow file with --flows DIR"

// flow finds the code that a run goes on with, or says in a sentence why it
// cannot go on here.
func (s *Service) flow(h stores.Head) (*engine.Flow, *tool.Registry, error) {
	problem := func(code, hint, format string, args ...any) error {
		return Problem{Code: code, Message: fmt.Sprintf("run %q: ", h.Run) + fmt.Sprintf(format, args...), Run: h.Run, Hint: hint}
	}
	if s.o.Flows == nil {
		return nil, nil, problem(codeNotFound, flowHint, "no flow file for flow %q was given", h.Flow)
	}
	f, tools, err := s.o.Flows.Flow(h.Flow)
	if p, told := errors.AsType[Problem](err); told && p.Hint != "" {
		if p.Code != codeNotFound {
			p.Code = codeRefused
		}
		return nil, nil, problem(p.Code, p.Hint, "%s", p.Message)
	}
	if err != nil {
		return nil, nil, problem(codeRefused, flowHint, "flow %q cannot be used: %v", h.Flow, err)
	}
	if f == nil {
		return nil, nil, problem(codeNotFound, flowHint, "no flow file for flow %q was found", h.Flow)
	}
	digest, err := f.Digest()
	if err != nil {
		return nil, nil, problem(codeRefused, "mend the flow file", "flow %q is not valid: %v", h.Flow, err)
	}
	if digest != h.Digest {
		return nil, nil, problem(codeRefused, "use the version of the flow that it was started with", "the graph of flow %q changed since the run was saved", h.Flow)
	}
	return f, tools, nil
}

// unnamed is a sentence about a run where it is clear which one is meant.
func unnamed(text, run string) string { return strings.TrimPrefix(text, fmt.Sprintf("run %q: ", run)) }
