package viewer

import (
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// flowHint says how a flow is found.
const flowHint = "give the folder of its flow file with --flows DIR"

// flow finds the code that a run goes on with, or says in a sentence why it
// cannot go on here.
func (s *Service) flow(h stores.Head) (*engine.Flow, *tool.Registry, error) {
	refuse := func(hint, format string, args ...any) error {
		return Problem{Code: "refused", Message: fmt.Sprintf(format, args...), Run: h.Run, Hint: hint}
	}
	if s.o.Flows == nil {
		return nil, nil, refuse(flowHint, "no flow file for flow %q was given", h.Flow)
	}
	f, tools, err := s.o.Flows.Flow(h.Flow)
	if p, told := errors.AsType[Problem](err); told && p.Hint != "" {
		return nil, nil, refuse(p.Hint, "%s", p.Message)
	}
	if err != nil {
		return nil, nil, refuse(flowHint, "flow %q cannot be used: %v", h.Flow, err)
	}
	if f == nil {
		return nil, nil, refuse(flowHint, "no flow file for flow %q was found", h.Flow)
	}
	digest, err := f.Digest()
	if err != nil {
		return nil, nil, refuse("mend the flow file", "flow %q is not valid: %v", h.Flow, err)
	}
	if digest != h.Digest {
		return nil, nil, refuse("use the version of the flow that it was started with", "the graph of flow %q changed since the run was saved", h.Flow)
	}
	return f, tools, nil
}
