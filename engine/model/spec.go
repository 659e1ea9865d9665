package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The providers that a [Spec] may name.
const (
	ProviderOpenAI     = "openai" // with a base URL: any endpoint that speaks its chat-completions protocol
	ProviderOllama     = "ollama"
	ProviderOpenRouter = "openrouter"
	ProviderScripted   = "scripted"
)

const providerList = "want openai, ollama, openrouter or scripted"

// Spec is what a flow file or a command line says of a model.
type Spec struct {
	Provider    string
	Model       string
	BaseURL     string        // "": the provider's own
	KeyEnv      string        // the variable that holds the key; "": the provider's own
	Timeout     time.Duration // of one reply with its retries; 0: the default
	Temperature *float64      // nil: the model's own
	MaxTokens   int64         // of one reply; 0: the model's own limit
	Replies     []Message     // of the scripted provider
}

// String is the name that [ParseName] reads.
func (s Spec) String() string { return s.Provider + "/" + s.Model }

// ParseName reads PROVIDER/MODEL, as in ollama/llama3.2. The model may have
// slashes of its own.
func ParseName(name string) (Spec, error) {
	provider, model, ok := strings.Cut(name, "/")
	if !ok {
		return Spec{}, fmt.Errorf("model %q does not say its provider: write PROVIDER/MODEL, as in ollama/llama3.2", name)
	}
	if provider == ProviderScripted {
		return Spec{}, fmt.Errorf("model %q: a scripted model needs its replies, a name is not enough", name)
	}
	s := Spec{Provider: provider, Model: model}
	return s, s.Validate()
}

// envName leaves out lower case, so that a key that was pasted in place of the
// variable's name is seldom taken for one. No message repeats it.
var envName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// Validate says what is wrong with the spec, never repeating what may be a secret.
func (s Spec) Validate() error {
	switch s.Provider {
	case ProviderOpenAI, ProviderOllama, ProviderOpenRouter:
		return s.wrap(s.validateEndpoint())
	case ProviderScripted:
		return s.wrap(s.validateScript())
	case "":
		return errors.New("the model has no provider: " + providerList)
	}
	return fmt.Errorf("model provider %q is not known: %s", s.Provider, providerList)
}

func (s Spec) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("model %q: %w", s.String(), err)
}

func (s Spec) validateEndpoint() error {
	switch {
	case s.Model == "":
		return errors.New("the model's name is missing")
	case strings.ContainsFunc(s.Model, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }):
		return errors.New("the model's name has white space or a control character in it")
	case len(s.Replies) > 0:
		return errors.New("replies are for the scripted provider only")
	case s.KeyEnv != "" && !envName.MatchString(s.KeyEnv):
		return errors.New("the key variable is not the name of an environment variable in capitals, as in OPENAI_API_KEY (name the variable, never write the key itself)")
	case s.Timeout < 0:
		return fmt.Errorf("the timeout is negative: %s", s.Timeout)
	case s.MaxTokens < 0:
		return fmt.Errorf("the limit of tokens is negative: %d", s.MaxTokens)
	case s.Temperature != nil && (math.IsNaN(*s.Temperature) || *s.Temperature < 0 || *s.Temperature > 2):
		return fmt.Errorf("the temperature is %v, want 0 to 2", *s.Temperature)
	}
	return checkBaseURL(s.BaseURL)
}

// checkBaseURL takes nothing that could be lost or hold a secret.
func checkBaseURL(base string) error {
	if base == "" {
		return nil
	}
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "":
		return errors.New("the base URL is not an http or https address, as in http://localhost:11434/v1")
	case u.User != nil:
		return errors.New("the base URL has a user or a password in it: give a key by an environment variable")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(base, "#"):
		return errors.New("the base URL has a ? or a # in it: it ends with its path, as in https://api.openai.com/v1")
	}
	return nil
}

func (s Spec) validateScript() error {
	switch {
	case len(s.Replies) == 0:
		return errors.New("a scripted model needs replies")
	case s.BaseURL != "" || s.KeyEnv != "" || s.Timeout != 0 || s.Temperature != nil || s.MaxTokens != 0:
		return errors.New("a scripted model takes replies only: no base URL, key variable, timeout, temperature or limit of tokens")
	}
	for i, m := range s.Replies {
		if err := validateReply(m); err != nil {
			return fmt.Errorf("reply %d: %w", i+1, err)
		}
	}
	return nil
}

func validateReply(m Message) error {
	switch {
	case m.Role != "" && m.Role != Assistant:
		return fmt.Errorf("its role is %q, a model answers as %q", m.Role, Assistant)
	case m.ToolCallID != "":
		return errors.New("it answers a tool call, a model makes them")
	case m.Content == "" && len(m.ToolCalls) == 0:
		return errors.New("it has neither content nor tool calls")
	}
	for i, c := range m.ToolCalls {
		switch {
		case c.Name == "":
			return fmt.Errorf("tool call %d has no name", i+1)
		case len(c.Args) > 0 && !json.Valid(c.Args):
			return fmt.Errorf("the arguments of tool call %d (%s) are not JSON", i+1, c.Name)
		case c.ID != "" && slices.ContainsFunc(m.ToolCalls[:i], func(o ToolCall) bool { return o.ID == c.ID }):
			return fmt.Errorf("tool call %d (%s) has the id %q of an earlier one", i+1, c.Name, c.ID)
		}
	}
	return nil
}
