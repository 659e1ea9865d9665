package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Approval says whether a person must agree before a tool runs.
type Approval string

// The approval attributes of a tool.
const (
	ApprovalNone     Approval = "none"
	ApprovalRequired Approval = "required"
)

// Input is what a tool gets for one call.
type Input struct {
	Args           json.RawMessage `json:"args"`            // one JSON value
	IdempotencyKey string          `json:"idempotency_key"` // the same for the call on every worker and after every recovery
	Run            string          `json:"run"`
	Owner          string          `json:"owner"`
	User           string          `json:"user"`
	Thread         string          `json:"thread,omitempty"`
	Principal      string          `json:"principal,omitempty"`
}

// Func is a tool's code. Its result must be a JSON value: what cannot be
// encoded without loss makes the call unrecordable. An error means that the
// call finished and failed; wrap [ErrOutcomeUnknown] when it may have run.
type Func func(ctx context.Context, in Input) (any, error)

// Tool is something a flow calls that acts on the world.
type Tool struct {
	Name       string
	Idempotent bool // may run again without harm
	Approval   Approval
	Timeout    time.Duration // 0: none
	Run        Func

	// For models: what the tool does, and the JSON Schema of its arguments (an
	// object; nil: one without properties).
	Description string
	Parameters  json.RawMessage
}

// Registry holds tools by name. It is safe for concurrent use.
type Registry struct {
	mu    sync.RWMutex
	tools map[string]Tool
}

// NewRegistry returns a registry with the given tools. It panics on a tool
// without name or code and on a name that is taken: both are programming errors.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{tools: map[string]Tool{}}
	for _, t := range tools {
		if err := r.Add(t); err != nil {
			panic(err)
		}
	}
	return r
}

// Add registers a tool. A name that is taken is an error.
func (r *Registry) Add(t Tool) error {
	switch {
	case t.Name == "":
		return fmt.Errorf("tool has no name")
	case t.Run == nil:
		return fmt.Errorf("tool %q has no code", t.Name)
	}
	if t.Approval == "" {
		t.Approval = ApprovalNone
	}
	if t.Approval != ApprovalNone && t.Approval != ApprovalRequired {
		return fmt.Errorf("tool %q: approval is %q, want %q or %q", t.Name, t.Approval, ApprovalRequired, ApprovalNone)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.tools[t.Name]; taken {
		return fmt.Errorf("tool %q is registered twice", t.Name)
	}
	r.tools[t.Name] = t
	return nil
}

// Get returns a tool by name. A nil registry has none.
func (r *Registry) Get(name string) (Tool, bool) {
	if r == nil {
		return Tool{}, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[name]
	return t, ok
}

// Names returns the names of all tools, sorted.
func (r *Registry) Names() []string {
	if r == nil {
		return nil
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	names := make([]string, 0, len(r.tools))
	for n := range r.tools {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
